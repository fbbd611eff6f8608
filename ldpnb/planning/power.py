"""The power of a two-sided test for a gap between two public groups, by the normal law and with the reports' noise."""

import math
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any

from ldpnb import checks
from ldpnb.planning.questions import left_out

_NORMAL = NormalDist()


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

    >>> Power(gap=0.1, power=0.8, epsilon=1.0).completed().count
    3676
    """

    count: int | None = None
    gap: float | None = None
    power: float | None = None
    level: float = 0.05
    epsilon: float | None = None
    share: float = 0.5

    def __post_init__(self) -> None:
        checks.plain(self, count=2)
        for name in ("gap", "power", "level", "share"):
            checks.open_probability(
                0.5 if getattr(self, name) is None else getattr(self, name), name
            )
        checks.numbers(1.0 if self.epsilon is None else self.epsilon, "epsilon", low=1e-8, high=700)

    def completed(self) -> "Power":
        """Return the test with what was left out: ``n = (z_(1 - level/2) + z_power)^2 V / gap^2``, rounded up.

        ``V = 1 / (4 a (1 - a) tanh^2(epsilon / 2))`` with the share ``a``: the worst values are in the middle of the
        range. That nothing or more is left out, or that no budget reaches the power, is a ValueError.
        """
        left_out(self, ("count", "gap", "power", "epsilon"))
        count, gap, limit = (
            float(self.count or 0),
            float(self.gap or 1),
            _NORMAL.inv_cdf(1 - self.level / 2),
        )
        both = self.share * (1 - self.share)
        variance = 1 / (2 * math.tanh(float(self.epsilon or 1) / 2)) ** 2 / both
        if self.power is None:
            shift = gap * math.sqrt(count / variance)
            return replace(self, power=_NORMAL.cdf(shift - limit) + _NORMAL.cdf(-shift - limit))
        reach = limit + _NORMAL.inv_cdf(self.power)
        if reach <= 0:
            raise ValueError(
                f"power must be above half the level, {self.level / 2:g}, got power={self.power!r}"
            )
        if self.count is None:
            return replace(self, count=max(2, math.ceil(variance * (reach / gap) ** 2 - 1e-9)))
        if self.gap is None:
            if (gap := reach * math.sqrt(variance / count)) >= 1:
                raise ValueError(
                    "no gap that values in [0, 1] can have reaches the power: more people or budget must"
                )
            return replace(self, gap=gap)
        noise = count * (gap / reach) ** 2 * both - 1 / 4
        if noise <= 0:
            raise ValueError("no epsilon reaches the power: sampling alone is too coarse")
        return replace(self, epsilon=max(1e-8, 2 * math.asinh(1 / (2 * math.sqrt(noise)))))

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return every number, as one row."""
        return {"power": [asdict(self)]}

    def __str__(self) -> str:
        count = int(self.count or 0)
        first = round(count * self.share)
        return (
            f"With {count:,} answers ({first:,} and {count - first:,} in two public groups), {self.epsilon:.4g} nats "
            f"each, a gap of {self.gap:.4g} is found\nwith probability {self.power:.4g} by a two-sided test of level "
            f"{self.level:g} (normal law, approximate).\nWhere the group is to be kept private too: ldpnb plan gap."
        )
