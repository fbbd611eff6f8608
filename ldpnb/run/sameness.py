"""When a fresh result is the same as the stored one, which is then left as it is.

Processors differ in the last digits of sums and powers. A result is the same if its numbers agree to a relative 1e-6,
its words agree exactly, and its pictures are the same by matplotlib's comparison of images.
"""

import io
import json
import re
from binascii import a2b_base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RELATIVE, ABSOLUTE = 1e-6, 1e-12
"""By how much numbers may differ that are the same."""

PIXELS = 0.2
"""Most root mean square of the differences, of 255, between pixels of pictures that are the same; one comma more in a
title makes more."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_HASHES = ("sha256", "drawn")


def same_text(one: str, other: str) -> bool:
    """Return whether texts have the same words, and numbers that agree.

    >>> same_text("epsilon 0.1 costs 2.0000001 more", "epsilon 0.1 costs 2.0000002 more")
    True
    >>> same_text("costs 2.0", "costs 2.1"), same_text("costs 2.0", "saves 2.0")
    (False, False)
    """
    if one == other:
        return True
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(_close(float(a), float(b)) for a, b in pairs)


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= ABSOLUTE + RELATIVE * max(abs(a), abs(b))


def same_content(one: Any, other: Any, key: str = "") -> bool:
    """Return whether two contents of JSON, there under a key, have the same texts, numbers and pictures."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same_content(one[name], other[name], name) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same_content(a, b, key) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float):
        return _close(one, other)
    if one == other or key == "source" or not (isinstance(one, str) and isinstance(other, str)):
        return bool(one == other)
    return same_picture(a2b_base64(one), a2b_base64(other)) if key == "image/png" else same_text(one, other)


def same_picture(one: bytes, other: bytes) -> bool:
    """Return whether two PNG pictures show the same."""
    import numpy as np
    from matplotlib.image import imread
    from matplotlib.testing.compare import calculate_rms

    if one == other:
        return True
    pixels = [(255 * imread(io.BytesIO(picture), "png")[..., :3]).round().astype(np.int16) for picture in (one, other)]
    return pixels[0].shape == pixels[1].shape and bool(calculate_rms(*pixels) <= PIXELS)


def same_files(stored: Mapping[str, bytes], fresh: Mapping[str, bytes]) -> bool:
    """Return whether two folders have the same files: their contents, by name.

    A page belongs to its picture, and hashes to what they are of: they are the same if these are.
    """
    return stored.keys() == fresh.keys() and all(
        _same_file(Path(name).suffix, stored[name], fresh[name]) for name in stored
    )


def _same_file(suffix: str, one: bytes, other: bytes) -> bool:
    if one == other or suffix in (".pdf", ".pgf"):
        return True
    try:
        if suffix == ".png":
            return same_picture(one, other)
        if suffix in (".json", ".ipynb"):
            stored, fresh = ({k: v for k, v in json.loads(text).items() if k not in _HASHES} for text in (one, other))
            return same_content(stored, fresh)
        return same_text(one.decode(), other.decode())
    except (ValueError, AttributeError, OSError, SyntaxError):  # a damaged one is renewed
        return False
