"""Random streams keyed by what they are for.

Nothing in `ldpnb` draws from a global generator. A caller asks for the stream of a purpose, ``stream("kRR", 0.5,
seed=1)``, and passes it on as ``rng=``. Because a stream depends only on its seed and key, adding, dropping or
reordering experiments, or running them on any number of workers, never changes the numbers of another.

The generator is a statistical one, reproducible on purpose: its draws simulate mechanisms and must never protect real
people's data. For that use OpenDP or Google's differential-privacy library, with discrete noise and a cryptographic
source.
"""

import hashlib

import numpy as np

from ldpnb import checks


def stream(*key: str | int | float, seed: int) -> np.random.Generator:
    """Return the generator that belongs to `key` under `seed`.

    Parameters
    ----------
    *key : str, int or float
        What the stream is for. Equal keys give equal streams; ``1`` and ``1.0`` are the same key.
    seed : int
        The experiment's seed, ``>= 0``.

    Returns
    -------
    numpy.random.Generator

    Examples
    --------
    >>> bool(stream("kRR", 0.5, seed=1).random() == stream("kRR", 0.5, seed=1).random())
    True
    >>> bool(stream("kRR", 0.5, seed=1).random() == stream("kRR", 0.6, seed=1).random())
    False
    """
    text = "\x1f".join(_canonical(part) for part in key)
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    words = tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
    return np.random.default_rng(np.random.SeedSequence(entropy=checks.whole(seed=seed), spawn_key=words))


def _canonical(part: str | int | float) -> str:
    if isinstance(part, str):
        return "s" + part
    if isinstance(part, int | float | np.integer | np.floating):
        return "n" + repr(float(part))
    raise TypeError(f"a stream key consists of str, int and float, got {part!r}")
