"""The figures of a profile as data URIs, made smaller where they would be too much for one page."""

import base64
import io
from pathlib import Path

from PIL import Image

PICTURE_WIDTH = 1400  # pixels: the width of the page at a device ratio near two
PICTURES_LIMIT = 9_000_000  # bytes of all pictures; base64 makes 12 MB of them


class Pictures:
    """The figures of a profile.

    Parameters
    ----------
    paths : list of Path
        PNG files.
    """

    def __init__(self, paths):
        total = sum(path.stat().st_size for path in paths)
        self.share = min(1.0, PICTURES_LIMIT / total) if total else 1.0

    def embedded(self, path: Path) -> dict:
        """A picture as ``uri``, with the ``width`` and ``height`` that it is shown with."""
        content, width, height = _picture(path, self.share)
        uri = f"data:image/png;base64,{base64.b64encode(content).decode()}"
        return {"uri": uri, "width": width // 2, "height": height // 2}


def _picture(path, share) -> tuple[bytes, int, int]:
    """A picture as PNG bytes, and its size; ``share`` is the part of its bytes that it may have."""
    content = path.read_bytes()
    with Image.open(io.BytesIO(content)) as picture:
        shown = picture.size
        if share >= 1 and picture.width <= PICTURE_WIDTH:
            return content, *shown
        limit = share * len(content)
        width = min(picture.width, PICTURE_WIDTH)
        while True:
            small = _encoded(picture, width)
            # below 500 pixels the labels are lost: rather a large page than one that cannot be read
            if len(small) <= limit or width < 600:
                return small, *shown
            width = int(0.85 * width)


def _encoded(picture, width) -> bytes:
    plain = picture.convert("RGB")
    if width < picture.width:
        plain = plain.resize((width, round(width * picture.height / picture.width)), Image.Resampling.LANCZOS)
    content = io.BytesIO()
    # 256 colours are enough for curves and grey images, and take a third of the bytes
    plain.quantize(256, method=Image.Quantize.MEDIANCUT).save(content, format="PNG", optimize=True)
    return content.getvalue()
