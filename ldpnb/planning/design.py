"""Who reports, what that reveals, and the privacy loss of what is released.

Three designs: everybody reports; a simple random sample of fixed size (``srs``); independent participation
(``poisson``), where every user reports with the same probability. To whoever receives it a report always loses its own
budget, the *local* one. What is released of all reports may lose less to its readers:

- after a simple random sample whose members stay secret, ``ln(1 + rate (e^epsilon - 1))`` under replacement, and no
  more under deletion;
- after a shuffler, which forgets who sent what, at a ``delta``, under replacement;
- independent participation alone gains nothing: everybody may happen to take part, which leaves a replacement its whole
  loss, and the number of reports tells whether a user is absent (deletion).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy import blanket, lemmas, shuffling, subsampling

Kind = Literal["everyone", "srs", "poisson"]
Neighbours = Literal["replacement", "deletion"]

_WHO = {
    "everyone": "everybody reports",
    "srs": "a secret simple random sample of fixed size reports",
    "poisson": "every user decides by its own coin whether to report",
}


@dataclass(frozen=True, slots=True)
class Draw:
    """How many of a population report: each with chance `rate`, or, if `fixed`, a certain share of them."""

    population: int
    rate: float
    fixed: bool = True

    @property
    def reports(self) -> int:
        """Number of reports, or its expectation rounded."""
        return max(1, round(self.population * self.rate))

    @property
    def correction(self) -> float:
        """The variance that sampling adds, over that of draws with replacement: ``(1 - rate) N / (N - 1)``."""
        return (1 - self.rate) * self.population / max(self.population - 1, 1)

    @property
    def complete(self) -> bool:
        """Whether everybody reports."""
        return self.fixed and self.reports == self.population

    def average(self, exponents: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return ``E exp(-S I)`` over the number ``S`` of reports, for bounds that fall by ``exp(-I)`` with each.

        Examples
        --------
        >>> round(float(Draw(2, 0.5, fixed=False).average(np.log(2.0))), 12)
        0.5625
        """
        rates = np.asarray(exponents, dtype=float)
        logarithm = -self.reports * rates if self.fixed else self.population * np.log1p(self.rate * np.expm1(-rates))
        average: NDArray[np.float64] = np.exp(logarithm)
        return average


