"""Mean squared errors at a finite number of users, exactly: by enumerating every tally of reports.

Use `exact_risks` for any small channel and any estimators, and `binary_risk` and `binary_entropies` for randomised
response on two values under a Dirichlet prior, where thousands of users are within reach.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, gammaln, roots_jacobi, xlogy

from ldpnb import checks
from ldpnb.accuracy import information
from ldpnb.estimators import bayes
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

Floats = NDArray[np.float64]

Estimator = Callable[[NDArray[np.int64]], Floats]
"""From tallies ``(tallies, m)`` to estimates ``(tallies, k)`` of distribution and frequencies alike."""

_MOST_TALLIES = 200_000


@dataclass(frozen=True, slots=True)
class Risk:
    """Mean squared errors of an estimator, averaged over prior, users and reports.

    Parameters
    ----------
    distribution, frequency : float
        Squared Euclidean error, summed over the values.
    """

    distribution: float
    frequency: float


def compositions(total: int, parts: int) -> NDArray[np.int64]:
    """Return all vectors of whole numbers with a given sum, ``C(total + parts - 1, parts - 1)`` rows.

    Examples
    --------
    >>> compositions(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    if parts == 1:
        return np.array([[total]])
    blocks = []
    for first in range(total + 1):
        rest = compositions(total - first, parts - 1)
        blocks.append(np.column_stack([np.full(len(rest), first), rest]))
    return np.concatenate(blocks)


def exact_risks(
    channel: ArrayLike, users: int, prior: ArrayLike, estimators: Mapping[str, Estimator]
) -> dict[str, Risk]:
    """Return the exact mean squared errors of the Bayes estimate and of others, for any small channel.

    Parameters
    ----------
    channel : (m, k) float
        ``Q[y, x] = Pr(y | x)``.
    users : int
    prior : (k,) float
        Dirichlet parameter.
    estimators : mapping of str to Estimator

    Returns
    -------
    dict of str to Risk
        ``"Bayes"``, with the posterior mean of each target, and the given ones.

    Raises
    ------
    ValueError
        If there are more than 200,000 tallies.

    References
    ----------
    Proposition A.3, equation (87) of lopuhaa2020, and Theorem 3.1: an estimate's risk exceeds that of the posterior
    mean by its mean squared distance to it.
    """
    rows, count = np.asarray(channel, dtype=float), checks.whole(users=users, at_least=1)
    if comb(count + len(rows) - 1, count) > _MOST_TALLIES:
        raise ValueError(f"users must be few for {len(rows)} outputs, got users={users}")
    tallies = compositions(count, len(rows))
    found = [bayes.posterior(rows, tally, prior) for tally in tallies]
    log_ways = gammaln(count + 1) - gammaln(tallies + 1).sum(axis=1)
    chances = np.exp(log_ways + np.array([one.log_marginal for one in found]))
    means = {"distribution": np.array([one.distribution for one in found])}
    means["frequency"] = np.array([one.frequencies for one in found])
    least = {"distribution": np.array([one.distribution_variance for one in found])}
    least["frequency"] = np.array([one.frequency_variance for one in found])
    best = {target: float(chances @ least[target]) for target in means}
    risks = {"Bayes": Risk(**best)}
    for name, estimator in estimators.items():
        estimate = estimator(tallies)
        extra = {target: float(chances @ ((estimate - mean) ** 2).sum(axis=1)) for target, mean in means.items()}
        risks[name] = Risk(**{target: best[target] + extra[target] for target in means})
    return risks


@dataclass(frozen=True, slots=True)
class BinaryPosteriors:
    """Randomised response on two values: every tally of the first value with its chance and posterior.

    Parameters
    ----------
    chances : (n + 1,) float
        Chance of ``0 .. n`` reports of the first value.
    means : (n + 1,) float
        Posterior mean of the first value's probability.
    variances : (n + 1,) float
    frequency_means : (n + 1,) float
        Posterior mean of the first value's frequency.
    """

    chances: Floats
    means: Floats
    variances: Floats
    frequency_means: Floats


def binary_posteriors(users: int, epsilon: float, concentration: float = 0.5) -> BinaryPosteriors:
    """Return all posteriors by Gauss-Jacobi quadrature, which is exact here: the integrands are polynomials of degree
    ``n + 2``.

    Parameters
    ----------
    users : int
    epsilon : float
        Nats.
    concentration : float
        Of the symmetric Dirichlet prior.
    """
    nodes, weights, logs, _ = _binary_likelihood(users, epsilon, concentration)
    tops = logs.max(axis=1)
    joint = np.exp(logs - tops[:, None]) * weights
    sums = joint.sum(axis=1)
    chances, means = sums * np.exp(tops), joint @ nodes / sums
    variances = (joint * (nodes - means[:, None]) ** 2).sum(axis=1) / sums
    both = np.column_stack([means, 1 - means])
    frequencies = bayes.frequency_mean(both, [concentration, concentration], users)[:, 0]
    return BinaryPosteriors(chances, means, variances, frequencies)


def binary_risk(users: int, epsilon: float, concentration: float = 0.5, estimates: ArrayLike | None = None) -> Risk:
    """Return the exact risk of an estimate under randomised response on two values; of the posterior means if none is
    given.

    Parameters
    ----------
    users : int
    epsilon : float
        Nats.
    concentration : float
        Of the symmetric Dirichlet prior.
    estimates : (n + 1,) float, optional
        Of the first value, for each number of its reports.

    Examples
    --------
    >>> round(binary_risk(10, 1.0).distribution, 10)
    0.1094366427
    """
    found = binary_posteriors(users, epsilon, concentration)
    spread = _frequency_variances(found, users, concentration)
    if estimates is None:
        return Risk(float(2 * found.chances @ found.variances), float(2 * found.chances @ spread))
    given = np.asarray(estimates, dtype=float)
    distribution = found.chances @ (found.variances + (given - found.means) ** 2)
    frequency = found.chances @ (spread + (given - found.frequency_means) ** 2)
    return Risk(float(2 * distribution), float(2 * frequency))


def _frequency_variances(found: BinaryPosteriors, users: int, concentration: float) -> Floats:
    """Return the posterior variances of the first value's frequency, from those of its probability.

    Given the users' values the probability has mean ``(alpha + T) / (2 alpha + n)`` and a Beta variance, so
    ``Var P = E[m (1 - m)] / (2 alpha + n + 1) + Var m`` with ``m`` that mean.
    """
    total = 2 * concentration + users
    spread = (found.variances * (total + 1) - found.means * (1 - found.means)) / total
    variances: Floats = spread * (total / users) ** 2
    return variances


def binary_entropies(users: int, epsilon: float, concentration: float = 0.5) -> tuple[float, float]:
    """Return ``h(P|Y)`` and ``H(T|Y)``, in nats, under randomised response on two values.

    The first is ``h(P) - I(P; S)``, the information by quadrature; the second ``H(T) + H(S|T) - H(S)``, by enumeration.

    Parameters
    ----------
    users : int
    epsilon : float
        Nats.
    concentration : float
        Of the symmetric Dirichlet prior.

    References
    ----------
    The quantities of Theorems 4.1 and 4.2 of lopuhaa2020.
    """
    _, weights, logs, mechanism = _binary_likelihood(users, epsilon, concentration, nodes=2 * users + 200)
    tops = logs.max(axis=1)
    log_chances = tops + np.log(np.exp(logs - tops[:, None]) @ weights)
    chances, told = np.exp(log_chances), (np.exp(logs) * weights * (logs - log_chances[:, None])).sum()
    held = np.arange(users + 1)
    beta = betaln(held + concentration, users - held + concentration) - betaln(concentration, concentration)
    holders = np.exp(_log_binomial(users, held) + beta)
    own = [np.exp(_log_pmf(int(t), mechanism.p)) for t in held]
    other = [np.exp(_log_pmf(int(t), mechanism.q)) for t in held]
    given = np.array([_entropy(np.convolve(own[t], other[users - t])) for t in held])
    tallies = _entropy(holders) + float(holders @ given) - _entropy(chances)
    return information.dirichlet_entropy(2, concentration) - float(told), tallies


def _binary_likelihood(
    users: int, epsilon: float, concentration: float, nodes: int | None = None
) -> tuple[Floats, Floats, Floats, KaryRandomisedResponse]:
    """Return nodes and weights of a quadrature under the prior, and the log-likelihood of every tally, ``(n + 1,
    nodes)``.
    """
    count, mechanism = checks.whole(users=users, at_least=1), KaryRandomisedResponse(epsilon, 2)
    size = nodes or count // 2 + 3
    if checks.positive(concentration=concentration) == 0.5:
        points, weights = np.cos((np.arange(size) + 0.5) * np.pi / size), np.full(size, 1 / size)
    else:
        points, weights = roots_jacobi(size, concentration - 1, concentration - 1)
        weights = weights / weights.sum()
    chance = mechanism.q + mechanism.truthful_rate * (1 + points) / 2
    seen = np.arange(count + 1)[:, None]
    logs = _log_binomial(count, seen) + seen * np.log(chance) + (count - seen) * np.log1p(-chance)
    return (1 + points) / 2, weights, logs, mechanism


def _log_binomial(total: int, part: NDArray[np.int64]) -> Floats:
    ways: Floats = gammaln(total + 1) - gammaln(part + 1) - gammaln(total - part + 1)
    return ways


def _log_pmf(trials: int, chance: float) -> Floats:
    wins = np.arange(trials + 1)
    logs: Floats = _log_binomial(trials, wins) + wins * np.log(chance) + (trials - wins) * np.log1p(-chance)
    return logs


def _entropy(chances: Floats) -> float:
    return -float(xlogy(chances, chances).sum())
