"""Privacy of a mechanism that sees whole clusters drawn by simple random sampling (Section 5 of bun2022).

A population consists of disjoint clusters; some are drawn without replacement and all their records kept. One record of
the changed cluster is removed (deletion; a cluster that this empties is still drawn like the others) or altered
(replacement). The mechanism on the sample is epsilon-*deletion*-DP throughout; losses and budgets are in nats.

Beware of an off-by-one error: sizes are those of the **larger** of two deletion neighbours. With the smaller size in
its place (or the reverse) an upper bound remains one, but a lower bound does not.
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
    r"""Return ``B(x)``, the deletion loss if every other cluster had `other_size` records (Theorems 5.1 and 5.2).

    .. math:: B(x) = \ln\Bigl(1 + \frac{e^\varepsilon - 1}{1 + (1/p - 1)\, e^{-\varepsilon (n_1 - 1 + x)}}\Bigr)

    with ``n_1 >= 1`` the changed cluster's size in the larger population and ``p`` in ``(0, 1]`` the share of the
    clusters that is drawn.
    """
    p, budget = checks.rate(sampling_rate, "sampling_rate"), checks.positive(epsilon, "epsilon")
    records = (
        checks.whole(changed_size, "changed_size", at_least=1)
        - 1
        + checks.non_negative(other_size, "other_size")
    )
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
    changed : int, optional
        Index of the cluster whose record is deleted or replaced. Default is the first one.

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
    Three of five clusters, at epsilon = 0.3:

    >>> design = ClusterSample(sizes=[4, 2, 2, 7, 1], chosen=3)
    >>> round(design.lower_bound(0.3), 4), round(design.loss(0.3), 4), round(design.upper_bound(0.3), 4)
    (0.2557, 0.2742, 0.2916)
    """

    sizes: Any
    chosen: int
    changed: int = 0

    def __post_init__(self) -> None:
        checks.plain(self)
        sizes = checks.counts(self.sizes, "sizes", least=1)
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(
            self, "chosen", checks.whole(self.chosen, "chosen", at_least=1, at_most=len(sizes))
        )
        object.__setattr__(
            self, "changed", checks.whole(self.changed, "changed", at_most=len(sizes) - 1)
        )

    @property
    def sampling_rate(self) -> float:
        """Share of the clusters that is drawn."""
        return self.chosen / len(self.sizes)

    @property
    def _others(self) -> Ints:
        return np.delete(self.sizes, self.changed)

    def lower_bound(self, epsilon: float) -> float:
        """Return the deletion loss that some mechanism reaches on some populations of these sizes (Theorem 5.1)."""
        return self._bound(int(self._others.min(initial=self.sizes.max())), epsilon)

    def upper_bound(self, epsilon: float) -> float:
        """Return the deletion loss that no mechanism exceeds on populations of these sizes (Theorem 5.2)."""
        return self._bound(int(self._others.max(initial=0)), epsilon)

    def _bound(self, other: int, epsilon: float) -> float:
        own, rate = int(self.sizes[self.changed]), self.sampling_rate
        return float(cluster_loss_at(other, epsilon=epsilon, changed_size=own, sampling_rate=rate))

    def two_stage_upper_bound(self, epsilon: float, record_rate: float) -> float:
        """Return an upper bound if records of the drawn clusters are kept independently with a rate (Section 5.2).

        Independent sampling at rate ``q`` makes an epsilon-deletion-DP mechanism ``ln(1 + q (e^epsilon -
        1))``-deletion-DP; that budget goes into Theorem 5.2. For small epsilon the bound approaches ``q`` times the
        bound of the design without a second stage.
        """
        return self.upper_bound(srs_loss(epsilon, record_rate))

    def loss(self, epsilon: float, *, neighbours: str = "deletion") -> float:
        r"""Return the exact largest loss over all deletion-DP mechanisms and all populations of these cluster sizes.

        With ``w_i = e^(-epsilon n_i)`` over the other clusters and ``rho = e_(m-1)(w)/e_m(w)``, a ratio of elementary
        symmetric polynomials,

        .. math:: \ln\frac{1 + \rho\, e^{\varepsilon n_1}}{1 + \rho\, e^{\varepsilon (n_1 - h)}}

        where ``h`` is 1 for deletion and 2 for replacement neighbours. The optimal mechanism counts the records of the
        changed cluster positively and all others negatively, adds Laplace noise and looks at the tail. It takes
        O(distinct sizes times bandwidth): see `log_symmetric_ratio`.

        Clusters of one record are simple random sampling; replacing one costs the mechanism ``2 epsilon``: ``ln(1 +
        (e - 1)/4)`` at epsilon 1/2.

        >>> round(ClusterSample([1, 1, 1, 1], 1).loss(0.5, neighbours="replacement"), 12)
        0.357374019509
        """
        checks.choice(neighbours, "neighbours", among=("deletion", "replacement"))
        step = checks.positive(epsilon, "epsilon") * (1 if neighbours == "deletion" else 2)
        return weighted_loss(step, self._log_odds(epsilon) - step)

    def identifying_confusion(self, epsilon: float) -> float:
        r"""Return ``beta`` of the optimal mechanism: its tail's chance without the changed cluster over that with.

        ``beta = e_m(w) C(k-1, m-1) / (e_(m-1)(w) C(k-1, m) e^(epsilon n_1))``, and Theorem 5.3 with this ``beta`` and
        ``epsilon-hat = epsilon`` gives the exact optimum `loss`.
        """
        if self.chosen == len(self.sizes):
            raise ValueError(
                f"chosen must leave a cluster out, got chosen={self.chosen} of {self.chosen}"
            )
        return float(np.exp(logit(self.sampling_rate) - self._log_odds(epsilon)))

    def _log_odds(self, epsilon: float) -> float:
        """Return ``ln(rho e^(epsilon n_1))``: the odds, given the optimal tail event, that the cluster was drawn."""
        weights = -checks.positive(epsilon, "epsilon") * (
            self._others + self.sizes[self.changed]
        ).astype(float)
        return log_symmetric_ratio(weights, self.chosen)


