"""How many people or clusters a target takes, and how likely a large error is."""

import math
from statistics import NormalDist
from typing import Literal

import numpy as np

from ldpnb import checks

Tail = Literal["normal", "chebyshev"]


def allowed_variance(error: float, failure: float, tail: Tail = "normal") -> float:
    """Return the variance at which an error is reached with probability `failure` at most.

    By Chebyshev's inequality for certain, under the normal law approximately.
    """
    checks.choice(tail=tail, among=("normal", "chebyshev"))
    checks.positive(error=error)
    checks.open_probability(failure=failure)
    if tail == "chebyshev":
        return failure * error * error
    z = NormalDist().inv_cdf(1 - failure / 2)
    return (error / z) ** 2


def people(s2: float, noise: float, population: int, *, variance: float) -> int:
    """Return the smallest simple random sample whose mean of reports has that variance.

    ``n = (s2 + v) / (V + s2 / N)``: a finite population lowers sampling, never the noise.

    Raises
    ------
    ValueError
        If everybody is too few; with the variance that remains.
    """
    if variance * population < noise:
        least = noise / population
        raise ValueError(f"variance must be at least {least:g}, that of asking everybody, got variance={variance:g}")
    return max(1, math.ceil((s2 + noise) / (variance + s2 / population) - 1e-9))


def clusters(between: float, rest: float, number: int, *, variance: float) -> int:
    """Return the fewest clusters whose mean has that variance.

    Parameters
    ----------
    between : float
        Variance of the clusters' means, divisor ``M - 1``.
    rest : float
        Variance of a cluster's estimated mean around its own: noise, and sampling within.
    number : int
        Clusters there are.
    variance : float

    Raises
    ------
    ValueError
        If all of them are too few.
    """
    needed = math.ceil((between + rest) / (variance + between / number) - 1e-9)
    if needed > number:
        least = rest / number
        raise ValueError(f"variance must be at least {least:g}, that of asking all clusters, got variance={variance:g}")
    return max(1, needed)


def one_bit_people(epsilon: float, *, span: float, error: float, failure: float) -> int:
    """Return how many one-bit reports of a simple random sample suffice for certain, by Hoeffding's inequality."""
    reach = span / math.tanh(checks.positive(epsilon=epsilon) / 2)
    return math.ceil((reach / error) ** 2 * math.log(2 / failure) / 2)


def one_bit_clusters(epsilon: float, size: int, *, span: float, error: float, failure: float) -> int:
    """Return how many equal clusters of one-bit reports suffice for certain, whatever the values; centred.

    Cluster means and noise apart: their proxies ``R^2`` and ``R^2 coth^2(eps/2) / B`` add.
    """
    coth = 1 / math.tanh(checks.positive(epsilon=epsilon) / 2)
    return math.ceil((span / error) ** 2 * (1 + coth * coth / size) * math.log(2 / failure) / 2)


def one_bit_strata_failure(
    epsilon: float, weights: np.ndarray, drawn: np.ndarray, spans: np.ndarray, *, error: float
) -> float:
    """Return Hoeffding's bound on the probability of an error in a stratified mean of one-bit reports."""
    reach = weights * spans / math.tanh(epsilon / 2)
    return float(min(1.0, 2 * math.exp(-2 * error**2 / float(np.sum(reach**2 / drawn)))))
