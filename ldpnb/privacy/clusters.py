"""Privacy of a mechanism that sees whole clusters drawn by simple random sampling: the source's bounds and the exact
optimum.

A population consists of disjoint clusters; ``chosen`` of them are drawn without replacement and all their records kept.
One record of the cluster ``changed`` is removed (deletion) or altered (replacement). The mechanism on the sample is
epsilon-*deletion*-DP throughout.

Convention, and the off-by-one trap: `sizes` are those of the **larger** of two deletion neighbours. With ``B(x)`` the
bound of Theorems 5.1 and 5.2 as a function of the other clusters' size ``x``, writing the smaller size where the larger
one belongs (or the reverse) still gives an upper bound, but no longer a lower one.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from ldpnb import checks
from ldpnb.privacy.subsampling import srs_loss, weighted_loss


def cluster_loss_at(other_size: float, *, epsilon: float, changed_size: int, sampling_rate: float) -> float:
    r"""Return ``B(x)``, the loss if every other cluster had `other_size` records (Theorems 5.1 and 5.2 of bun2022).

    .. math:: B(x) = \ln\Bigl(1 + \frac{e^\varepsilon - 1}{1 + (1/p - 1)\, e^{-\varepsilon (n_1 - 1 + x)}}\Bigr)

    Parameters
    ----------
    other_size : float
        Size ``x`` of the other clusters.
    epsilon : float
        Budget of the deletion-DP mechanism on the sample, nats.
    changed_size : int
        Size ``n_1 >= 1`` of the changed cluster in the larger population.
    sampling_rate : float
        Fraction ``p`` of the clusters that is drawn, in ``(0, 1]``.

    Returns
    -------
    float
        Nats.

    Examples
    --------
    Clusters of one record each, half of them drawn, ``epsilon = ln 2``: ``ln(1 + 1/(1 + 1/2)) = ln(5/3)``.

    >>> from math import exp, log
    >>> round(exp(cluster_loss_at(1, epsilon=log(2), changed_size=1, sampling_rate=0.5)), 12)
    1.666666666667
    """
    rate = checks.rate(sampling_rate=sampling_rate)
    size = checks.whole(changed_size=changed_size, at_least=1)
    budget = checks.positive(epsilon=epsilon)
    others = checks.non_negative(other_size=other_size)
    return weighted_loss(budget, float(logit(rate)) + budget * (size - 1 + others))


def cluster_loss_lower_bound(sizes: ArrayLike, chosen: int, *, epsilon: float, changed: int = 0) -> float:
    """Return the loss in nats that some deletion-DP mechanism reaches on some populations of these sizes (Theorem 5.1
    of bun2022).

    Parameters
    ----------
    sizes : (clusters,) int
        Cluster sizes in the larger population, each ``>= 1``.
    chosen : int
        Number of clusters drawn.
    epsilon : float
        Budget of the mechanism on the sample, nats.
    changed : int
        Index of the cluster that loses a record.

    Examples
    --------
    >>> round(cluster_loss_lower_bound([4, 2, 2, 7, 1], 3, epsilon=0.3), 9)
    0.255692601
    """
    held, drawn = _clusters(sizes, chosen, changed)
    smallest = int(np.delete(held, changed).min(initial=held.max()))
    return _bound(smallest, held, drawn, epsilon, changed)


def cluster_loss_upper_bound(sizes: ArrayLike, chosen: int, *, epsilon: float, changed: int = 0) -> float:
    """Return the loss in nats that no deletion-DP mechanism exceeds on populations of these sizes (Theorem 5.2 of
    bun2022).

    Parameters are those of `cluster_loss_lower_bound`.

    Examples
    --------
    >>> round(cluster_loss_upper_bound([4, 2, 2, 7, 1], 3, epsilon=0.3), 9)
    0.291638902
    """
    held, drawn = _clusters(sizes, chosen, changed)
    largest = int(np.delete(held, changed).max(initial=0))
    return _bound(largest, held, drawn, epsilon, changed)


def _bound(other_size: int, sizes: NDArray[np.int64], chosen: int, epsilon: float, changed: int) -> float:
    return cluster_loss_at(
        other_size, epsilon=epsilon, changed_size=int(sizes[changed]), sampling_rate=chosen / len(sizes)
    )


def cluster_loss(
    sizes: ArrayLike, chosen: int, *, epsilon: float, neighbours: str = "deletion", changed: int = 0
) -> float:
    r"""Return the exact largest loss over all deletion-DP mechanisms and all populations of these cluster sizes.

    With ``w_i = e^(-epsilon n_i)`` over the other clusters and ``rho = e_(m-1)(w)/e_m(w)``, a ratio of elementary
    symmetric polynomials,

    .. math:: \ln\frac{1 + \rho\, e^{\varepsilon n_1}}{1 + \rho\, e^{\varepsilon (n_1 - h)}}

    where ``h`` is 1 for deletion and 2 for replacement. The optimal mechanism counts the records of the changed cluster
    positively and all others negatively, adds Laplace noise and looks at the tail. No mechanism does better, because
    the draws of ``m`` and of ``m - 1`` of the other clusters, weighted by ``w``, couple by inclusion.

    Parameters
    ----------
    sizes : (clusters,) int
        Cluster sizes in the larger population, each ``>= 1``.
    chosen : int
        Number ``m`` of clusters drawn, ``1 <= m <= clusters``.
    epsilon : float
        Budget of the mechanism on the sample, nats.
    neighbours : {"deletion", "replacement"}
        Whether the changed cluster loses a record or has one altered.
    changed : int
        Index of the changed cluster.

    Returns
    -------
    float
        Nats.

    Notes
    -----
    Takes O(distinct sizes x bandwidth): see `log_symmetric_ratio`.

    Examples
    --------
    Clusters of one record are simple random sampling; replacing one costs the mechanism ``2 epsilon``: ``ln(1 + (e -
    1)/4)`` at epsilon 1/2.

    >>> round(cluster_loss([1, 1, 1, 1], 1, epsilon=0.5, neighbours="replacement"), 12)
    0.357374019509
    >>> round(float(np.log(1 + (np.e - 1) / 4)), 12)
    0.357374019509
    """
    held, drawn = _clusters(sizes, chosen, changed)
    budget = checks.positive(epsilon=epsilon)
    checks.choice(neighbours=neighbours, among=("deletion", "replacement"))
    others = np.delete(held, changed)
    log_rho = log_symmetric_ratio(-budget * (others + held[changed]).astype(float), drawn)
    step = budget if neighbours == "deletion" else 2 * budget
    return weighted_loss(step, log_rho - step)


def log_symmetric_ratio(log_weights: ArrayLike, order: int) -> float:
    """Return ``ln(e_(m-1)(w) / e_m(w))`` of elementary symmetric polynomials, for weights of any scale.

    Multiplying every weight by ``z`` turns the ratio of the polynomials into ``z`` times the ratio of two
    probabilities: that a sum of independent coins with odds ``z w_i`` shows ``m - 1`` or ``m`` heads. With ``z`` chosen
    so that ``m - 1/2`` heads are expected, both are near the mode and hence accurately given by a short discrete
    Fourier sum, however many coins there are. Coins that are certain up to ``e^-60`` are counted, not summed over.

    Parameters
    ----------
    log_weights : (k,) float
        ``ln w_i``.
    order : int
        ``m``, with ``1 <= m <= k + 1``; at ``m = k + 1`` the ratio is infinite.

    Returns
    -------
    float

    Examples
    --------
    ``e_1 = 6`` and ``e_2 = 11`` for the weights 1, 2, 3:

    >>> round(float(np.exp(-log_symmetric_ratio(np.log([1, 2, 3]), 2))) * 6, 12)
    11.0
    """
    weights, repeats = np.unique(np.asarray(log_weights, dtype=float), return_counts=True)
    count = int(repeats.sum())
    order = checks.whole(order=order, at_least=1)
    if order > count + 1:
        raise ValueError(f"order must be at most {count + 1}, got order={order}")
    if order == count + 1:
        return np.inf
    log_scale = _balance(weights, repeats, order - 0.5)
    undecided = np.abs(log_scale + weights) < 60
    certain = int(repeats[~undecided & (log_scale + weights > 0)].sum())
    heads = expit(log_scale + weights[undecided])
    fewer, exactly = _two_central_probabilities(heads, repeats[undecided], order - certain)
    return log_scale + float(np.log(fewer) - np.log(exactly))


def _balance(weights: NDArray[np.float64], repeats: NDArray[np.int64], expected: float) -> float:
    """Return some ``ln z`` at which coins with log-odds ``ln z + weights`` show about `expected` heads on average.

    Newton's method kept inside a shrinking bracket. A hundredth of a head is near enough: the ratio is the same for
    every ``z``.
    """
    margin = float(np.log(repeats.sum())) + 2
    low, high = -float(weights.max()) - margin, -float(weights.min()) + margin
    log_scale = (low + high) / 2
    while high - low > 1e-12 * (1 + abs(low) + abs(high)):
        heads = expit(log_scale + weights)
        surplus, slope = float(repeats @ heads) - expected, float(repeats @ (heads * (1 - heads)))
        if abs(surplus) < 0.01:
            break
        low, high = (low, log_scale) if surplus > 0 else (log_scale, high)
        step = log_scale - surplus / slope if slope > 0 else np.nan
        log_scale = step if low < step < high else (low + high) / 2
    return log_scale


def _two_central_probabilities(
    heads: NDArray[np.float64], repeats: NDArray[np.int64], order: int
) -> tuple[float, float]:
    """Return the chances of ``order - 1`` and of ``order`` heads, given that about ``order - 1/2`` are expected.

    A Fourier sum of ``period`` points gives the total of all chances that lie a multiple of ``period`` apart; the
    period is so long that only one of them counts (Bernstein's inequality at 1e-20), and the high frequencies, below
    1e-20 as well, are left out.
    """
    spread = float(repeats @ (heads * (1 - heads)))
    period = min(int(repeats.sum()) + 1, int(17 + np.sqrt(240 + 95 * spread)) + 1)
    frequencies = np.arange(period // 2 + 1)
    angles = 2 * np.pi * frequencies / period
    angles = angles[(2 * spread * np.sin(angles / 2) ** 2 < 48) | (frequencies < 2)]
    transform = np.array([repeats @ np.log1p(heads * turn) for turn in np.exp(1j * angles) - 1])
    twice = np.where((angles == 0) | (np.abs(angles - np.pi) < 1e-12), 1.0, 2.0)
    fewer, exactly = (float(twice @ np.exp(transform - 1j * angles * m).real) / period for m in (order - 1, order))
    return fewer, exactly


def two_stage_loss_upper_bound(
    sizes: ArrayLike, chosen: int, *, epsilon: float, sampling_rate: float, changed: int = 0
) -> float:
    """Return an upper bound in nats if records of the drawn clusters are kept independently with a rate (Section 5.2 of
    bun2022).

    Independent sampling at rate ``q`` makes an epsilon-deletion-DP mechanism ``ln(1 + q (e^epsilon - 1))``-deletion-DP;
    that budget goes into Theorem 5.2. For small epsilon the bound approaches ``q`` times the bound of the design
    without a second stage.

    Parameters
    ----------
    sizes, chosen, changed
        As for `cluster_loss`.
    epsilon : float
        Budget of the deletion-DP mechanism on the sample, nats.
    sampling_rate : float
        Chance ``q`` that a record of a drawn cluster is kept.
    """
    after = srs_loss(epsilon, sampling_rate)
    return cluster_loss_upper_bound(sizes, chosen, epsilon=after, changed=changed)


def identified_cluster_loss_lower_bound(known_loss: float, *, confusion: float, sampling_rate: float) -> float:
    r"""Return the loss that follows if the output tells whether the changed cluster was drawn (Theorem 5.3 of bun2022,
    before its last step).

    .. math:: \ln\frac{p + (1 - p)\beta}{p\,e^{-\hat\varepsilon} + (1 - p)\beta}

    Parameters
    ----------
    known_loss : float
        Loss ``epsilon-hat`` of an event given that the changed cluster was drawn, nats, ``>= 0``.
    confusion : float
        ``beta``: probability of the event without the cluster over that with it, ``>= 0``.
    sampling_rate : float
        Chance ``p`` that the cluster is drawn.

    Returns
    -------
    float
        Nats. With ``confusion = 0`` nothing is left of the secrecy of the sample: the known loss itself.

    Examples
    --------
    >>> round(identified_cluster_loss_lower_bound(0.8, confusion=0.0, sampling_rate=0.2), 12)
    0.8
    """
    rate, beta = checks.rate(sampling_rate=sampling_rate), checks.non_negative(confusion=confusion)
    loss = checks.non_negative(known_loss=known_loss)
    with np.errstate(divide="ignore"):
        return weighted_loss(loss, float(logit(rate) - np.log(beta)) - loss)


def identified_cluster_loss_weak_bound(
    known_loss: float, *, confusion: float, sampling_rate: float, epsilon: float
) -> float:
    r"""Return ``epsilon-hat - ln(1 + (1-p)/p beta e^epsilon)``, the weaker form of Theorem 5.3 of bun2022.

    It follows from `identified_cluster_loss_lower_bound` by ``epsilon-hat <= epsilon`` and may be negative.

    Examples
    --------
    >>> round(identified_cluster_loss_weak_bound(0.8, confusion=0.05, sampling_rate=0.2, epsilon=1.0), 9)
    0.365846134
    """
    rate, beta = checks.rate(sampling_rate=sampling_rate), checks.non_negative(confusion=confusion)
    loss, budget = checks.non_negative(known_loss=known_loss), checks.positive(epsilon=epsilon)
    return float(loss - np.log1p((1 - rate) / rate * beta * np.exp(budget)))


def identifying_confusion(sizes: ArrayLike, chosen: int, *, epsilon: float, changed: int = 0) -> float:
    r"""Return ``beta`` of the optimal mechanism: how much likelier its tail event is with the changed cluster drawn
    than without.

    The mechanism counts the changed cluster's records positively and all others negatively, with Laplace noise. Then
    ``beta = e_m(w) C(k-1, m-1) / (e_(m-1)(w) C(k-1, m) e^(epsilon n_1))``, and Theorem 5.3 of bun2022 with this
    ``beta`` and ``epsilon-hat = epsilon`` gives the exact optimum `cluster_loss`.

    Examples
    --------
    Two clusters of one record, one drawn: ``beta = e^(-2 epsilon)``.

    >>> round(identifying_confusion([1, 1], 1, epsilon=0.5), 12) == round(float(np.exp(-1)), 12)
    True
    """
    held, drawn = _clusters(sizes, chosen, changed)
    if drawn == len(held):
        raise ValueError(f"chosen must leave a cluster out, got chosen={drawn} of {len(held)}")
    others = np.delete(held, changed)
    log_rho = log_symmetric_ratio(-checks.positive(epsilon=epsilon) * (others + held[changed]).astype(float), drawn)
    return float(np.exp(logit(drawn / len(held)) - log_rho))


def critical_cluster_size(share: float, *, epsilon: float, sampling_rate: float) -> float:
    """Return the common cluster size at which the deletion loss reaches the fraction `share` of epsilon: where
    amplification is lost.

    It solves ``B(n) = share * epsilon`` for clusters of one size ``n``, with the bound of Theorems 5.1 and 5.2 of
    bun2022, which is exact then. A result below 1 means that even clusters of one record lose that much.

    Parameters
    ----------
    share : float
        In ``(0, 1)``.
    epsilon : float
        Budget of the deletion-DP mechanism on the sample, nats.
    sampling_rate : float
        Fraction of the clusters that is drawn, in ``(0, 1)``.
    """
    part, budget = checks.open_probability(share=share), checks.positive(epsilon=epsilon)
    rate = checks.open_probability(sampling_rate=sampling_rate)
    weight = np.exp((part - 1) * budget) * np.expm1(-part * budget) / np.expm1(-budget)
    return float((1 + (logit(weight) - logit(rate)) / budget) / 2)


def _clusters(sizes: Any, chosen: int, changed: int) -> tuple[NDArray[np.int64], int]:
    held = checks.counts(sizes=sizes)
    if held.min() < 1:
        raise ValueError(f"sizes must be integers >= 1, got sizes[{int(held.argmin())}]={held.min()}")
    drawn = checks.whole(chosen=chosen, at_least=1)
    if drawn > len(held):
        raise ValueError(f"chosen must be at most the number of clusters, {len(held)}, got chosen={drawn}")
    if not 0 <= checks.whole(changed=changed) < len(held):
        raise ValueError(f"changed must be an index below {len(held)}, got changed={changed}")
    return held, drawn
