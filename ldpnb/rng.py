"""Random streams, keyed by what they are for.

Nothing in `ldpnb` draws from a global generator. Callers make the stream for a purpose, for example
``stream("k-RR", 0.5, seed=1)``, and pass it on as ``rng=``. A stream depends on its seed and key
alone. So the numbers of an experiment stay the same if others are added, dropped or reordered, or
run on several workers.

The generator is a statistical one, and reproducible on purpose. Its draws simulate mechanisms and
must never protect real people's data (see `ldpnb.mechanisms`).
"""

import hashlib
from contextlib import suppress

import numpy as np

from ldpnb import checks


def stream(*key: str | int | float, seed: int) -> np.random.Generator:
    """Return the random generator that belongs to a purpose.

    The stream depends on its key and the seed alone. So experiments can be added, dropped,
    reordered or run in parallel, and the numbers of the others stay the same.

    Parameters
    ----------
    *key : str, int or float
        What the stream is for. Different keys give different streams. ``1`` and ``1.0`` are the
        same key, and so are ``0.0`` and ``-0.0``.
    seed : int
        Seed of the whole experiment, at least 0.

    Returns
    -------
    numpy.random.Generator
        A new generator, at the start of its stream. It is made for simulation, and its draws must
        never protect real people's data.

    Raises
    ------
    TypeError
        If a part of the key is of another type.
    ValueError
        If `seed` is negative.

    Examples
    --------
    >>> first = stream("k-RR", 0.5, seed=1).random()
    >>> first == stream("k-RR", 0.5, seed=1).random()
    True
    >>> first == stream("k-RR", 0.6, seed=1).random()
    False
    """
    text = "\x1f".join(_canonical(part) for part in key)
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    words = tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))

    entropy = checks.whole(seed, "seed")
    return np.random.default_rng(np.random.SeedSequence(entropy=entropy, spawn_key=words))


def _canonical(part: str | int | float) -> str:
    """Return a text that is the same for equal parts of a key, and for no others."""
    if isinstance(part, str):
        return "s" + part.replace("\x1b", "\x1b\x1b").replace("\x1f", "\x1b\x1f")
    if not isinstance(part, int | float | np.integer | np.floating):
        raise TypeError(f"a stream key consists of str, int and float, got {part!r}")

    # Zero is added because it turns -0.0 into 0.0.
    with suppress(OverflowError):
        if isinstance(part, float | np.floating) or float(part) == int(part):
            return f"n{float(part) + 0.0!r}"
    # An integer that no float equals, without a point, so unlike any float.
    return f"n{part}"
