"""The power of a two-sided test for a gap between two public groups, by the normal law and with the reports' noise."""

import math
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any

from ldpnb import checks
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.planning.reports import MANY, Reports, largest

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """A test whether two groups have the same mean; groups are public, values lie in ``[0, 1]``, a report is one bit.

    One of count, gap, power and epsilon is left out, and `completed` computes it.

    Parameters
    ----------
    count : int, optional
        People who answer, in both groups together.
    gap : float, optional
        Between the means.
    power : float, optional
        Chance to find it.
    level : float
        Chance to find one where there is none, two-sided.
    epsilon : float, optional
        Of a report, nats.
    share : float
        Of the answers, that come from the first group.
    sd : float, optional
        Of the values in each group; the worst if left out.
    binary : bool

    Examples
    --------
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
        for name in ("power", "level", "share"):
            if getattr(self, name) is not None:
                checks.open_probability(**{name: getattr(self, name)})
        for name in ("gap", "epsilon"):
            if getattr(self, name) is not None:
                checks.positive(**{name: getattr(self, name)})
        if self.count is not None:
            checks.whole(count=self.count, at_least=2)

    @property
    def per_answer(self) -> float:
        """Variance of the gap times the number of answers, sampling and randomisation: ``(s2 + v) / (a (1 - a))``."""
        reports = Reports.of(KaryRandomisedResponse(float(self.epsilon or 0), 2), ends=self.binary)
        one = largest(reports, 1.0, 1.0, MANY, None if self.sd is None else self.sd**2)
        return one.total / (self.share * (1 - self.share))

    def completed(self) -> "Power":
        """Return the test with what was left out: ``n = (z_(1 - level/2) + z_power)^2 V / gap^2``, rounded up.

        Raises
        ------
        ValueError
            Unless one quantity is left out, or if no budget reaches the power.
        """
        missing = [name for name in ("count", "gap", "power", "epsilon") if getattr(self, name) is None]
        if len(missing) != 1:
            left = " and ".join(f"no {name}" for name in missing) or "all"
            raise ValueError(f"one of count, gap, power, epsilon must be left out, got {left}")
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

        from scipy.optimize import brentq

        def excess(logarithm: float) -> float:
            return math.log(replace(self, epsilon=math.exp(logarithm)).per_answer * (reach / gap) ** 2 / count)

        low, high = math.log(1e-6), math.log(100.0)
        if excess(high) > 0:
            raise ValueError("no epsilon up to 100 reaches the power: sampling alone is too coarse")
        return replace(
            self, epsilon=math.exp(float(brentq(excess, low, high, xtol=1e-13))) if excess(low) > 0 else 1e-6
        )

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
