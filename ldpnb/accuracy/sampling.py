"""Exact means and variances of the estimates in `ldpnb.estimators.sampling` at a common sampling rate.

Two models of the data. ``data="fixed"``: the nodes' values are given, and only sampling and randomisation are random.
``data="iid"``: the values are independent draws as well. In both, a node adds ``B Y`` to a tally, with ``B ~
Bernoulli(pi)`` whether it reports and ``Y ~ Bernoulli(s)`` whether its report is the value in question; ``s`` is ``p``
for a holder, ``q`` for another node, and ``r = f p + (1-f) q`` for a random one.

Everywhere ``holders`` is the number ``n f`` of nodes with the value (its expectation under ``iid``), a number or an
array by value; results have its shape and are in nodes, variances in nodes squared.
"""

from collections.abc import Callable
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

Data = Literal["fixed", "iid"]
Values = NDArray[np.float64]


class Setting(TypedDict):
    """The keywords that these formulas share: ``variance_rescaled(holders, **setting)``."""

    nodes: int
    sampling_rate: float
    mechanism: KaryRandomisedResponse


def mean_unadjusted(
    holders: ArrayLike, *, nodes: int, sampling_rate: float, mechanism: KaryRandomisedResponse
) -> Values:
    """Return ``n f pi - n q (1 - pi) / (p - q)``, the mean of `ldpnb.estimators.sampling.unadjusted` under sampling.

    Parameters
    ----------
    holders : float, any shape
        Nodes that hold the value.
    nodes : int
        Number ``n`` of nodes.
    sampling_rate : float
        Probability ``pi`` in ``(0, 1]``.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    float, shape of `holders`

    References
    ----------
    Equation (4) of biswas2022.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(float(mean_unadjusted(50, nodes=100, sampling_rate=0.5, mechanism=mechanism)), 9)
    0.0
    """
    count, rate = as_holders(holders, nodes), checks.rate(sampling_rate=sampling_rate)
    return count * rate - nodes * mechanism.q * (1 - rate) / mechanism.truthful_rate


def bias_unadjusted(
    holders: ArrayLike, *, nodes: int, sampling_rate: float, mechanism: KaryRandomisedResponse
) -> Values:
    """Return ``-n (1 - pi) (f + 1 / (e^epsilon - 1))``, the bias that Theorem 2.1 of biswas2022 is about.

    It is negative at every rate below 1 and depends on the domain size not at all, since ``q / (p - q) = 1 / (e^epsilon
    - 1)``.

    Parameters
    ----------
    holders, nodes, sampling_rate, mechanism
        As in `mean_unadjusted`.

    Returns
    -------
    float, shape of `holders`

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(float(bias_unadjusted(50, nodes=100, sampling_rate=0.5, mechanism=mechanism)), 9)
    -50.0
    """
    count, rate = as_holders(holders, nodes), checks.rate(sampling_rate=sampling_rate)
    return -(1 - rate) * (count + nodes * _odds(mechanism))


def variance_unadjusted(
    holders: ArrayLike, *, nodes: int, sampling_rate: float, mechanism: KaryRandomisedResponse, data: Data = "fixed"
) -> Values:
    """Return the exact variance of ``c_DE``: the sum over nodes of ``pi s (1 - pi s)``, divided by ``(p - q)^2``.

    Fixed data: ``pi (n f p (1 - pi p) + n (1-f) q (1 - pi q)) / (p - q)^2``; iid data: ``n pi r (1 - pi r) / (p -
    q)^2``.

    Parameters
    ----------
    holders, nodes, sampling_rate, mechanism
        As in `mean_unadjusted`.
    data : {"fixed", "iid"}

    Returns
    -------
    float, shape of `holders`

    References
    ----------
    What the proof of Theorem 3.2 of biswas2022 sets out to compute; see `ldpnb.papers.biswas2022.displayed`.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(float(variance_unadjusted(50, nodes=100, sampling_rate=1.0, mechanism=mechanism)), 9)
    75.0
    """
    rate = checks.rate(sampling_rate=sampling_rate)

    def one_node(chance: Values) -> Values:
        return rate * chance * (1 - rate * chance)

    return _over_nodes(one_node, holders, nodes, mechanism, data) / mechanism.truthful_rate**2


