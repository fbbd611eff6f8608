"""When a fresh result is the same as the stored one, which is then left as it is.

Processors differ in the last digits of sums and powers. A result is the same if its numbers agree to a relative 1e-6,
its words agree exactly, and its pictures are the same by matplotlib's comparison of images.
"""

import io
import json
import math
import re
from binascii import a2b_base64
from collections.abc import Mapping
from pathlib import Path

RELATIVE, ABSOLUTE = 1e-6, 1e-12
"""By how much numbers may differ that are the same."""

PIXELS = 0.2
"""Most root mean square of the differences, of 255, between pixels of pictures that are the same; one comma more in a
title makes more."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_PICTURE = re.compile(r'(?<="image/png": ")[^"]*')


def same_text(*texts: str) -> bool:
    """Return whether two texts have the same words, numbers that agree, and, where they are notebooks, pictures.

    >>> same_text("epsilon 0.1 costs 2.0000001 more", "epsilon 0.1 costs 2.0000002 more")
    True
    >>> same_text("costs 2.0", "costs 2.1"), same_text("costs 2.0", "saves 2.0")
    (False, False)
    """
    words = [_PICTURE.sub("", text) for text in texts]
    if len({_NUMBER.sub("#", text) for text in words}) > 1:
        return False
    numbers = zip(*(map(float, _NUMBER.findall(text)) for text in words), strict=True)
    pictures = zip(*(map(a2b_base64, _PICTURE.findall(text)) for text in texts), strict=True)
    close = all(math.isclose(*pair, rel_tol=RELATIVE, abs_tol=ABSOLUTE) for pair in numbers)
    return close and all(same_picture(*pair) for pair in pictures)


def same_picture(one: bytes, other: bytes) -> bool:
    """Return whether two PNG pictures show the same."""
    if one == other:
        return True
    import numpy as np
    from matplotlib.image import imread
    from matplotlib.testing.compare import calculate_rms

    pixels = [(255 * imread(io.BytesIO(picture), "png")[..., :3]).round().astype(np.int16) for picture in (one, other)]
    return pixels[0].shape == pixels[1].shape and bool(calculate_rms(*pixels) <= PIXELS)


def same_files(stored: Mapping[Path, bytes], fresh: Mapping[Path, bytes]) -> bool:
    """Return whether two results have the same files: their contents, by path."""
    return stored.keys() == fresh.keys() and all(_same(path.suffix, stored[path], fresh[path]) for path in stored)


def _same(suffix: str, one: bytes, other: bytes) -> bool:
    """Return whether two files are the same; a page belongs to its picture, and hashes to what they are of."""
    if one == other or suffix == ".pdf":
        return True
    try:
        if suffix == ".png":
            return same_picture(one, other)
        texts = [content.decode() for content in (one, other)]
        if suffix == ".json":
            contents = [{k: v for k, v in json.loads(text).items() if k not in ("sha256", "drawn")} for text in texts]
            texts = [json.dumps(content) for content in contents]
        return same_text(*texts)
    except (ValueError, AttributeError, OSError, SyntaxError):  # a damaged one is renewed
        return False