def log_symmetric_ratio(log_weights: ArrayLike, order: int) -> float:
    """Return ``ln(e_(m-1)(w) / e_m(w))`` of elementary symmetric polynomials, for weights of any scale.

    Multiplying every weight by ``z`` turns the ratio of the polynomials into ``z`` times the ratio of two
    probabilities: that a sum of independent coins with odds ``z w_i`` shows ``m - 1`` or ``m`` heads. With ``z`` chosen
    so that ``m - 1/2`` heads are expected, both are near the mode and hence accurately given by a short discrete
    Fourier sum, however many coins there are. Coins that are certain up to ``e^-60`` are counted, not summed over.

    - `log_weights`, (k,) float: ``ln w_i``.
    - `order`, int: ``m``, with ``1 <= m <= k + 1``; at ``m = k + 1`` the ratio is infinite.
    """
    weights, repeats = np.unique(np.asarray(log_weights, dtype=float), return_counts=True)
    count = int(repeats.sum())
    order = checks.whole(order, "order", at_least=1, at_most=count + 1)
    if order == count + 1:
        return np.inf
    log_scale = _balance(weights, repeats, order - 0.5)
    undecided = np.abs(log_scale + weights) < 60
    certain = int(repeats[~undecided & (log_scale + weights > 0)].sum())
    heads = expit(log_scale + weights[undecided])
    fewer, exactly = _two_central_probabilities(heads, repeats[undecided], order - certain)
    return log_scale + float(np.log(fewer) - np.log(exactly))


def _balance(weights: Floats, repeats: Ints, expected: float) -> float:
    """Return some ``ln z`` at which coins with log-odds ``ln z + weights`` show about `expected` heads on average.

    A hundredth of a head is near enough: the ratio is the same for every ``z``.
    """
    from scipy.optimize import brentq

    count = repeats.sum()
    margin = np.log(count) + 2
    low, high = -weights.max() - margin, -weights.min() + margin
    return float(
        brentq(
            lambda scale: repeats @ expit(scale + weights) - expected, low, high, xtol=0.04 / count
        )
    )


