"""Grey pictures: reading PGM files, cropping, resizing by area."""

import re
from collections.abc import Iterable, Sequence

import numpy as np

__all__ = ["crop_images", "read_pgm", "resize_images"]

_PGM_HEADER = re.compile(
    rb"P5(?:\s|#[^\n]*\n)+(\d{1,6})(?:\s|#[^\n]*\n)+(\d{1,6})(?:\s|#[^\n]*\n)+(\d{1,5})\s"
)


def read_pgm(content: bytes) -> np.ndarray:
    """Read a binary PGM picture of at most 256 greys.

    Parameters
    ----------
    content : bytes
        The whole file.

    Returns
    -------
    ndarray of uint8, shape (height, width)
    """
    header = _PGM_HEADER.match(content)
    if header is None:
        raise ValueError("not a binary PGM picture (P5)")
    width, height, largest = (int(number) for number in header.groups())
    if not 0 < largest < 256:
        raise ValueError(f"PGM pictures of {largest + 1} greys are not supported")
    if width == 0 or height == 0 or len(content) - header.end() < width * height:
        raise ValueError("the PGM picture is cut short")
    pixels = np.frombuffer(content, np.uint8, width * height, header.end())
    return pixels.reshape(height, width)


def crop_images(images: np.ndarray, crop: Sequence[int] | None) -> np.ndarray:
    """Cut the box ``(top, bottom, left, right)`` out of pictures of shape (..., height, width)."""
    if crop is None:
        return images
    height, width = images.shape[-2:]
    top, bottom, left, right = _whole_numbers(crop, 4, "crop must be (top, bottom, left, right)")
    if not (0 <= top < bottom <= height and 0 <= left < right <= width):
        raise ValueError(f"crop {crop} does not fit pictures of {height} x {width}")
    return images[..., top:bottom, left:right]


def resize_images(images: np.ndarray, size: Sequence[int] | None) -> np.ndarray:
    """Resize pictures of shape (..., height, width) so that each new pixel is a mean over area.

    Parameters
    ----------
    images : ndarray
        Grey pictures.
    size : (int, int) or None
        New height and width; None leaves the pictures as they are.

    Returns
    -------
    ndarray
        In float64, unless nothing had to be done.
    """
    if size is None:
        return images
    height, width = _whole_numbers(size, 2, "size must be (height, width)")
    if height < 1 or width < 1:
        raise ValueError(f"size must be positive, not {size}")
    if (height, width) == images.shape[-2:]:
        return images
    down, across = _overlaps(images.shape[-2], height), _overlaps(images.shape[-1], width)
    return down @ images.astype(np.float64) @ across.T


def _whole_numbers(values: Sequence[int], count: int, complaint: str) -> list[int]:
    numbers = list(values) if isinstance(values, Iterable) else [values]
    if len(numbers) != count or not all(isinstance(number, int | np.integer) for number in numbers):
        raise ValueError(f"{complaint}, not {values!r}")
    return numbers


def _overlaps(old: int, new: int) -> np.ndarray:
    """Share of each old cell in each new one, both dividing the same length; rows sum to 1."""
    edges = np.arange(new + 1) * (old / new)
    upper = np.minimum(edges[1:, None], np.arange(1, old + 1))
    lower = np.maximum(edges[:-1, None], np.arange(old))
    return np.maximum(upper - lower, 0) * (new / old)