def variance_rescaled(
    holders: ArrayLike, *, nodes: int, sampling_rate: float, mechanism: KaryRandomisedResponse, data: Data = "fixed"
) -> Values:
    """Return the exact variance of ``g_DE``, which is that of ``c_DE`` divided by ``pi^2``.

    Parameters
    ----------
    holders, nodes, sampling_rate, mechanism, data
        As in `variance_unadjusted`.

    Returns
    -------
    float, shape of `holders`

    References
    ----------
    Proof of Theorem 3.2 of biswas2022.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(float(variance_rescaled(0, nodes=100, sampling_rate=0.5, mechanism=mechanism)), 9)
    175.0
    """
    below = variance_unadjusted(holders, nodes=nodes, sampling_rate=sampling_rate, mechanism=mechanism, data=data)
    return below / sampling_rate**2


def variance_realised_size(
    holders: ArrayLike, *, nodes: int, sampling_rate: float, mechanism: KaryRandomisedResponse, data: Data = "fixed"
) -> Values:
    """Return the exact variance of ``c-hat``: the sum over nodes of ``s (1-s) + (1-pi) (s-q)^2``, divided by ``pi (p -
    q)^2``.

    Fixed data: ``(n f (p (1-p) + (1-pi) (p-q)^2) + n (1-f) q (1-q)) / (pi (p-q)^2)``;
    iid data: ``n (r (1-r) + (1-pi) (r-q)^2) / (pi (p-q)^2)``.

    Parameters
    ----------
    holders, nodes, sampling_rate, mechanism, data
        As in `variance_unadjusted`.

    Returns
    -------
    float, shape of `holders`

    References
    ----------
    What the proof of Theorem 3.5 of biswas2022 sets out to compute; see `ldpnb.papers.biswas2022.displayed`.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(float(variance_realised_size(0, nodes=100, sampling_rate=0.5, mechanism=mechanism)), 9)
    150.0
    """
    rate = checks.rate(sampling_rate=sampling_rate)

    def one_node(chance: Values) -> Values:
        return chance * (1 - chance) + (1 - rate) * (chance - mechanism.q) ** 2

    return _over_nodes(one_node, holders, nodes, mechanism, data) / (rate * mechanism.truthful_rate**2)


def variance_ratio(
    holders: ArrayLike, *, nodes: int, sampling_rate: float, mechanism: KaryRandomisedResponse
) -> Values:
    """Return the leading term of the variance of the ratio estimate, for fixed data.

    ``n (f p (1-p) + (1-f) q (1-q) + (1-pi) f (1-f) (p-q)^2) / (pi (p-q)^2)``: `variance_realised_size` with deviations
    taken from the mean report ``r`` instead of ``q``, which is the best control variate; exact as ``n pi`` grows.

    Parameters
    ----------
    holders, nodes, sampling_rate, mechanism
        As in `mean_unadjusted`.

    Returns
    -------
    float, shape of `holders`

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(float(variance_ratio(50, nodes=100, sampling_rate=0.5, mechanism=mechanism)), 9)
    175.0
    """
    rate, count = checks.rate(sampling_rate=sampling_rate), as_holders(holders, nodes)
    share = count / nodes
    mean_report = mechanism.q + share * mechanism.truthful_rate

    def one_node(chance: Values) -> Values:
        return chance * (1 - chance) + (1 - rate) * (chance - mean_report) ** 2

    return _over_nodes(one_node, count, nodes, mechanism, "fixed") / (rate * mechanism.truthful_rate**2)


def variance_gain(holders: ArrayLike, *, nodes: int, sampling_rate: float, mechanism: KaryRandomisedResponse) -> Values:
    """Return ``n (1-pi) q (2r - q) / (pi (p-q)^2)``, the variance of ``g_DE`` minus that of ``c-hat``.

    The same for fixed and iid data. Since ``r >= q > 0`` it is positive at every rate below 1, against Theorem 3.5 of
    biswas2022.

    Parameters
    ----------
    holders, nodes, sampling_rate, mechanism
        As in `mean_unadjusted`.

    Returns
    -------
    float, shape of `holders`

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(float(variance_gain(0, nodes=100, sampling_rate=0.5, mechanism=mechanism)), 9)
    25.0
    """
    count, rate = as_holders(holders, nodes), checks.rate(sampling_rate=sampling_rate)
    mean_report = mechanism.q + count / nodes * mechanism.truthful_rate
    per_node = (1 - rate) * mechanism.q * (2 * mean_report - mechanism.q)
    return nodes * per_node / (rate * mechanism.truthful_rate**2)


