"""Who reports, what that reveals, and the privacy loss of what is released.

Three designs: everybody reports; a simple random sample of fixed size (``srs``); independent participation
(``poisson``), where every client reports with the same probability. A report alone always loses its own budget, the
*local* one. What is released of all reports may lose less:

- after a simple random sample whose members stay secret, ``ln(1 + rate (e^epsilon - 1))`` under replacement, and no
more under deletion; - after a shuffler, which forgets who sent what, at a ``delta``, under replacement; - after
independent participation alone nothing is gained: that a client takes part is seen, and under deletion it is all there
is to see.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy import lemmas, shuffling, subsampling

Kind = Literal["everyone", "srs", "poisson"]
Neighbours = Literal["replacement", "deletion"]

KINDS = ("everyone", "srs", "poisson")
NEIGHBOURS = ("replacement", "deletion")


@dataclass(frozen=True, slots=True)
class Draw:
    """How many of a population report.

    Parameters
    ----------
    population : int
    rate : float
        Chance of each to report, or share that does.
    fixed : bool
        Whether the number of reports is certain.
    """

    population: int
    rate: float
    fixed: bool = True

    @property
    def reports(self) -> int:
        """Number of reports, or its expectation rounded."""
        return max(1, round(self.population * self.rate))

    @property
    def complete(self) -> bool:
        """Whether everybody reports."""
        return self.fixed and self.reports == self.population

    def average(self, exponents: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return ``E exp(-S I)`` over the number ``S`` of reports, for bounds that fall by the factor ``exp(-I)`` with
        every report.

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
        Which data sets may not be told apart: those in which one client's value differs, or one client is absent.
    delta : float, optional
        With it, reports go through a shuffler and the loss holds except for this ``delta``.

    Raises
    ------
    ValueError
        For a design that does not protect what is asked for.
    """

    kind: Kind = "everyone"
    sampling_rate: float | None = None
    neighbours: Neighbours = "replacement"
    delta: float | None = None

    def __post_init__(self) -> None:
        checks.choice(design=self.kind, among=KINDS)
        checks.choice(neighbours=self.neighbours, among=NEIGHBOURS)
        if self.sampling_rate is not None:
            checks.rate(sampling_rate=self.sampling_rate)
            if self.kind == "everyone":
                raise ValueError(f"sampling_rate needs a design srs or poisson, got sampling_rate={self.sampling_rate}")
        if self.delta is not None:
            checks.open_probability(delta=self.delta)
        if self.neighbours == "deletion" and (self.kind != "srs" or self.delta is not None):
            raise ValueError(
                "neighbours must be replacement unless a simple random sample of fixed size is drawn: the number of reports shows who takes part, "
                f"got neighbours=deletion with design {self.kind}"
                + (" and a shuffler" if self.delta is not None else "")
            )

    def draw(self, clients: int) -> Draw:
        """Return how many of the clients report."""
        rate = 1.0 if self.kind == "everyone" else float(self.sampling_rate or 1.0)
        return Draw(clients, rate, self.kind != "poisson" or rate == 1.0)

    @property
    def amplifies(self) -> bool:
        """Whether what is released may lose less than a report."""
        return self.kind == "srs" or self.delta is not None

    def describe(self) -> str:
        """Return the design and its neighbouring relation in words."""
        who = {
            "everyone": "everybody reports",
            "srs": "a secret simple random sample of fixed size reports",
            "poisson": "every client decides by its own coin whether to report",
        }[self.kind]
        shuffled = "" if self.delta is None else f", through a shuffler (delta = {self.delta:g})"
        return f"{who}{shuffled}; {self.neighbours} of one client's " + (
            "value" if self.neighbours == "replacement" else "record"
        )


def release_loss(design: Design, *, epsilon: float, clients: int, kary: KaryRandomisedResponse | None = None) -> float:
    """Return the privacy loss of everything that is released, when every report has loss `epsilon`.

    Parameters
    ----------
    design : Design
        With its sampling rate.
    epsilon : float
        Exact loss of a report under replacement, nats.
    clients : int
    kary : KaryRandomisedResponse, optional
        The mechanism, if it is one: shuffled, it has an exact account; others have a general bound.

    Returns
    -------
    float
        Nats, under the design's neighbouring relation and at its delta; never above `epsilon`.

    References
    ----------
    Theorem 2.2 of bun2022 for simple random samples, whose proof couples samples that differ in one client; Lemma B.1
    there for deletion, which a sample of everybody does not protect from.

    Examples
    --------
    >>> round(float(np.exp(release_loss(Design("srs", 0.5), epsilon=np.log(5), clients=100))), 12)
    3.0
    >>> release_loss(Design("poisson", 0.5), epsilon=1.0, clients=100)
    1.0
    """
    draw = design.draw(clients)
    if design.kind != "srs":
        return epsilon if design.delta is None else _shuffled(epsilon, design.delta, draw, kary)
    share = draw.reports / clients
    if design.neighbours == "deletion":
        return lemmas.inserted_record_loss(draw.reports, clients - 1, epsilon / 2) if share < 1 else float("inf")
    if design.delta is None:
        return subsampling.srs_loss(epsilon, share)
    inner = min(design.delta / share, 0.5)
    loss = _shuffled(epsilon, inner, Draw(draw.reports, 1.0), kary)
    return subsampling.srs_loss(loss, share) if loss > 0 else 0.0


def report_budget(design: Design, *, release: float, clients: int) -> float:
    """Return the budget of a report with which a simple random sample, unshuffled, loses `release`; it inverts
    `release_loss`.

    Examples
    --------
    >>> round(float(np.exp(report_budget(Design("srs", 0.5), release=np.log(3), clients=100))), 12)
    5.0
    """
    return subsampling.srs_budget(release, design.draw(clients).reports / clients)


def _shuffled(epsilon: float, delta: float, draw: Draw, kary: KaryRandomisedResponse | None) -> float:
    if kary is not None and draw.population > 1:
        exact = shuffling.epsilon_upper(delta, nodes=draw.population, sampling_rate=draw.rate, mechanism=kary)
        return min(epsilon, exact)
    if not draw.complete:
        return epsilon
    general = shuffling.closed_form(delta, nodes=draw.reports, epsilon=epsilon)
    return epsilon if np.isnan(general) else min(epsilon, general)
