"""The functions of `random` and `numpy.random`, drawing from a tape.

A real generator checks the arguments of each call, and says of which shape and type the draws are.
"""

import math
import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ldpnb.audit.tape import Tape
from ldpnb.audit.uniforms import Uniform


class PythonDraws(random.Random):
    """`random`: the standard library makes all its draws from these few methods."""

    def __init__(self, tape: Tape) -> None:
        super().__init__(0)
        self.tape = tape

    def random(self) -> Uniform:  # type: ignore[override]
        return Uniform(self.tape)

    def getrandbits(self, k: int) -> int:
        return self.tape.below(2**k)

    def randbytes(self, n: int) -> bytes:
        return self.getrandbits(8 * n).to_bytes(n, "little")

    def _randbelow(self, n: int) -> int:
        return self.tape.below(n)


class NumpyDraws(np.random.Generator):
    """A `numpy.random.Generator`."""

    def __init__(self, tape: Tape) -> None:
        super().__init__(np.random.PCG64(0))
        self.tape = tape
        self.real = np.random.default_rng(0)

    @property
    def bit_generator(self) -> Any:
        self.tape.refuse("asks for rng.bit_generator, whose draws are not followed")

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        if np.dtype(dtype) != np.float64 or out is not None:
            self.tape.refuse("draws 32-bit numbers, or into an array, which is not followed")
        if size is None:
            return Uniform(self.tape)
        return _one_or_many(self.real.random(size), lambda: Uniform(self.tape), object)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        like = self.real.uniform(low, high, size)
        if np.ndim(low) or np.ndim(high):
            self.tape.refuse("draws between arrays of bounds, which is not followed")
        low = float(low)
        width = float(high) - low
        return _one_or_many(like, lambda: Uniform(self.tape) * width + low, object)

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Any = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Any:
        like = self.real.integers(low, high, size, dtype, endpoint)
        if np.ndim(low) or np.ndim(high):
            self.tape.refuse("draws integers between arrays of bounds, which is not followed")
        first = 0 if high is None else int(low)
        end = int(low) if high is None else int(high)
        return _one_or_many(like, lambda: first + self.tape.below(end + endpoint - first))

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, *_: Any, **__: Any
    ) -> Any:
        like = self.real.choice(a, size, replace, p)
        pool = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        shape = () if size is None else tuple(np.atleast_1d(size))
        count = math.prod(shape)
        if p is not None:
            picks = self._weighted(p, count, replace)
        elif replace:
            picks = [self.tape.below(len(pool)) for _ in range(count)]
        else:
            picks = self.tape.order(len(pool), count)
        if size is None:
            return int(picks[0]) if type(like) is int else pool[picks[0]]
        return pool[picks].reshape(*shape, *pool.shape[1:])

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        like = self.real.binomial(n, p, size)
        counts = iter(np.broadcast_to(n, np.shape(like)).flat)
        chances = iter(np.broadcast_to(p, np.shape(like)).flat)
        return _one_or_many(like, lambda: self._successes(int(next(counts)), float(next(chances))))

    def permutation(self, x: Any, axis: int = 0) -> Any:
        if axis:
            self.tape.refuse("permutes along an axis other than the first, which is not followed")
        pool = np.arange(x) if np.ndim(x) == 0 else np.array(x)
        return pool[self.tape.order(len(pool), len(pool))]

    def shuffle(self, x: Any, axis: int = 0) -> None:
        if axis:
            self.tape.refuse("shuffles along an axis other than the first, which is not followed")
        pool = [np.copy(entry) if isinstance(entry, np.ndarray) else entry for entry in x]
        x[:] = [pool[index] for index in self.tape.order(len(pool), len(pool))]

    def _successes(self, count: int, chance: float) -> int:
        if count == 1:
            return int(self.tape.chance(chance))
        if count > self.tape.limit:
            self.tape.refuse(f"draws a binomial number of {count:,} trials, which is too many")

        favourable, possible = chance.as_integer_ratio()
        weights = [
            math.comb(count, k) * favourable**k * (possible - favourable) ** (count - k)
            for k in range(count + 1)
        ]
        return self.tape.choose(tuple(weights))

    def _weighted(self, p: Any, count: int, replace: bool) -> list[int]:
        """Return indices drawn at probabilities `p`, each by one uniform number as NumPy does."""
        left = np.array(p, dtype=float)
        picks: list[int] = []
        for _ in range(count):
            edges = np.cumsum(left)
            edges /= edges[-1]
            number = Uniform(self.tape)
            picks.append(next(index for index, edge in enumerate(edges.tolist()) if number < edge))
            if not replace:
                left[picks[-1]] = 0.0
        return picks


def _refused(name: str) -> Callable[..., Any]:
    """Return a method that refuses to draw, by its name in the message."""

    def refuse(self: NumpyDraws, *_: Any, **__: Any) -> Any:
        self.tape.refuse(f"draws by rng.{name}, which is not followed")

    return refuse


def _one_or_many(like: Any, draw: Callable[[], Any], dtype: Any = None) -> Any:
    """Return one draw, or draws in the shape and type of the array `like`."""
    if not isinstance(like, np.ndarray):
        return draw() if dtype is object else type(like)(draw())
    result = np.empty(like.shape, dtype=dtype or like.dtype)
    for place in np.ndindex(like.shape):
        result[place] = draw()
    return result


def _unfollowed() -> Iterable[str]:
    """Return the names of NumPy's draws that are not followed above."""
    followed = vars(NumpyDraws)
    return [name for name in dir(np.random.Generator) if name[0] != "_" and name not in followed]


# In a loop, because which draws there are depends on the version of NumPy: none may stay real.
for _name in _unfollowed():
    setattr(NumpyDraws, _name, _refused(_name))