def negative_mean_threshold(*, sampling_rate: float, mechanism: KaryRandomisedResponse) -> float:
    """Return ``(1 - pi) / (pi (e^epsilon - 1))``, the share of holders below which the mean of ``c_DE`` is negative.

    Parameters
    ----------
    sampling_rate, mechanism
        As in `mean_unadjusted`.

    Returns
    -------
    float
        Above 1 the mean is negative whatever the data.

    References
    ----------
    Where equation (4) of biswas2022 changes sign; what Theorem 3.6 there overlooks.

    Examples
    --------
    >>> round(negative_mean_threshold(sampling_rate=0.5, mechanism=KaryRandomisedResponse(np.log(3), 2)), 9)
    0.5
    """
    rate = checks.rate(sampling_rate=sampling_rate)
    return (1 - rate) / rate * _odds(mechanism)


def rare_variance_rescaled(*, nodes: int, sampling_rate: float, mechanism: KaryRandomisedResponse) -> float:
    """Return ``Var*(g_DE) = n (q - q^2 pi) / ((p - q)^2 pi)``, the limit of the variance at a value that nobody holds.

    Parameters
    ----------
    nodes, sampling_rate, mechanism
        As in `mean_unadjusted`.

    Returns
    -------
    float

    References
    ----------
    Theorem 3.2 of biswas2022.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(float(rare_variance_rescaled(nodes=100, sampling_rate=0.5, mechanism=mechanism)), 9)
    175.0
    """
    rate, q = checks.rate(sampling_rate=sampling_rate), mechanism.q
    return checks.whole(nodes=nodes, at_least=1) * (q - q**2 * rate) / (mechanism.truthful_rate**2 * rate)


def rare_variance_realised_size(*, nodes: int, sampling_rate: float, mechanism: KaryRandomisedResponse) -> float:
    """Return ``Var*(c-hat) = n q (1-q) / ((p - q)^2 pi)``, the limit of the variance at a value that nobody holds.

    Parameters
    ----------
    nodes, sampling_rate, mechanism
        As in `mean_unadjusted`.

    Returns
    -------
    float

    References
    ----------
    The counterpart of Theorem 3.2 of biswas2022 for ``c-hat``.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> round(float(rare_variance_realised_size(nodes=100, sampling_rate=0.5, mechanism=mechanism)), 9)
    150.0
    """
    rate, q = checks.rate(sampling_rate=sampling_rate), mechanism.q
    return checks.whole(nodes=nodes, at_least=1) * q * (1 - q) / (mechanism.truthful_rate**2 * rate)


def _odds(mechanism: KaryRandomisedResponse) -> float:
    """``q / (p - q) = 1 / (e^epsilon - 1)``."""
    return float(np.exp(-mechanism.epsilon) / -np.expm1(-mechanism.epsilon))


def as_holders(holders: ArrayLike, nodes: int) -> Values:
    """Return numbers of holders as floats, checked to lie between 0 and the number of nodes."""
    total = checks.whole(nodes=nodes, at_least=1)
    count = np.asarray(holders, dtype=float)
    if not ((count >= 0) & (count <= total)).all():
        raise ValueError(f"holders must lie in [0, nodes={total}], got {count.min()!s} .. {count.max()!s}")
    return count


def _over_nodes(
    one_node: Callable[[Values], Values],
    holders: ArrayLike,
    nodes: int,
    mechanism: KaryRandomisedResponse,
    data: Data,
) -> Values:
    """Sum a node's variance, a function of the chance that its report is the value, over all nodes."""
    count = as_holders(holders, nodes)
    if checks.choice(data=data, among=("fixed", "iid")) == "fixed":
        return count * one_node(np.asarray(mechanism.p)) + (nodes - count) * one_node(np.asarray(mechanism.q))
    return nodes * one_node(mechanism.q + count / nodes * mechanism.truthful_rate)
