"""Random streams keyed by what they are for.

Nothing in `ldpnb` draws from a global generator. Callers create the stream for a purpose, ``stream("kRR", 0.5,
seed=1)``, and pass it on as ``rng=``. Because a stream depends only on its seed and key, adding, dropping or reordering
experiments, or running them on any number of workers, never changes the numbers of another.

The generator is a statistical one, reproducible on purpose: its draws simulate mechanisms and must never protect real
people's data (see `ldpnb.mechanisms`).
"""

import hashlib
from contextlib import suppress

import numpy as np

from ldpnb import checks


def stream(*key: str | int | float, seed: int) -> np.random.Generator:
    """Return the generator that belongs to `key` under `seed`.

    - `*key`, str, int or float: what the stream is for. Equal keys give equal streams, and no others do; ``1`` and
      ``1.0`` are the same key, and so are ``0.0`` and ``-0.0``.
    - `seed`, int: the experiment's seed, ``>= 0``.

    >>> first, same, other = (stream("kRR", epsilon, seed=1).random() for epsilon in (0.5, 0.5, 0.6))
    >>> first == same, first == other
    (True, False)
    """
    text = "\x1f".join(_canonical(part) for part in key)
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    words = tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
    return np.random.default_rng(np.random.SeedSequence(entropy=checks.whole(seed=seed), spawn_key=words))


def _canonical(part: str | int | float) -> str:
    if isinstance(part, str):
        return "s" + part.replace("\x1b", "\x1b\x1b").replace("\x1f", "\x1b\x1f")
    if not isinstance(part, int | float | np.integer | np.floating):
        raise TypeError(f"a stream key consists of str, int and float, got {part!r}")
    with suppress(OverflowError):
        if isinstance(part, float | np.floating) or float(part) == int(part):
            return f"n{float(part) + 0.0!r}"
    return f"n{part}"  # without a point, unlike any float
