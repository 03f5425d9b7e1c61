"""Washizawa 2012, Section 6.5: noisy digits, their errors, and the filters of Tables 7 and 8."""

import numpy as np
import scipy.linalg
from scipy import ndimage

from experiments.common.shared import shared
from kpca_lab.datasets import derive_rng, load_dataset
from kpca_lab.suite.errors import MissingPackageError

__all__ = ["OTHER_BORDERS", "WHITE", "add_noise", "filtered", "squared_errors", "test_images", "train_images"]

WHITE = 255.0
UNIT = 1e5  # of the printed squared errors
# The printed figures fit images that go on periodically (or stand in a mosaic); the others are recorded too.
OTHER_BORDERS = ("constant", "reflect", "nearest", "mirror")
BM3D_IMAGES = 200  # a third of a second each
# Other things that may have been done with BM3D, on fewer images: noise cut off at black and white (as in an
# image file), also with the settings that its authors' program of 2007 takes by itself above 40 (a second an
# image), and the default noise level of that program instead of the known one.
BM3D_READINGS = {
    "bm3d_clipped": {"n_images": 40, "clipped": True},
    "bm3d_clipped_as_in_2007": {"n_images": 100, "clipped": True, "as_in_2007": True},
    "bm3d_sigma_25": {"n_images": 40, "sigma": 25},
}
VERY_NOISY = 40


def add_noise(images, noise, level, seed):
    """Images in [0, 1] with noise: Gaussian of deviation ``level / 255``, or flips of that probability."""
    rng = derive_rng("mnist", seed, "noise", noise, level)
    if noise == "gaussian":
        return images + rng.standard_normal(images.shape) * (level / WHITE)
    if noise != "salt_and_pepper":
        raise ValueError(f"noise is gaussian or salt_and_pepper, not {noise!r}")
    draw, noisy = rng.random(images.shape), images.copy()
    noisy[draw < level / 2] = 1.0
    noisy[draw >= 1 - level / 2] = 0.0
    return noisy


def squared_errors(images, clean):
    """Squared error of each image on the scale 0 to 255, in units of 1e5, values beyond the scale cut off."""
    difference = np.clip(images, 0.0, 1.0) - clean
    return np.einsum("ij,ij->i", difference, difference) * (WHITE**2 / UNIT)


def test_images(dataset):
    options = {**dataset["options"], "n_train": 1}
    return load_dataset(dataset["name"], scaling="unit", **options).X_test


def train_images(dataset):
    return load_dataset(dataset["name"], scaling="unit", **{**dataset["options"], "n_test": 1}).X


def filtered(job, name, level):
    """Errors by name of the filter; the median filter has one for each way to go beyond the border."""
    noise, clean = job.settings["noise"], test_images(job.dataset)
    noisy = add_noise(clean, noise, level, job.seed)
    if name == "wiener":
        correlation = shared(image_correlation, train_only(job.dataset))["correlation"]
        variance = (level / WHITE) ** 2 if noise == "gaussian" else np.mean((noisy - clean) ** 2)
        return {"wiener": squared_errors(wiener(noisy, correlation, variance), clean)}
    pictures = noisy.reshape(-1, 28, 28)
    if name == "median":
        modes = {"median": "wrap"} | {f"median_{mode}": mode for mode in OTHER_BORDERS}
        found = {
            key: ndimage.median_filter(pictures, size=(1, 3, 3), mode=mode) for key, mode in modes.items()
        }
        return {key: squared_errors(images.reshape(clean.shape), clean) for key, images in found.items()}
    if name == "bm3d":
        found = {"bm3d": _bm3d(pictures, level, BM3D_IMAGES)}
        found |= {key: _bm3d(pictures, level, **reading) for key, reading in BM3D_READINGS.items()}
        return {
            key: squared_errors(images.reshape(len(images), -1), clean[: len(images)])
            for key, images in found.items()
        }
    raise ValueError(f"there is no filter {name!r}: choose from wiener, median, bm3d")


def _bm3d(pictures, level, n_images, clipped=False, as_in_2007=False, sigma=None):
    try:
        import bm3d
    except ModuleNotFoundError:
        raise MissingPackageError("bm3d") from None
    pictures = np.clip(pictures[:n_images], 0.0, 1.0) if clipped else pictures[:n_images]
    assumed = (level if sigma is None else sigma) / WHITE
    settings = "vn_old" if as_in_2007 and level > VERY_NOISY else "np"
    return np.stack([bm3d.bm3d(picture, assumed, settings) for picture in pictures])


def train_only(dataset):
    options = {key: value for key, value in dataset["options"].items() if key != "n_test"}
    return {**dataset, "options": options}


def image_correlation(dataset):
    """Mean product of every two pixels over the training images, not centred."""
    X = train_images(dataset)
    return {"correlation": X.T @ X / len(X)}


def wiener(noisy, correlation, variance):
    """The linear filter with the least mean squared error, ``R (R + variance I)^-1``."""
    regular = correlation + variance * np.eye(len(correlation))
    return noisy @ scipy.linalg.solve(regular, correlation, assume_a="pos")
