"""When a fresh result is the same as the stored one, which is then left as it is.

Processors differ in the last digits of sums and powers. A result is the same if its numbers agree
to a relative 1e-6, its words agree exactly, and its pictures are the same by matplotlib's
comparison of images.
"""

import io
import math
import re
from binascii import a2b_base64

RELATIVE, ABSOLUTE = 1e-6, 1e-12
"""By how much numbers may differ that are the same."""

PIXELS = 0.2
"""Largest root mean square of the differences between pixels of the same picture, of 255.

One comma more in a title makes more.
"""

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_PICTURE = re.compile(r'(?<="image/png": ")[^"\\]*')
_HASHES = re.compile(r'"sha256": ".*', re.DOTALL)
"""The end of a figure's provenance, which says what its other files are."""


def same(one: bytes, other: bytes) -> bool:
    """Return whether two files, pictures or texts, are the same; one that is damaged is not.

    Texts have the same words, numbers that agree, and, where they are notebooks, the same pictures.

    >>> same(b"epsilon 0.1 costs 2.0000001 more", b"epsilon 0.1 costs 2.0000002 more")
    True
    >>> same(b"costs 2.0", b"costs 2.1"), same(b"costs 2.0", b"saves 2.0")
    (False, False)
    """
    if one == other:
        return True
    try:
        if one.startswith(b"\x89PNG"):
            return _same_picture(one, other)
        texts = [_HASHES.sub("", content.decode()) for content in (one, other)]
        words = [_PICTURE.sub("", text) for text in texts]
        if len({_NUMBER.sub("#", text) for text in words}) > 1:
            return False
        numbers = zip(*(map(float, _NUMBER.findall(text)) for text in words), strict=True)
        pictures = zip(*(map(a2b_base64, _PICTURE.findall(text)) for text in texts), strict=True)
        close = all(math.isclose(*pair, rel_tol=RELATIVE, abs_tol=ABSOLUTE) for pair in numbers)
        return close and all(same(*pair) for pair in pictures)
    except (ValueError, OSError, SyntaxError):
        return False


def _same_picture(one: bytes, other: bytes) -> bool:
    import numpy as np
    from matplotlib.image import imread
    from matplotlib.testing.compare import calculate_rms

    pixels = [
        (255 * imread(io.BytesIO(picture), "png")[..., :3]).round().astype(np.int16)
        for picture in (one, other)
    ]
    return pixels[0].shape == pixels[1].shape and bool(calculate_rms(*pixels) <= PIXELS)
