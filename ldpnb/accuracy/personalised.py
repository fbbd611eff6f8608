"""Exact means and variances when sampling rates differ between nodes, and the rates that are best.

Nodes come in groups of one rate. ``holders`` is the number of nodes of each group that hold the value in question and
``sizes`` the number of nodes of each group, both ``(g,)``; data are fixed. Sums ``sum_j`` run over nodes; ``s_j`` is
``p`` for a holder and ``q`` for any other node. Use `optimal_rates` to spend a budget of reports on nodes that differ
in noise or cost.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

Values = NDArray[np.float64]


def mean_personalised(holders: ArrayLike, *, sizes: ArrayLike, rates: ArrayLike) -> float:
    """Return ``n sum_{j holds i} pi_j / sum_j pi_j``, the exact mean of ``T``, whatever the mechanism.

    Parameters
    ----------
    holders, sizes : (g,) float
        Nodes of each group with the value, and in all.
    rates : (g,) float
        Sampling rates in ``(0, 1]``.

    Returns
    -------
    float

    References
    ----------
    Theorem 5.1 of biswas2022 says ``n f``; that takes holders that are sampled, on average, as often as all nodes.

    Examples
    --------
    >>> mean_personalised([10, 0], sizes=[10, 10], rates=[0.6, 0.2])
    15.0
    """
    held, size, rate = groups_of_nodes(holders, sizes, rates)
    return float(size.sum() * (held @ rate) / (size @ rate))


def variance_personalised(
    holders: ArrayLike, *, sizes: ArrayLike, rates: ArrayLike, mechanism: KaryRandomisedResponse
) -> float:
    """Return ``n^2 sum_j pi_j s_j (1 - pi_j s_j) / ((sum_j pi_j)^2 (p-q)^2)``, the exact variance of ``T``.

    Parameters
    ----------
    holders, sizes, rates
        As in `mean_personalised`.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    float

    References
    ----------
    What the proof of Theorem 5.1 of biswas2022 sets out to compute; see `published_variance_personalised`.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(variance_personalised([0], sizes=[100], rates=[0.5], mechanism=mechanism), 9)
    175.0
    """
    held, size, rate = groups_of_nodes(holders, sizes, rates)
    kept, switched = rate * mechanism.p, rate * mechanism.q
    total = held @ (kept * (1 - kept)) + (size - held) @ (switched * (1 - switched))
    return float(total * (size.sum() / ((size @ rate) * mechanism.truthful_rate)) ** 2)


def rare_variance_personalised(*, sizes: ArrayLike, rates: ArrayLike, mechanism: KaryRandomisedResponse) -> float:
    """Return ``Var*(T) = n^2 sum_j q pi_j (1 - q pi_j) / ((sum_j pi_j)^2 (p-q)^2)``, the variance at a value that
    nobody holds.

    For a given sum of the rates it is concave in them, so equal rates are its maximum.

    Parameters
    ----------
    sizes, rates : (g,) float
        As in `mean_personalised`.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    float

    References
    ----------
    Theorem 5.1 of biswas2022.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(rare_variance_personalised(sizes=[100], rates=[0.5], mechanism=mechanism), 9)
    175.0
    """
    _, size, rate = groups_of_nodes(0, sizes, rates)
    chance = mechanism.q * rate
    return float(size.sum() ** 2 * (size @ (chance * (1 - chance))) / ((size @ rate) * mechanism.truthful_rate) ** 2)


def published_variance_personalised(
    holders: ArrayLike, *, sizes: ArrayLike, rates: ArrayLike, mechanism: KaryRandomisedResponse
) -> float:
    """Return the variance of ``T`` as displayed in the proof of Theorem 5.1 of biswas2022, its missing indices put in.

    ``n^2 sum_j [pi_j (1-pi_j) (v + r^2) + pi_j^2 v] / ((sum_j pi_j)^2 (p-q)^2)`` with ``v = f p(1-p) + (1-f) q(1-q)``,
    ``r = f p + (1-f) q``: every node is taken for an average one, and the spread of ``s_j`` between nodes is lost.

    Parameters
    ----------
    holders, sizes, rates, mechanism
        As in `variance_personalised`.

    Returns
    -------
    float

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(published_variance_personalised([0], sizes=[100], rates=[0.5], mechanism=mechanism), 9)
    175.0
    """
    held, size, rate = groups_of_nodes(holders, sizes, rates)
    p, q, share = mechanism.p, mechanism.q, held.sum() / size.sum()
    noise, mean_report = share * p * (1 - p) + (1 - share) * q * (1 - q), share * p + (1 - share) * q
    total = size @ (rate * (1 - rate) * (noise + mean_report**2) + rate**2 * noise)
    return float(total * (size.sum() / ((size @ rate) * mechanism.truthful_rate)) ** 2)


def variance_horvitz_thompson(
    holders: ArrayLike, *, sizes: ArrayLike, rates: ArrayLike, mechanism: KaryRandomisedResponse
) -> float:
    """Return ``sum_j [s_j (1-s_j) / pi_j + (s_j - q)^2 (1/pi_j - 1)] / (p-q)^2``, the exact variance of
    Horvitz-Thompson.

    Parameters
    ----------
    holders, sizes, rates, mechanism
        As in `variance_personalised`.

    Returns
    -------
    float

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(variance_horvitz_thompson([0], sizes=[100], rates=[0.5], mechanism=mechanism), 9)
    150.0
    """
    return inverse_rate_variance(*groups_of_nodes(holders, sizes, rates), mechanism, mechanism.q)


def variance_reweighted_reports(
    holders: ArrayLike, *, nodes: int, report_rates: ArrayLike, mechanism: KaryRandomisedResponse
) -> Values:
    """Return ``[n_i (p/pi(i) - p^2) + (n - n_i) (q/pi(i) - q^2)] / (p-q)^2`` for reports sent with a probability that
    depends on the report.

    Parameters
    ----------
    holders : (k,) float
        Nodes that hold each value.
    nodes : int
        Number ``n`` of nodes.
    report_rates : (k,) float
        Probability ``pi(y)`` in ``(0, 1]`` of sending the report ``y``.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    (k,) float

    References
    ----------
    Exact variance of `ldpnb.estimators.sampling.reweighted_reports`.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> variance_reweighted_reports([0, 4], nodes=4, report_rates=[0.5, 1.0], mechanism=mechanism).round(9).tolist()
    [7.0, 3.0]
    """
    held, rate = np.asarray(holders, dtype=float), _rates(report_rates)
    kept, switched = (s / rate - s**2 for s in (mechanism.p, mechanism.q))
    total = checks.whole(nodes=nodes, at_least=1)
    return np.asarray((held * kept + (total - held) * switched) / mechanism.truthful_rate**2)


def report_noise(mechanism: KaryRandomisedResponse) -> float:
    """Return ``A = q (1-q) / (p-q)^2``, a node's contribution to the variance at a value that nobody holds.

    Parameters
    ----------
    mechanism : KaryRandomisedResponse

    Returns
    -------
    float

    References
    ----------
    Theorem 3.2 of biswas2022 at a sampling rate of 1, per node.

    Examples
    --------
    >>> round(float(report_noise(KaryRandomisedResponse(np.log(3), 2))), 9)
    0.75
    """
    return mechanism.q * (1 - mechanism.q) / mechanism.truthful_rate**2


def rare_variance_horvitz_thompson(*, noises: ArrayLike, sizes: ArrayLike, rates: ArrayLike) -> float:
    """Return ``sum_j A_j / pi_j``, the variance of Horvitz-Thompson at a value that nobody holds, when noise differs
    between nodes too.

    Parameters
    ----------
    noises : (g,) float
        A node's `report_noise`, by group.
    sizes, rates : (g,) float
        Nodes of each group and their sampling rates in ``(0, 1]``.

    Returns
    -------
    float

    Examples
    --------
    >>> rare_variance_horvitz_thompson(noises=[0.75], sizes=[100], rates=[0.5])
    150.0
    """
    _, size, rate = groups_of_nodes(0, sizes, rates)
    return float(size @ (np.asarray(noises, dtype=float) / rate))


def optimal_rates(*, noises: ArrayLike, costs: ArrayLike, sizes: ArrayLike, budget: float) -> Values:
    """Return the sampling rates that minimise ``sum_j A_j / pi_j`` when reports cost ``k_j`` and ``sum_j k_j pi_j`` may
    not exceed a budget.

    ``pi_j = min(1, lambda sqrt(A_j / k_j))``; ``lambda`` spends the budget. Groups are capped in order of ``A_j / k_j``
    until the rest needs no cap, so the solution is exact.

    Parameters
    ----------
    noises : (g,) float
        ``A_j > 0``, a node's `report_noise`, by group.
    costs : (g,) float
        ``k_j > 0``.
    sizes : (g,) float
        Nodes of each group.
    budget : float
        ``> 0``; at or above the cost of asking everybody all rates are 1.

    Returns
    -------
    (g,) float

    References
    ----------
    Open question (iii) of biswas2022, Section 6, for nodes that differ; Neyman allocation with a cap.

    Examples
    --------
    >>> optimal_rates(noises=[4.0, 1.0], costs=[1.0, 1.0], sizes=[10, 10], budget=6).round(9).tolist()
    [0.4, 0.2]
    >>> optimal_rates(noises=[9.0, 1.0], costs=[1.0, 1.0], sizes=[10, 10], budget=16).round(9).tolist()
    [1.0, 0.6]
    """
    noise, cost, size = (
        _positive(name, value) for name, value in (("noises", noises), ("costs", costs), ("sizes", sizes))
    )
    if not noise.shape == cost.shape == size.shape:
        raise ValueError(
            f"noises, costs and sizes must have one entry per group, got {noise.size}, {cost.size}, {size.size}"
        )
    left = checks.positive(budget=budget)
    pull, rates = np.sqrt(noise / cost), np.ones(noise.size)
    order = np.argsort(-pull, kind="stable")
    for position, group in enumerate(order):
        rest = order[position:]
        scale = left / (size * cost * pull)[rest].sum()
        if scale * pull[group] <= 1:
            rates[rest] = scale * pull[rest]
            break
        left -= size[group] * cost[group]
    return rates


def inverse_rate_variance(
    holders: Values, sizes: Values, rates: Values, mechanism: KaryRandomisedResponse, centre: float
) -> float:
    """Return the variance of the sum of ``(1{report i} - centre) / pi_j`` over the nodes that are sampled, over
    ``(p-q)^2``.
    """

    def one_node(chance: float) -> Values:
        return chance * (1 - chance) / rates + (chance - centre) ** 2 * (1 / rates - 1)

    total = holders @ one_node(mechanism.p) + (sizes - holders) @ one_node(mechanism.q)
    return float(total / mechanism.truthful_rate**2)


def groups_of_nodes(holders: ArrayLike, sizes: ArrayLike, rates: ArrayLike) -> tuple[Values, Values, Values]:
    """Return holders, sizes and rates as arrays of one shape, after checking them."""
    size, rate = _positive("sizes", sizes), _rates(rates)
    held = np.broadcast_to(np.asarray(holders, dtype=float), size.shape)
    if rate.shape != size.shape:
        raise ValueError(f"rates must have one entry per group, {size.size}, got {rate.size}")
    if not ((held >= 0) & (held <= size)).all():
        raise ValueError(f"holders must lie between 0 and the group's size, got holders={held.tolist()!r}")
    return held, size, rate


def _positive(name: str, values: ArrayLike) -> Values:
    array = np.atleast_1d(np.asarray(values, dtype=float))
    if not (np.isfinite(array) & (array > 0)).all():
        raise ValueError(f"{name} must be > 0 and finite, got {name}={array.tolist()!r}")
    return array


def _rates(rates: ArrayLike) -> Values:
    array = np.atleast_1d(np.asarray(rates, dtype=float))
    if not ((array > 0) & (array <= 1)).all():
        raise ValueError(f"rates must lie in (0, 1], got rates={array.tolist()!r}")
    return array