@dataclass(frozen=True, slots=True)
class Design:
    """Who reports and which privacy is asked for.

    Parameters
    ----------
    kind : {"everyone", "srs", "poisson"}
    sampling_rate : float, optional
        In ``(0, 1]``; not for ``everyone``. None if it is what is asked.
    neighbours : {"replacement", "deletion"}
        Which data sets must be hard to tell apart: those that differ in one user's value, or in one user's presence.
    delta : float, optional
        With it, reports go through a shuffler and the loss holds except for this ``delta``.
    releases : int
        How many times the same people are asked, with a report each time; budgets add up before a sample hides them.

    Raises
    ------
    ValueError
        For a design that does not protect what is asked for.
    """

    kind: Kind = "everyone"
    sampling_rate: float | None = None
    neighbours: Neighbours = "replacement"
    delta: float | None = None
    releases: int = 1

    def __post_init__(self) -> None:
        checks.plain(self)
        checks.choice(design=self.kind, among=tuple(_WHO))
        checks.choice(neighbours=self.neighbours, among=("replacement", "deletion"))
        if self.sampling_rate is not None:
            checks.rate(sampling_rate=self.sampling_rate)
            if self.kind == "everyone":
                raise ValueError(f"sampling_rate needs a design srs or poisson, got sampling_rate={self.sampling_rate}")
        if self.delta is not None:
            checks.open_probability(delta=self.delta)
        if checks.whole(releases=self.releases, at_least=1) > 1 and self.delta is not None:
            raise ValueError(f"releases must be 1 with a shuffler, got releases={self.releases}")
        if self.neighbours == "deletion" and (self.kind != "srs" or self.delta is not None):
            raise ValueError(
                "neighbours must be replacement unless a simple random sample of fixed size is drawn: the number of "
                f"reports shows who takes part, got neighbours=deletion with design {self.kind}"
                + (" and a shuffler" if self.delta is not None else "")
            )

    @property
    def amplifies(self) -> bool:
        """Whether what is released may lose less than a report."""
        return self.kind == "srs" or self.delta is not None

    def describe(self) -> str:
        """Return the design and its neighbouring relation in words."""
        shuffled = "" if self.delta is None else f", through a shuffler (delta = {self.delta:g})"
        changed = "value" if self.neighbours == "replacement" else "record"
        times = "" if self.releases == 1 else f", {self.releases} times from the same people"
        return f"{_WHO[self.kind]}{times}{shuffled}; {self.neighbours} of one user's {changed}"

    def draw(self, users: int) -> Draw:
        """Return how many of the users report."""
        rate = 1.0 if self.kind == "everyone" else float(self.sampling_rate or 1.0)
        return Draw(users, rate, self.kind != "poisson" or rate == 1.0)

    def release_loss(self, *, epsilon: float, users: int, mechanism: object = None) -> float:
        """Return the privacy loss of everything that is released, all times, when every report has loss `epsilon`.

        Parameters
        ----------
        epsilon : float
            Exact loss of a report under replacement, nats.
        users : int
        mechanism : optional
            What makes a report. Shuffled, k-ary randomised response has an exact account, other finite mechanisms that
            of their privacy blanket, and the rest a general bound.

        Returns
        -------
        float
            Nats, under the design's neighbouring relation and at its delta; never above `epsilon`.

        References
        ----------
        Theorem 2.2 of bun2022 for simple random samples, whose proof couples samples that differ in one user; Lemma B.1
        there for deletion, which a sample of everybody does not protect from.

        Examples
        --------
        >>> round(float(np.exp(Design("srs", 0.5).release_loss(epsilon=np.log(5), users=100))), 12)
        3.0
        >>> Design("poisson", 0.5).release_loss(epsilon=1.0, users=100)
        1.0
        """
        draw, epsilon = self.draw(users), epsilon * self.releases
        if self.kind != "srs":
            return epsilon if self.delta is None else _shuffled(epsilon, self.delta, draw, mechanism)
        share = draw.reports / users
        if self.neighbours == "deletion":
            return lemmas.inserted_record_loss(draw.reports, users - 1, epsilon / 2) if share < 1 else float("inf")
        if self.delta is None:
            return subsampling.srs_loss(epsilon, share)
        inner = min(self.delta / share, 0.5)
        loss = _shuffled(epsilon, inner, Draw(draw.reports, 1.0), mechanism)
        return subsampling.srs_loss(loss, share) if loss > 0 else 0.0

    def excess(self, *, epsilon: float, users: int, mechanism: object, release: float) -> float:
        """Return a number with the sign of `release_loss` minus `release`; it grows with `epsilon`."""
        draw, release = self.draw(users), checks.positive(release=release)
        epsilon = checks.positive(epsilon=epsilon)
        if self.kind != "srs":
            return _excess(epsilon, self.delta, draw, mechanism, release)
        share = draw.reports / users
        inner = min((self.delta or 0) / share, 0.5)
        return _excess(epsilon, inner, Draw(draw.reports, 1.0), mechanism, subsampling.srs_budget(release, share))

    def report_budget(self, *, release: float, users: int) -> float:
        """Return the budget of a report with which an unshuffled sample loses `release`; inverts `release_loss`.

        Examples
        --------
        >>> round(float(np.exp(Design("srs", 0.5).report_budget(release=np.log(3), users=100))), 12)
        5.0
        """
        count = checks.whole(users=users, at_least=1)
        return subsampling.srs_budget(release, self.draw(count).reports / count) / self.releases


def _shuffled(epsilon: float, delta: float, draw: Draw, mechanism: object) -> float:
    users = draw.population
    if isinstance(mechanism, KaryRandomisedResponse) and users > 1:
        exact = shuffling.ShuffledReports(users, draw.rate, mechanism).epsilon_upper(delta)
        return min(epsilon, exact)
    if isinstance(mechanism, blanket.Known) and 1 < users <= blanket.MOST_USERS:
        return blanket.Blanket.of(mechanism).sampled(draw.rate).epsilon_upper(delta, users=users)
    if not draw.complete:
        return epsilon
    general = shuffling.closed_form(delta, users=draw.reports, epsilon=epsilon)
    return epsilon if np.isnan(general) else min(epsilon, general)


def _excess(epsilon: float, delta: float | None, draw: Draw, mechanism: object, release: float) -> float:
    """Return a number with the sign of the shuffled loss minus `release`; of a blanket the loss is not searched for."""
    users = draw.population
    if delta is None or not (isinstance(mechanism, blanket.Known) and 1 < users <= blanket.MOST_USERS):
        loss = epsilon if delta is None else _shuffled(epsilon, delta, draw, mechanism)
    elif epsilon <= release:
        return -1.0  # a shuffler loses less than a report
    elif not isinstance(mechanism, KaryRandomisedResponse):
        return blanket.Blanket.of(mechanism).sampled(draw.rate).excess(release, delta, users=users)
    else:
        reports = shuffling.ShuffledReports(users, draw.rate, mechanism)
        return float(np.log(max(reports.delta_upper(release), 1e-300) / delta))
    return float(np.log(max(loss, 1e-300) / release))
