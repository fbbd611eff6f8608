"""When a fresh result is the same as a stored one, which is then left as it is.

Processors differ in the last digits of sums and powers. A result is the same if its numbers agree to a relative 1e-6,
its words agree exactly, and its picture is the same by matplotlib's comparison of images.
"""

import io
import json
import re
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


def same_content(one: Any, other: Any) -> bool:
    """Return whether two contents of JSON are the same: texts and numbers at the same places."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same_content(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_content, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return _close(one, other)
    return same_text(one, other) if isinstance(one, str) and isinstance(other, str) else bool(one == other)


def same_picture(one: bytes, other: bytes) -> bool:
    """Return whether two PNG pictures show the same."""
    import numpy as np
    from matplotlib.image import imread
    from matplotlib.testing.compare import calculate_rms

    if one == other:
        return True
    pixels = [(255 * imread(io.BytesIO(picture), "png")[..., :3]).round().astype(np.int16) for picture in (one, other)]
    return pixels[0].shape == pixels[1].shape and bool(calculate_rms(*pixels) <= PIXELS)


def same_figure(stored: Mapping[str, bytes], fresh: Mapping[str, bytes]) -> bool:
    """Return whether two figures, or tables, are the same: numbers, words and picture.

    Parameters
    ----------
    stored, fresh : mapping
        Content of each of a figure's files, by suffix. Its other drawings and its hashes belong to its picture and its
        numbers, and are the same if these are.
    """
    if stored.keys() != fresh.keys():
        return False
    if any(not same_text(*_texts(suffix, stored, fresh)) for suffix in stored.keys() & {".csv", ".tex"}):
        return False
    if ".json" in stored and not same_content(*(_provenance(files[".json"]) for files in (stored, fresh))):
        return False
    return ".png" not in stored or same_picture(stored[".png"], fresh[".png"])


def _texts(suffix: str, *figures: Mapping[str, bytes]) -> list[str]:
    return [files[suffix].decode() for files in figures]


def _provenance(content: bytes) -> Any:
    try:
        return {key: value for key, value in json.loads(content).items() if key not in _HASHES}
    except (ValueError, AttributeError):  # a damaged one is renewed
        return None


def figures_in(folder: Path) -> dict[str, dict[str, bytes]]:
    """Return the content of a folder's files by figure and suffix."""
    figures: dict[str, dict[str, bytes]] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).with_suffix("").as_posix()
        figures.setdefault(name, {})[path.suffix] = path.read_bytes()
    return figures
