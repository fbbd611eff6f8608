"""Privacy under unequal probabilities, clusters drawn by size, and systematic samples.

This is Section 6 of Bun et al. (2022). Proposition 6.1 turns the probabilities of an event with and
without a record into a lower bound for any design. The exact losses over all epsilon-deletion-DP
mechanisms, which are given as well, show what the source only hints at: if one record's size
changes the probabilities of all records, or if its rank changes the cluster of all records, then a
design does not merely fail to amplify privacy, but multiplies the loss. Budgets and losses are in
nats.
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
    """The probabilities of an event in two neighbouring populations, with and without one record.

    Parameters
    ----------
    rate, neighbour_rate : float
        Probabilities ``p`` and ``p'`` in ``(0, 1]`` that the record is drawn, in either population.
    inside, neighbour_inside : float
        Probabilities ``mu_1`` and ``mu_1'`` in ``(0, 1]`` of the event, given that it is drawn.
    outside, neighbour_outside : float
        Probabilities ``mu_0`` and ``mu_0'`` in ``[0, 1]`` of the event, given that it is not.

    Raises
    ------
    ValueError
        If a probability is outside its range.

    References
    ----------
    Proposition 6.1 of Bun et al. (2022).

    Examples
    --------
    The record is drawn with probability 1/2 in one population and 1/4 in its neighbour. The event
    tells whether it is drawn, and not in which population. Then the loss is ln 2, however private
    the mechanism is.

    >>> event = Inclusion(0.5, 0.25, 1.0, 1.0, 0.0, 0.0)
    >>> round(float(np.exp(event.event_loss())), 12)
    2.0
    """

    rate: Real
    neighbour_rate: Real
    inside: Real
    neighbour_inside: Real
    outside: Real
    neighbour_outside: Real

    def __post_init__(self) -> None:
        checks.plain(self)
        checks.rate(self.rate, "rate")
        checks.rate(self.neighbour_rate, "neighbour_rate")
        checks.rate(self.inside, "inside")
        checks.rate(self.neighbour_inside, "neighbour_inside")
        checks.probability(self.outside, "outside")
        checks.probability(self.neighbour_outside, "neighbour_outside")

    def loss_lower_bound(self) -> Real:
        """Return the lower bound on the loss that has three terms (equation (4)).

        ``ln(mu_1/mu_1') + ln(p/p') - ln(1 + (1-p')/p' mu_0'/mu_1')`` consists of the loss given
        that the record is drawn, of how its probability changes, and of how well the event tells
        whether it is drawn.
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
        """Return the event's own loss (equation (5)).

        Equation (4) follows from it if ``(1-p) mu_0`` is dropped.
        """
        here = self.rate * self.inside + (1 - self.rate) * self.outside
        there = (
            self.neighbour_rate * self.neighbour_inside
            + (1 - self.neighbour_rate) * self.neighbour_outside
        )
        return np.log(here / there)


# Records with unequal probabilities


def element_loss_floor(rates: ArrayLike, epsilon: float) -> float:
    """Return ``ln(1 + p_max (e^epsilon - 1))``, a lower bound on the loss (Section 6.1).

    Every design with these inclusion probabilities loses that much.
    """
    include = checks.numbers(rates, "rates", low=0, high=1)
    return float(srs_loss(epsilon, checks.rate(float(include.max(initial=0.0)), "largest_rate")))


def element_loss_weak_floor(rates: ArrayLike, epsilon: float) -> float:
    """Return ``epsilon + ln p_max``, which equation (4) gives for `element_loss_floor`.

    It is void if it is negative.
    """
    budget = checks.positive(epsilon, "epsilon")
    largest = checks.rate(float(np.max(rates)), "largest_rate")
    return budget + float(np.log(largest))


def one_draw_loss(rate: float, neighbour_rate: float, epsilon: float) -> float:
    """Return ``ln(1 + max(p, p') (e^(2 epsilon) - 1))``, the exact loss of a sample of one record.

    The record may be drawn with any probabilities, and one record is replaced. ``p`` and ``p'`` are
    the probabilities of the record before, and of its replacement after. The loss is exact over all
    epsilon-deletion-DP mechanisms, if the other records keep their relative probabilities.
    """
    first = checks.rate(rate, "rate")
    second = checks.rate(neighbour_rate, "neighbour_rate")
    return float(srs_loss(2 * checks.positive(epsilon, "epsilon"), max(first, second)))


def poisson_loss(rates: ArrayLike, neighbour_rates: ArrayLike, epsilon: float) -> float:
    r"""Return the exact loss of independent sampling if inclusion probabilities change.

    It is

    .. math::

        \sum_j \max_{s=\pm1}
        \ln\frac{1 + \pi_j (e^{s\varepsilon} - 1)}{1 + \pi_j' (e^{s\varepsilon} - 1)}

    or the same with ``pi`` and ``pi'`` exchanged, whichever is larger. It is exact over all
    epsilon-deletion-DP mechanisms. *Proof*: to average over the inclusion of one record leaves a
    log-Lipschitz function of the rest and costs at most that record's term, so terms add up; the
    product of the best choices attains the sum.

    Parameters
    ----------
    rates, neighbour_rates : array_like, shape (records,)
        Probabilities ``pi_j`` and ``pi_j'`` in ``[0, 1]``, for all records of either population; 0
        where a population lacks a record. A replaced record counts as two.
    epsilon : float
        Budget of the mechanism, in nats, ``> 0``.

    Examples
    --------
    One record at rate 1/2 is removed.

    >>> round(float(np.exp(poisson_loss([0.5], [0.0], np.log(3)))), 12)
    2.0
    """
    here = checks.numbers(rates, "rates", low=0, high=1)
    there = checks.numbers(neighbour_rates, "neighbour_rates", low=0, high=1)
    checks.entries(there, "neighbour_rates", here.size)
    budget = checks.positive(epsilon, "epsilon")

    # A row for each sign s.
    raised = log_mixed(here, budget) - log_mixed(there, budget)
    lowered = log_thinned(here, budget) - log_thinned(there, budget)
    ratios = np.stack([raised, lowered])
    return float(max(ratios.max(axis=0).sum(), (-ratios).max(axis=0).sum()))


# Clusters


def pps_cluster_loss(sizes: ArrayLike, epsilon: float) -> float:
    r"""Return the exact deletion loss if one cluster is drawn in proportion to size (Section 6.2).

    .. math::

        \ln\frac{n-1}{n} + \ln\frac{n_1 + R}{(n_1 - 1) e^{-\varepsilon} + R},
        \qquad R = \sum_{i>1} n_i e^{-\varepsilon(n_1+n_i)}

    It can exceed epsilon: to remove a record makes its cluster rarer, by the factor ``p/p'`` of
    Proposition 6.1.

    Parameters
    ----------
    sizes : array_like of int, shape (clusters,)
        Sizes in the larger population, at least 1. The first cluster loses a record.
    epsilon : float
        Budget of the mechanism, in nats, ``> 0``.
    """
    records = checks.counts(sizes, "sizes", least=1)
    budget = checks.positive(epsilon, "epsilon")
    total = int(records.sum())
    if total < 2:
        raise ValueError(f"sizes must have a sum of at least 2, got sizes={sizes!r}")

    first = int(records[0])
    others = records[1:]
    rest = -budget * (first + others.astype(float))

    # The quotient's numerator less its denominator is a sum of positive terms.
    gained = total * (first - 1) * -np.expm1(-budget) + others @ -np.expm1(rest)
    with np.errstate(divide="ignore"):
        smaller = logsumexp([np.log(first - 1.0) - budget, *(np.log(others) + rest)])
        return float(np.logaddexp(0.0, np.log(gained) - smaller - np.log(total)))


# Systematic samples


def systematic_loss(
    records: Sequence[Any], replaced: int, replacement: Any, *, step: int, epsilon: float
) -> float:
    """Return the exact loss of a systematic sample if one record is replaced (Section 6.3).

    It is computed by linear programming.

    Parameters
    ----------
    records : sequence
        Distinct records that can be sorted. Their number is a multiple of `step`.
    replaced : int
        Rank of the record that is replaced, from 0.
    replacement : object
        The new record. Its rank decides which records change their sample.
    step : int
        Every `step`-th record is drawn, after a random start.
    epsilon : float
        Budget of the deletion-DP mechanism, in nats.
    """
    before = sorted(records)
    after = sorted([*before[:replaced], *before[replaced + 1 :], replacement])
    worst = largest_loss(laws.every_kth(before, step), laws.every_kth(after, step), epsilon=epsilon)
    return worst.loss


def systematic_rank_preserving_loss(size: int, step: int, epsilon: float) -> float:
    """Return the exact replacement loss of a systematic sample if the new record keeps the rank.

    It amounts to drawing one of ``step`` clusters of `size` records each:
    ``ln(1 + (e^(2 epsilon) - 1)/(1 + (k-1) e^(-epsilon(2m-2))))``.
    """
    clusters = [checks.whole(size, "size", at_least=1)] * checks.whole(step, "step", at_least=1)
    return ClusterSample(clusters, 1).loss(epsilon, neighbours="replacement")


def systematic_rank_shift_loss(size: int, epsilon: float) -> float:
    """Return ``m epsilon``, the replacement loss of a systematic sample if half the ranks shift.

    The smallest record moves to the middle of the sample of even size ``m``. For odd sizes the
    result, which is for ``m - 1``, is a lower bound.
    """
    return checks.whole(size, "size", at_least=2) // 2 * 2 * checks.positive(epsilon, "epsilon")
