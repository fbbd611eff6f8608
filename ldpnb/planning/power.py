"""The power of a two-sided test for a gap between two public groups, by the normal law and with the reports' noise."""

import math
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any

from ldpnb import checks

_NORMAL = NormalDist()
_QUANTITIES = ("count", "gap", "power", "epsilon")


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """A test whether two groups have the same mean; groups are public, values lie in ``[0, 1]``, a report is one bit.

    One of count, gap, power and epsilon is left out, and `completed` computes it.

    - `count`, int, optional: people who answer, in both groups together.
    - `gap`, float, optional: between the means.
    - `power`, float, optional: chance to find it.
    - `level`, float: chance to find one where there is none, two-sided.
    - `epsilon`, float, optional: of a report, nats in ``[1e-8, 700]``.
    - `share`, float: of the answers, that come from the first group.
    - `sd`, float, optional: of the values in each group, at most 1/2; the worst if left out.
    - `binary`, bool: whether values are 0 and 1 only; of others a bit is worst whatever their spread.

    >>> Power(gap=0.1, power=0.8, epsilon=1.0, binary=True).completed().count
    3676
    """

    count: int | None = None
    gap: float | None = None
    power: float | None = None
    level: float = 0.05
    epsilon: float | None = None
    share: float = 0.5
    sd: float | None = None
    binary: bool = False

    def __post_init__(self) -> None:
        checks.plain(self)
        given = {name: value for name, value in asdict(self).items() if value is not None}
        for name in sorted(given.keys() & {"power", "level", "share"}):
            checks.open_probability(**{name: given[name]})
        checks.positive(gap=given.get("gap", 1.0))
        checks.numbers(epsilon=checks.positive(epsilon=given.get("epsilon", 1.0)), low=1e-8, high=700)
        checks.numbers(sd=given.get("sd", 0.0), low=0, high=0.5)
        checks.whole(count=given.get("count", 2), at_least=2)

    @property
    def sampling(self) -> float:
        """Variance of a value, with what rounding it to a bit adds."""
        return self.sd**2 if self.binary and self.sd is not None else 1 / 4

    @property
    def per_answer(self) -> float:
        """Variance of the gap times the number of answers: ``(s2 + 1 / (4 sinh^2(epsilon / 2))) / (a (1 - a))``."""
        noise = 1 / (2 * math.sinh(float(self.epsilon or 0) / 2)) ** 2
        return (self.sampling + noise) / (self.share * (1 - self.share))

    def completed(self) -> "Power":
        """Return the test with what was left out: ``n = (z_(1 - level/2) + z_power)^2 V / gap^2``, rounded up.

        That nothing or more is left out, or that no budget reaches the power, is a ValueError.
        """
        missing = [name for name in _QUANTITIES if getattr(self, name) is None]
        if len(missing) != 1:
            left = " and ".join(f"no {name}" for name in missing) or "all"
            raise ValueError(f"one of {', '.join(_QUANTITIES)} must be left out, got {left}")
        count, gap, limit = int(self.count or 0), float(self.gap or 1), _NORMAL.inv_cdf(1 - self.level / 2)
        if self.power is None:
            shift = gap * math.sqrt(count / self.per_answer)
            return replace(self, power=_NORMAL.cdf(shift - limit) + _NORMAL.cdf(-shift - limit))
        reach = limit + _NORMAL.inv_cdf(self.power)
        if reach <= 0:
            raise ValueError(f"power must be above half the level, {self.level / 2:g}, got power={self.power!r}")
        if self.count is None:
            return replace(self, count=max(2, math.ceil(self.per_answer * (reach / gap) ** 2 - 1e-9)))
        if self.gap is None:
            return replace(self, gap=reach * math.sqrt(self.per_answer / count))
        noise = count * (gap / reach) ** 2 * self.share * (1 - self.share) - self.sampling
        if noise <= 0:
            raise ValueError("no epsilon reaches the power: sampling alone is too coarse")
        return replace(self, epsilon=max(1e-8, 2 * math.asinh(1 / (2 * math.sqrt(noise)))))

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return every number, as one row."""
        return {"power": [asdict(self) | {"variance_per_answer": self.per_answer}]}

    def __str__(self) -> str:
        count = int(self.count or 0)
        first = round(count * self.share)
        return (
            f"With {count:,} answers ({first:,} and {count - first:,} in two public groups), {self.epsilon:.4g} nats "
            f"each, a gap of {self.gap:.4g} is found\nwith probability {self.power:.4g} by a two-sided test of level "
            f"{self.level:g} (normal law, approximate).\nWhere the group is to be kept private too: ldpnb plan gap."
        )
