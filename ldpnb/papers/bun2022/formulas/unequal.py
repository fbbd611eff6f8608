"""Privacy under unequal probabilities, clusters drawn by size and systematic samples (Section 6 of bun2022).

Proposition 6.1 turns the chances of an event with and without a record into a lower bound for any design. The exact
losses over all epsilon-deletion-DP mechanisms, given as well, show what the source only hints at: where one record's
size changes everybody's chances, or its rank everybody's cluster, a design does not merely fail to amplify but
multiplies the loss. Budgets and losses are in nats.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ldpnb import checks
from ldpnb.arithmetic import Real
from ldpnb.designs import laws
from ldpnb.papers.bun2022.formulas.clusters import ClusterSample
from ldpnb.privacy.lemmas import log_mixed, log_thinned
from ldpnb.privacy.optimiser import largest_loss
from ldpnb.privacy.subsampling import srs_loss


@dataclass(frozen=True, slots=True)
class Inclusion:
    """The chances of an event in two neighbouring populations, with and without one record.

    - `rate`, `neighbour_rate`, float: chances ``p`` and ``p'`` that the record is drawn, in ``(0, 1]``.
    - `inside`, `neighbour_inside`, float: chances ``mu_1`` and ``mu_1'`` of the event given that it is drawn, ``> 0``.
    - `outside`, `neighbour_outside`, float: chances ``mu_0`` and ``mu_0'`` given that it is not, ``>= 0``.
    """

    rate: Real
    neighbour_rate: Real
    inside: Real
    neighbour_inside: Real
    outside: Real
    neighbour_outside: Real

    def __post_init__(self) -> None:
        checks.plain(self)
        for name in ("rate", "neighbour_rate", "inside", "neighbour_inside"):
            checks.rate(getattr(self, name), name)
        for name in ("outside", "neighbour_outside"):
            checks.probability(getattr(self, name), name)

    def loss_lower_bound(self) -> Real:
        """Return the three-term lower bound on the loss (equation (4)).

        ``ln(mu_1/mu_1') + ln(p/p') - ln(1 + (1-p')/p' mu_0'/mu_1')``: the loss given that the record is drawn, how its
        chance changes, and how well the event tells whether it is drawn.
        """
        hidden = (
            (1 - self.neighbour_rate)
            / self.neighbour_rate
            * self.neighbour_outside
            / self.neighbour_inside
        )
        return (
            np.log(self.inside / self.neighbour_inside)
            + np.log(self.rate / self.neighbour_rate)
            - np.log1p(hidden)
        )

    def event_loss(self) -> Real:
        """Return the event's own loss; equation (4) follows by dropping ``(1-p) mu_0`` (equation (5))."""
        here = self.rate * self.inside + (1 - self.rate) * self.outside
        there = (
            self.neighbour_rate * self.neighbour_inside
            + (1 - self.neighbour_rate) * self.neighbour_outside
        )
        return np.log(here / there)


def element_loss_floor(rates: ArrayLike, epsilon: float) -> float:
    """Return ``ln(1 + p_max (e^epsilon - 1))``, which every design with these inclusion chances loses (Section 6.1)."""
    include = checks.numbers(rates, "rates", low=0, high=1)
    return float(srs_loss(epsilon, checks.rate(float(include.max(initial=0.0)), "largest_rate")))


def element_loss_weak_floor(rates: ArrayLike, epsilon: float) -> float:
    """Return ``epsilon + ln p_max``, the bound of equation (4) in place of `element_loss_floor`; void if negative."""
    return checks.positive(epsilon, "epsilon") + float(
        np.log(checks.rate(float(np.max(rates)), "largest_rate"))
    )


def one_draw_loss(rate: float, neighbour_rate: float, epsilon: float) -> float:
    """Return ``ln(1 + max(p, p') (e^(2 epsilon) - 1))``: one record drawn with any probabilities, one replaced.

    ``p`` and ``p'`` are the chances of the record before and of its replacement after. Exact over all
    epsilon-deletion-DP mechanisms, if the other records keep their relative chances.
    """
    first, second = checks.rate(rate, "rate"), checks.rate(neighbour_rate, "neighbour_rate")
    return float(srs_loss(2 * checks.positive(epsilon, "epsilon"), max(first, second)))


def poisson_loss(rates: ArrayLike, neighbour_rates: ArrayLike, epsilon: float) -> float:
    r"""Return the exact loss of independent sampling when inclusion chances change from one vector to another.

    .. math:: \sum_j \max_{s=\pm1} \ln\frac{1 + \pi_j (e^{s\varepsilon} - 1)}{1 + \pi_j' (e^{s\varepsilon} - 1)}

    or the same with ``pi`` and ``pi'`` exchanged, whichever is larger. Exact over all epsilon-deletion-DP mechanisms.
    *Proof*: averaging over the inclusion of one record leaves a log-Lipschitz function of the rest and costs at most
    that record's term, so terms add up; the product of the best choices attains the sum.

    - `rates`, `neighbour_rates`, (records,) float: chances ``pi_j`` and ``pi_j'`` in ``[0, 1]``, for all records of
      either population; 0 where a population lacks a record. A replaced record counts as two.
    - `epsilon`, float: budget of the mechanism.

    One record at rate 1/2, removed:

    >>> round(float(np.exp(poisson_loss([0.5], [0.0], np.log(3)))), 12)
    2.0
    """
    here = checks.numbers(rates, "rates", low=0, high=1)
    there = checks.entries(
        checks.numbers(neighbour_rates, "neighbour_rates", low=0, high=1),
        "neighbour_rates",
        here.size,
    )
    budget = checks.positive(epsilon, "epsilon")
    ratios = np.stack(
        [f(here, budget) - f(there, budget) for f in (log_mixed, log_thinned)]
    )  # a row for each s
    return float(max(ratios.max(axis=0).sum(), (-ratios).max(axis=0).sum()))


def pps_cluster_loss(sizes: ArrayLike, epsilon: float) -> float:
    r"""Return the exact deletion loss if one cluster is drawn with chances proportional to size (Section 6.2).

    .. math::

        \ln\frac{n-1}{n} + \ln\frac{n_1 + R}{(n_1 - 1) e^{-\varepsilon} + R},
        \qquad R = \sum_{i>1} n_i e^{-\varepsilon(n_1+n_i)}

    It can exceed epsilon: removing a record makes its cluster rarer, by the factor ``p/p'`` of Proposition 6.1.

    The sizes, each ``>= 1``, are those in the larger population; the first cluster loses a record.
    """
    records = checks.counts(sizes, "sizes", least=1)
    budget, total = checks.positive(epsilon, "epsilon"), int(records.sum())
    if total < 2:
        raise ValueError(f"sizes must have a sum of at least 2, got sizes={sizes!r}")
    own, others = int(records[0]), records[1:]
    rest = -budget * (own + others.astype(float))
    # the quotient's numerator less its denominator, a sum of positive terms
    gained = total * (own - 1) * -np.expm1(-budget) + others @ -np.expm1(rest)
    with np.errstate(divide="ignore"):
        smaller = logsumexp([np.log(own - 1.0) - budget, *(np.log(others) + rest)])
        return float(np.logaddexp(0.0, np.log(gained) - smaller - np.log(total)))


def systematic_loss(
    records: Sequence[Any], replaced: int, replacement: Any, *, step: int, epsilon: float
) -> float:
    """Return the exact loss of a systematic sample when one record is replaced, by linear programming (Section 6.3).

    - `records`, sequence: distinct, sortable; their number is a multiple of `step`.
    - `replaced`, int: rank of the record replaced.
    - `replacement`, object: the new record; where it sorts decides which records change their sample.
    - `step`, int: every `step`-th record is drawn, after a random start.
    - `epsilon`, float: budget of the deletion-DP mechanism, nats.
    """
    before = sorted(records)
    after = sorted([*before[:replaced], *before[replaced + 1 :], replacement])
    return largest_loss(
        laws.every_kth(before, step), laws.every_kth(after, step), epsilon=epsilon
    ).loss


def systematic_rank_preserving_loss(size: int, step: int, epsilon: float) -> float:
    """Return the exact replacement loss of a systematic sample if the new record takes the old one's rank.

    Drawing one of ``step`` clusters of `size` records each: ``ln(1 + (e^(2 epsilon) - 1)/(1 + (k-1)
    e^(-epsilon(2m-2))))``.
    """
    clusters = [checks.whole(size, "size", at_least=1)] * checks.whole(step, "step", at_least=1)
    return ClusterSample(clusters, 1).loss(epsilon, neighbours="replacement")


def systematic_rank_shift_loss(size: int, epsilon: float) -> float:
    """Return ``m epsilon``, the replacement loss of a systematic sample of even size ``m`` if half the ranks shift.

    The smallest record moves to the middle. For odd sizes the result, for ``m - 1``, is a lower bound.
    """
    return checks.whole(size, "size", at_least=2) // 2 * 2 * checks.positive(epsilon, "epsilon")
