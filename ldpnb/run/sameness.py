"""When a fresh result is the same as the stored one, which is then left as it is.

Processors differ in the last digits of sums and powers. A result is the same if its numbers agree
to a relative 1e-6, its words agree exactly, and its pictures are the same by matplotlib's
comparison of images.
"""

import io
import math
import re
from binascii import a2b_base64
from typing import Any

RELATIVE = 1e-6
"""Largest relative difference of two numbers that count as the same.

There is no absolute one: a delta of 1e-40 is a result like any other.
"""

PIXELS = 0.3
"""Largest root mean square difference between the pixels of two pictures that count as the same.

Pixels go from 0 to 255. A single comma more in a title or below it makes a larger difference; the
ten digits of a figure's CSV make a smaller one.
"""

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_PICTURE = re.compile(r'(?<="image/png": ")[^"\\]*')
_HASHES = re.compile(r'"sha256": ".*', re.DOTALL)
"""The end of a figure's provenance, which says what its other files are."""


def same(one: bytes, other: bytes) -> bool:
    """Return whether two files, pictures or texts, are the same; one that is damaged is not.

    Texts have the same words, numbers that agree, and, where they are notebooks, the same pictures.

    Examples
    --------
    >>> same(b"epsilon 0.1 costs 2.0000001 more", b"epsilon 0.1 costs 2.0000002 more")
    True
    >>> same(b"costs 2.0", b"costs 2.1"), same(b"costs 2.0", b"saves 2.0")
    (False, False)
    >>> same(b"costs 2.8", b"costs 2.80")
    False
    """
    if one == other:
        return True

    try:
        if one.startswith(b"\x89PNG"):
            return _same_picture(one, other)
        return _same_text(one.decode(), other.decode())
    except (ValueError, OSError, SyntaxError):  # what a damaged text or picture raises
        return False


def _same_text(one: str, other: str) -> bool:
    """Return whether two texts have the same words, numbers that agree, and the same pictures."""
    one = _HASHES.sub("", one)
    other = _HASHES.sub("", other)
    words = _PICTURE.sub("", one)
    other_words = _PICTURE.sub("", other)
    if _NUMBER.sub("#", words) != _NUMBER.sub("#", other_words):
        return False

    numbers = zip(_NUMBER.findall(words), _NUMBER.findall(other_words), strict=True)
    if not all(_same_number(number, another) for number, another in numbers):
        return False

    pictures = zip(_PICTURE.findall(one), _PICTURE.findall(other), strict=True)
    return all(same(a2b_base64(picture), a2b_base64(another)) for picture, another in pictures)


def _same_number(one: str, other: str) -> bool:
    """Return whether two numbers agree; 2.8 and 2.80 do not, since somebody chose other digits."""
    value = float(one)
    other_value = float(other)
    if value == other_value:
        return one == other
    return math.isclose(value, other_value, rel_tol=RELATIVE)


def _same_picture(one: bytes, other: bytes) -> bool:
    """Return whether two PNG files show the same to the eye."""
    from matplotlib.testing.compare import calculate_rms

    pixels = _pixels(one)
    other_pixels = _pixels(other)
    if pixels.shape != other_pixels.shape:
        return False
    return bool(calculate_rms(pixels, other_pixels) <= PIXELS)


def _pixels(png: bytes) -> Any:
    """Return red, green and blue from 0 to 255, in integers whose differences cannot overflow."""
    import numpy as np
    from matplotlib.image import imread

    shares = imread(io.BytesIO(png), "png")[..., :3]
    return (255 * shares).round().astype(np.int16)
