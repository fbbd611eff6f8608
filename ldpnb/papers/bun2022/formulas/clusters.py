"""Privacy of a mechanism that sees whole clusters drawn by simple random sampling.

This is Section 5 of Bun et al. (2022). A population consists of disjoint clusters; some are drawn
without replacement, and all their records are kept. One record of the changed cluster is removed
(deletion; a cluster that this empties is still drawn like the others) or altered (replacement). The
mechanism on the sample is epsilon-*deletion*-DP throughout; losses and budgets are in nats.

Beware of an off-by-one error: sizes are those of the **larger** of two deletion neighbours. With
the smaller size in its place, or the reverse, an upper bound remains one, but a lower bound does
not.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, Real
from ldpnb.privacy.lemmas import log_mixed
from ldpnb.privacy.subsampling import srs_loss, weighted_loss


def cluster_loss_at(
    other_size: Real, *, epsilon: Real, changed_size: Real, sampling_rate: Real
) -> Real:
    r"""Return the deletion loss if every other cluster had the same size ``x`` (Theorems 5.1, 5.2).

    .. math::

        B(x) = \ln\Bigl(1 + \frac{e^\varepsilon - 1}
        {1 + (1/p - 1)\, e^{-\varepsilon (n_1 - 1 + x)}}\Bigr)

    Parameters
    ----------
    other_size : float
        The size ``x``, ``>= 0``.
    epsilon : float
        Budget of the mechanism, in nats, ``> 0``.
    changed_size : int
        Size ``n_1`` of the changed cluster in the larger population, at least 1.
    sampling_rate : float
        Share ``p`` of the clusters that is drawn, in ``(0, 1]``.
    """
    p = checks.rate(sampling_rate, "sampling_rate")
    budget = checks.positive(epsilon, "epsilon")
    changed = checks.whole(changed_size, "changed_size", at_least=1)
    records = changed - 1 + checks.non_negative(other_size, "other_size")
    return log_mixed(1 / (1 + (1 - p) / p * np.exp(-budget * records)), budget)


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSample:
    """A simple random sample of whole clusters, such as all pupils of the schools that are drawn.

    Its methods say how much privacy such a sample costs or gains when one record changes, for a
    mechanism that is private under the deletion of a record.

    Parameters
    ----------
    sizes : array_like of int, shape (clusters,)
        Records in each cluster, at least 1, before the record is deleted.
    chosen : int
        Number of clusters that are drawn, from 1 to all of them.
    changed : int, default 0
        Index of the cluster whose record is deleted or replaced.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    `loss` is exact. `lower_bound` and `upper_bound` are the closed forms of Theorems 5.1 and 5.2 of
    Bun et al. (2022), between which it lies.

    Examples
    --------
    One of two records is drawn, each of which is a cluster. At epsilon = ln 3 the ``rho`` of `loss`
    is 3, and the loss is ln((1 + 3 * 3) / (1 + 3)).

    >>> pair = ClusterSample(sizes=[1, 1], chosen=1)
    >>> round(float(np.exp(pair.loss(np.log(3)))), 12)
    2.5

    Three of five clusters, at epsilon = 0.3:

    >>> design = ClusterSample(sizes=[4, 2, 2, 7, 1], chosen=3)
    >>> round(design.loss(0.3), 4)
    0.2742
    >>> round(design.lower_bound(0.3), 4), round(design.upper_bound(0.3), 4)
    (0.2557, 0.2916)
    """

    sizes: Any
    chosen: int
    changed: int = 0

    def __post_init__(self) -> None:
        checks.plain(self)
        sizes = checks.counts(self.sizes, "sizes", least=1)
        records = float(sizes.astype(float).sum())
        if not records < 2**53:
            raise ValueError(f"sizes must add up to less than 2**53, got {records:g}")
        chosen = checks.whole(self.chosen, "chosen", at_least=1, at_most=len(sizes))
        changed = checks.whole(self.changed, "changed", at_most=len(sizes) - 1)
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "chosen", chosen)
        object.__setattr__(self, "changed", changed)

    @property
    def sampling_rate(self) -> float:
        """Share of the clusters that is drawn."""
        return self.chosen / len(self.sizes)

    @property
    def _others(self) -> Ints:
        return np.delete(self.sizes, self.changed)

    def lower_bound(self, epsilon: float) -> float:
        """Return a deletion loss that some mechanism attains on some populations of these sizes.

        This is Theorem 5.1.
        """
        return self._bound(int(self._others.min(initial=self.sizes.max())), epsilon)

    def upper_bound(self, epsilon: float) -> float:
        """Return a deletion loss that no mechanism exceeds on populations of these sizes.

        This is Theorem 5.2.
        """
        return self._bound(int(self._others.max(initial=0)), epsilon)

    def _bound(self, other_size: int, epsilon: float) -> float:
        bound = cluster_loss_at(
            other_size,
            epsilon=epsilon,
            changed_size=int(self.sizes[self.changed]),
            sampling_rate=self.sampling_rate,
        )
        return float(bound)

    def two_stage_upper_bound(self, epsilon: float, record_rate: float) -> float:
        """Return an upper bound if only some records of the drawn clusters are kept (Section 5.2).

        Independent sampling at rate ``q`` makes an epsilon-deletion-DP mechanism
        ``ln(1 + q (e^epsilon - 1))``-deletion-DP. That budget goes into Theorem 5.2. For small
        epsilon the bound approaches ``q`` times the bound of the design without a second stage.

        Parameters
        ----------
        epsilon : float
            Budget of the mechanism, in nats, ``> 0``.
        record_rate : float
            Probability ``q`` in ``(0, 1]`` that a record is kept, independently of the others.
        """
        return self.upper_bound(srs_loss(epsilon, record_rate))

    def loss(self, epsilon: float, *, neighbours: str = "deletion") -> float:
        r"""Return the exact largest loss over all deletion-DP mechanisms and all such populations.

        With ``w_i = e^(-epsilon n_i)`` over the other clusters and ``rho = e_(m-1)(w) / e_m(w)``, a
        ratio of elementary symmetric polynomials, it is

        .. math::

            \ln\frac{1 + \rho\, e^{\varepsilon n_1}}
            {1 + \rho\, e^{\varepsilon (n_1 - h)}}

        where ``h`` is 1 for deletion and 2 for replacement. The optimal mechanism counts the
        records of the changed cluster positively and all others negatively, adds Laplace noise, and
        looks at the tail. The cost is of the order of the number of distinct sizes times a
        bandwidth: see `log_symmetric_ratio`.

        Parameters
        ----------
        epsilon : float
            Budget of the mechanism, in nats, ``> 0``.
        neighbours : {"deletion", "replacement"}, default "deletion"
            What happens to one record of the changed cluster.

        Examples
        --------
        Clusters of one record are simple random sampling. To replace one costs the mechanism twice
        its budget: the loss is ``ln(1 + (e - 1)/4)`` at epsilon 1/2.

        >>> round(ClusterSample([1, 1, 1, 1], 1).loss(0.5, neighbours="replacement"), 12)
        0.357374019509
        """
        checks.choice(neighbours, "neighbours", among=("deletion", "replacement"))
        step = checks.positive(epsilon, "epsilon") * (1 if neighbours == "deletion" else 2)
        return weighted_loss(step, self._log_odds(epsilon) - step)

    def identifying_confusion(self, epsilon: float) -> float:
        """Return the confusion ``beta`` of the optimal mechanism.

        It is the probability of its tail without the changed cluster over that with it,
        ``beta = e_m(w) C(k-1, m-1) / (e_(m-1)(w) C(k-1, m) e^(epsilon n_1))``. Theorem 5.3 with
        this ``beta`` and ``epsilon-hat = epsilon`` gives the exact optimum `loss`.
        """
        if self.chosen == len(self.sizes):
            raise ValueError(
                f"chosen must leave a cluster out, got chosen={self.chosen} of {len(self.sizes)}"
            )
        return float(np.exp(logit(self.sampling_rate) - self._log_odds(epsilon)))

    def _log_odds(self, epsilon: float) -> float:
        """Return ``ln(rho e^(epsilon n_1))``.

        These are the odds, given the optimal tail event, that the changed cluster was drawn.
        """
        records = (self._others + self.sizes[self.changed]).astype(float)
        log_weights = -checks.positive(epsilon, "epsilon") * records
        return log_symmetric_ratio(log_weights, self.chosen)


# Elementary symmetric polynomials


def log_symmetric_ratio(log_weights: ArrayLike, order: int) -> float:
    """Return ``ln(e_(m-1)(w) / e_m(w))`` of elementary symmetric polynomials.

    The weights may have any scale. To multiply every weight by ``z`` turns the ratio of the
    polynomials into ``z`` times the ratio of two probabilities: that a sum of independent coins
    with odds ``z w_i`` shows ``m - 1`` or ``m`` heads. With ``z`` such that ``m - 1/2`` heads are
    expected, both are near the mode. Then a short discrete Fourier sum gives them accurately, for
    any number of coins. Coins that are certain up to ``e^-60`` are counted, not summed over.

    Parameters
    ----------
    log_weights : array_like, shape (k,)
        ``ln w_i``.
    order : int
        ``m``, from 1 to ``k + 1``. At ``k + 1`` the ratio is infinite.
    """
    weights, repeats = np.unique(np.asarray(log_weights, dtype=float), return_counts=True)
    count = int(repeats.sum())
    order = checks.whole(order, "order", at_least=1, at_most=count + 1)
    if order == count + 1:
        return np.inf

    log_scale = _balance(weights, repeats, order - 0.5)
    log_odds = log_scale + weights
    is_open = np.abs(log_odds) < 60
    certain_heads = int(repeats[~is_open & (log_odds > 0)].sum())

    heads = expit(log_odds[is_open])
    fewer, exactly = _two_central_probabilities(heads, repeats[is_open], order - certain_heads)
    return log_scale + float(np.log(fewer) - np.log(exactly))


def _balance(weights: Floats, repeats: Ints, expected: float) -> float:
    """Return a ``ln z`` at which the coins show about `expected` heads on average.

    Their log-odds are ``ln z + weights``. A hundredth of a head is near enough, because the ratio
    of the polynomials is the same for every ``z``.
    """
    from scipy.optimize import brentq

    count = repeats.sum()
    margin = np.log(count) + 2

    def surplus(log_scale: float) -> float:
        return float(repeats @ expit(log_scale + weights) - expected)

    low = -weights.max() - margin
    high = -weights.min() + margin
    return float(brentq(surplus, low, high, xtol=0.04 / count))


def _two_central_probabilities(heads: Floats, repeats: Ints, order: int) -> tuple[float, float]:
    """Return multiples of the probabilities of ``order - 1`` and ``order`` heads.

    About ``order - 1/2`` heads are expected. A Fourier sum of ``period`` points gives the total of
    all probabilities that lie a multiple of ``period`` apart. The period is so long that only one
    of them counts (Bernstein's inequality at 1e-20). The high frequencies, below 1e-20 as well, are
    left out.
    """
    variance = float(repeats @ (heads * (1 - heads)))
    period = min(int(repeats.sum()) + 1, int(17 + np.sqrt(240 + 95 * variance)) + 1)
    angles = 2 * np.pi * np.arange(period // 2 + 1) / period
    angles = angles[2 * variance * np.sin(angles / 2) ** 2 < 48]

    turns = np.exp(1j * angles) - 1
    transform = np.array([repeats @ np.log1p(heads * turn) for turn in turns])
    is_single = (angles == 0) | (np.abs(angles - np.pi) < 1e-12)
    twice = np.where(is_single, 1.0, 2.0)

    def chance(number: int) -> float:
        return float(twice @ np.exp(transform - 1j * angles * number).real)

    return chance(order - 1), chance(order)


# If the output tells whether the changed cluster was drawn


def identified_cluster_loss_lower_bound(
    known_loss: Real, *, confusion: Real, sampling_rate: Real
) -> Real:
    r"""Return the loss if the output tells whether the changed cluster was drawn.

    It is Theorem 5.3 before its last step:

    .. math:: \ln\frac{p + (1 - p)\beta}{p\,e^{-\hat\varepsilon} + (1 - p)\beta}

    Parameters
    ----------
    known_loss : float
        Loss ``epsilon-hat`` of an event given that the changed cluster was drawn, in nats,
        ``>= 0``.
    confusion : float
        Probability of the event without the cluster over that with it, ``beta >= 0``. At 0 the
        sample is not secret.
    sampling_rate : float
        Probability ``p`` in ``(0, 1]`` that the cluster is drawn.
    """
    p = checks.rate(sampling_rate, "sampling_rate")
    beta = checks.non_negative(confusion, "confusion")
    loss = checks.non_negative(known_loss, "known_loss")
    return np.log1p(-np.expm1(-loss) / (np.exp(-loss) + (1 - p) / p * beta))


def identified_cluster_loss_weak_bound(
    known_loss: Real, *, confusion: Real, sampling_rate: Real, epsilon: Real
) -> Real:
    """Return ``epsilon-hat - ln(1 + (1-p)/p beta e^epsilon)``, the weaker form of Theorem 5.3.

    It follows from `identified_cluster_loss_lower_bound` by ``epsilon-hat <= epsilon``, and may be
    negative.
    """
    p = checks.rate(sampling_rate, "sampling_rate")
    beta = checks.non_negative(confusion, "confusion")
    loss = checks.non_negative(known_loss, "known_loss")
    budget = checks.positive(epsilon, "epsilon")

    # 1 + c e^x = (1 + c) (1 + c / (1 + c) (e^x - 1))
    odds = (1 - p) / p * beta
    return loss - np.log1p(odds) - log_mixed(odds / (1 + odds), budget)


# The size at which sampling no longer helps


def critical_cluster_size(share: float, *, epsilon: float, sampling_rate: float) -> float:
    """Return the common cluster size at which the deletion loss reaches a fraction of epsilon.

    It solves ``B(n) = share * epsilon`` for clusters of one size ``n``, with the bound of Theorems
    5.1 and 5.2, which is exact then. A result below 1 means that even clusters of one record lose
    that much.

    Parameters
    ----------
    share : float
        The fraction, in ``(0, 1)``.
    epsilon : float
        Budget of the mechanism, in nats, ``> 0``.
    sampling_rate : float
        Share of the clusters that is drawn, in ``(0, 1)``.

    Examples
    --------
    >>> round(critical_cluster_size(0.9, epsilon=0.1, sampling_rate=0.1), 6)
    22.223912
    """
    part = checks.open_probability(share, "share")
    budget = checks.positive(epsilon, "epsilon")
    p = checks.open_probability(sampling_rate, "sampling_rate")

    # logit(p) - logit(share), whose digits survive if the two are near each other
    low, high = sorted((part, p))
    log_odds = np.copysign(np.log1p((high - low) / (low * (1 - high))), p - part)
    bend = _log_sinhc((1 - part) * budget / 2) - _log_sinhc(part * budget / 2)
    return float(0.25 - (log_odds + bend) / budget / 2)


def _log_sinhc(x: float) -> float:
    """Return ``ln(sinh(x) / x)``, at small ``x`` by its series."""
    if x < 0.1:
        return x**2 / 6 - x**4 / 180 + x**6 / 2835 - x**8 / 37_800
    return x + float(np.log(-np.expm1(-2 * x) / (2 * x)))