def _two_central_probabilities(heads: Floats, repeats: Ints, order: int) -> tuple[float, float]:
    """Return multiples of the chances of ``order - 1`` and ``order`` heads, where about ``order - 1/2`` are expected.

    A Fourier sum of ``period`` points gives the total of all chances that lie a multiple of ``period`` apart; the
    period is so long that only one of them counts (Bernstein's inequality at 1e-20), and the high frequencies, below
    1e-20 as well, are left out.
    """
    spread = float(repeats @ (heads * (1 - heads)))
    period = min(int(repeats.sum()) + 1, int(17 + np.sqrt(240 + 95 * spread)) + 1)
    angles = 2 * np.pi * np.arange(period // 2 + 1) / period
    angles = angles[2 * spread * np.sin(angles / 2) ** 2 < 48]
    transform = np.array([repeats @ np.log1p(heads * turn) for turn in np.exp(1j * angles) - 1])
    twice = np.where((angles == 0) | (np.abs(angles - np.pi) < 1e-12), 1.0, 2.0)
    fewer, exactly = (
        float(twice @ np.exp(transform - 1j * angles * m).real) for m in (order - 1, order)
    )
    return fewer, exactly


def identified_cluster_loss_lower_bound(
    known_loss: Real, *, confusion: Real, sampling_rate: Real
) -> Real:
    r"""Return the loss if the output tells whether the changed cluster was drawn (Theorem 5.3 before its last step).

    .. math:: \ln\frac{p + (1 - p)\beta}{p\,e^{-\hat\varepsilon} + (1 - p)\beta}

    with ``p`` the chance that the cluster is drawn.

    - `known_loss`, float: loss ``epsilon-hat`` of an event given that the changed cluster was drawn, nats, ``>= 0``.
    - `confusion`, float: ``beta``: probability of the event without the cluster over that with it, ``>= 0``; at 0 the
      secrecy of the sample is lost.
    - `sampling_rate`, float: ``p``, in ``(0, 1]``.
    """
    p, beta = (
        checks.rate(sampling_rate, "sampling_rate"),
        checks.non_negative(confusion, "confusion"),
    )
    loss = checks.non_negative(known_loss, "known_loss")
    return np.log1p(-np.expm1(-loss) / (np.exp(-loss) + (1 - p) / p * beta))


def identified_cluster_loss_weak_bound(
    known_loss: Real, *, confusion: Real, sampling_rate: Real, epsilon: Real
) -> Real:
    r"""Return ``epsilon-hat - ln(1 + (1-p)/p beta e^epsilon)``, the weaker form of Theorem 5.3.

    It follows from `identified_cluster_loss_lower_bound` by ``epsilon-hat <= epsilon`` and may be negative.
    """
    p, beta = (
        checks.rate(sampling_rate, "sampling_rate"),
        checks.non_negative(confusion, "confusion"),
    )
    loss, budget = (
        checks.non_negative(known_loss, "known_loss"),
        checks.positive(epsilon, "epsilon"),
    )
    # 1 + c e^x = (1 + c) (1 + c / (1 + c) (e^x - 1))
    odds = (1 - p) / p * beta
    return loss - np.log1p(odds) - log_mixed(odds / (1 + odds), budget)


def critical_cluster_size(share: float, *, epsilon: float, sampling_rate: float) -> float:
    """Return the common cluster size at which the deletion loss reaches the fraction `share` of epsilon.

    It solves ``B(n) = share * epsilon`` for clusters of one size ``n``, with the bound of Theorems 5.1 and 5.2, which
    is exact then. A result below 1 means that even clusters of one record lose that much. `share` and `sampling_rate`,
    the fraction of the clusters that is drawn, lie in ``(0, 1)``.

    >>> round(critical_cluster_size(0.9, epsilon=0.1, sampling_rate=0.1), 6)
    22.223912
    """
    part, budget = checks.open_probability(share, "share"), checks.positive(epsilon, "epsilon")
    p = checks.open_probability(sampling_rate, "sampling_rate")
    low, high = sorted((part, p))
    log_odds = np.copysign(
        np.log1p((high - low) / (low * (1 - high))), p - part
    )  # logit(p) - logit(share)
    bend = _log_sinhc((1 - part) * budget / 2) - _log_sinhc(part * budget / 2)
    return float(0.25 - (log_odds + bend) / budget / 2)


def _log_sinhc(x: float) -> float:
    """Return ``ln(sinh(x) / x)``, at small ``x`` by its series."""
    if x < 0.1:
        return x**2 / 6 - x**4 / 180 + x**6 / 2835 - x**8 / 37_800
    return x + float(np.log(-np.expm1(-2 * x) / (2 * x)))
