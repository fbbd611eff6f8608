"""The power of a two-sided test for a gap between two public groups, by the normal law and with the reports' noise."""

import json
import math
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any, Literal

from scipy.optimize import brentq

from ldpnb import checks
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.planning.reports import MANY, Reports, largest

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """A test whether two groups have the same mean; groups are public, values lie in ``[0, 1]``.

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
    mechanism : {"1-bit", "local Laplace"}
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
    mechanism: Literal["1-bit", "local Laplace"] = "1-bit"
    binary: bool = False

    def __post_init__(self) -> None:
        checks.plain(self)
        missing = [name for name in ("count", "gap", "power", "epsilon") if getattr(self, name) is None]
        if len(missing) > 1:
            raise ValueError(f"one of count, gap, power, epsilon may be left out, got no {' and no '.join(missing)}")
        for name in ("power", "level", "share"):
            if getattr(self, name) is not None:
                checks.open_probability(**{name: getattr(self, name)})
        for name in ("gap", "epsilon"):
            if getattr(self, name) is not None:
                checks.positive(**{name: getattr(self, name)})
        if self.gap is not None:
            checks.numbers(gap=self.gap, low=1e-12, high=1e12)
        if self.count is not None:
            checks.whole(count=self.count, at_least=2)
        checks.choice(mechanism=self.mechanism, among=("1-bit", "local Laplace"))

    @property
    def per_answer(self) -> float:
        """Variance of the gap times the number of answers, sampling and randomisation: ``(s2 + v) / (a (1 - a))``."""
        epsilon = float(self.epsilon or 0)
        reports = Reports(scale=1 / epsilon)
        if self.mechanism == "1-bit":
            reports = Reports.of(KaryRandomisedResponse(epsilon, 2), ends=self.binary)
        one = largest(reports, 1.0, 1.0, MANY, None if self.sd is None else self.sd**2)
        return one.total / (self.share * (1 - self.share))

    def chance(self) -> float:
        """Return the power of the two-sided test."""
        shift = float(self.gap or 0) * math.sqrt(int(self.count or 0) / self.per_answer)
        limit = _NORMAL.inv_cdf(1 - self.level / 2)
        return _NORMAL.cdf(shift - limit) + _NORMAL.cdf(-shift - limit)

    def completed(self) -> "Power":
        """Return the test with what was left out: ``n = (z_(1 - level/2) + z_power)^2 V / gap^2``, rounded up.

        Raises
        ------
        ValueError
            If nothing is left out, or no budget reaches the power.
        """
        if self.power is None:
            return replace(self, power=self.chance())
        reach = _NORMAL.inv_cdf(1 - self.level / 2) + _NORMAL.inv_cdf(self.power)
        if reach <= 0:
            raise ValueError(f"power must be above half the level, {self.level / 2:g}, got power={self.power!r}")
        if self.count is None:
            return replace(self, count=max(2, math.ceil(self.per_answer * (reach / float(self.gap or 1)) ** 2 - 1e-9)))
        if self.gap is None:
            return replace(self, gap=reach * math.sqrt(self.per_answer / self.count))
        if self.epsilon is not None:
            raise ValueError("one of count, gap, power, epsilon must be left out, got all")
        return replace(self, epsilon=self._budget((self.gap / reach) ** 2 * self.count))

    def _budget(self, allowed: float) -> float:
        def excess(logarithm: float) -> float:
            return math.log(replace(self, epsilon=math.exp(logarithm), power=None).per_answer / allowed)

        low, high = math.log(1e-6), math.log(100.0)
        if excess(high) > 0:
            raise ValueError("no epsilon up to 100 reaches the power: sampling alone is too coarse")
        return math.exp(float(brentq(excess, low, high, xtol=1e-13))) if excess(low) > 0 else 1e-6

    def sheets(self) -> dict[str, Any]:
        """Return every number as a DataFrame of one row, by its name."""
        import pandas as pd

        return {"power": pd.DataFrame([asdict(self) | {"variance_per_answer": self.per_answer}])}

    def to_json(self) -> str:
        """Return every number as JSON."""
        return json.dumps(asdict(self) | {"variance_per_answer": self.per_answer}, indent=1)

    def __str__(self) -> str:
        if None in (self.count, self.gap, self.power, self.epsilon):
            return repr(self)
        first = round(float(self.count or 0) * self.share)
        groups = f"{first:,} and {int(self.count or 0) - first:,} in two public groups"
        lines = [
            f"With {self.count:,} answers ({groups}), {self.epsilon:.4g} nats each, a gap of {self.gap:.4g} is found",
            f"with probability {self.power:.4g} by a two-sided test of level {self.level:g} (normal law, approximate).",
            "Where the group is to be kept private too: ldpnb plan gap.",
        ]
        return "\n".join(lines)
