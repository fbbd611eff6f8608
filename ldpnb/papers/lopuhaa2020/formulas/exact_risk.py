"""Exact mean squared errors at a finite number of users, by listing every possible tally.

Use `exact_risks` for any small channel and any estimators. Use `TwoValues` for randomised response
on two values, where thousands of users are within reach.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh_tridiagonal
from scipy.special import betaln, gammaln, xlogy

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, real
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.lopuhaa2020.formulas import bayes, information

Estimator = Callable[[Ints], Floats]
"""From tallies ``(tallies, m)`` to estimates ``(tallies, k)`` of distribution and frequencies."""

_MOST_TALLIES = 200_000
_MOST_CHANCES = 50_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Risk:
    """Mean squared errors of an estimator, averaged over prior, users and reports.

    Attributes
    ----------
    distribution, frequency : float
        Squared Euclidean error of either target, summed over the values.
    """

    distribution: float
    frequency: float


# Any small channel


def compositions(total: int, parts: int) -> Ints:
    """Return all vectors of `parts` whole numbers that sum to `total`, one in a row.

    There are ``C(total + parts - 1, parts - 1)`` of them.

    >>> compositions(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    places = total + parts - 1  # for as many items, and bars that part them
    bars = np.array(list(combinations(range(places), parts - 1)), dtype=np.int64)
    return np.diff(bars, prepend=-1, append=places) - 1


def exact_risks(
    channel: ArrayLike, users: int, prior: ArrayLike, estimators: Mapping[str, Estimator]
) -> dict[str, Risk]:
    """Compute the exact mean squared errors of the Bayes estimate and of others.

    The risk of any estimate exceeds that of the posterior mean by the mean squared distance between
    the two (Theorem 3.1 of the source).

    Parameters
    ----------
    channel : array_like, shape (m, k)
        ``Q[y, x]``, the probability of output ``y`` given input ``x``.
    users : int
        Number of users, at least 1.
    prior : float or array_like, shape (k,)
        Dirichlet parameter, ``> 0``. One number stands for a symmetric prior.
    estimators : mapping of str to callable
        Each estimator gets all tallies of outputs, of shape (tallies, m), and returns an estimate
        for each, of shape (tallies, k).

    Returns
    -------
    dict of str to Risk
        ``"Bayes"``, whose estimates are the posterior means of either target, and the given
        estimators under their names. An error is a sum over the values of squared differences.

    Raises
    ------
    ValueError
        If there are more than 200,000 tallies, or an argument has a wrong shape or range.

    References
    ----------
    Proposition A.3, equation (87), and Theorem 3.1 of Lopuhaä-Zwakenberg et al. (2020).

    Examples
    --------
    A channel that hides everything: whatever is reported, the posterior mean is the prior mean, 1/2
    for either value, and the error is the prior's variance of both, 2 * 1/12.

    >>> risks = exact_risks([[0.5, 0.5], [0.5, 0.5]], 1, [1.0, 1.0], {})
    >>> round(risks["Bayes"].distribution, 12)
    0.166666666667
    """
    rows = real(channel)
    count = checks.whole(users, "users", at_least=1)
    if rows.ndim != 2 or not rows.size:
        raise ValueError(
            f"channel must be a matrix with outputs and values, got shape {rows.shape}"
        )
    if comb(count + len(rows) - 1, count) > _MOST_TALLIES:
        raise ValueError(f"users must be few for {len(rows)} outputs, got users={users}")

    tallies = compositions(count, len(rows))
    posteriors = [bayes.posterior(rows, tally, prior) for tally in tallies]

    log_ways = gammaln(count + 1) - gammaln(tallies + 1).sum(axis=1)
    chances = np.exp(log_ways + np.array([one.log_marginal for one in posteriors]))

    distributions = np.array([one.distribution for one in posteriors])
    frequencies = np.array([one.frequencies for one in posteriors])
    variances = np.array(
        [(one.distribution_variance, one.frequency_variance) for one in posteriors]
    )

    risks = {"Bayes": Risk(*(chances @ variances).tolist())}
    for name, estimator in estimators.items():
        estimate = estimator(tallies)
        distances = [((estimate - mean) ** 2).sum(axis=1) for mean in (distributions, frequencies)]
        risks[name] = Risk(*(chances @ (variances + np.stack(distances, axis=1))).tolist())
    return risks


# Two values


@dataclass(frozen=True, slots=True, eq=False)
class BinaryPosteriors:
    """The probability and the posterior of each possible tally of the first of two values.

    Attributes
    ----------
    chances : ndarray, shape (n + 1,)
        Probability of 0, 1, ..., n reports of the first value.
    means, variances : ndarray, shape (n + 1,)
        Posterior mean and variance of the first value's probability.
    frequency_means, frequency_variances : ndarray, shape (n + 1,)
        Posterior mean and variance of the first value's frequency among the users.
    """

    chances: Floats
    means: Floats
    variances: Floats
    frequency_means: Floats
    frequency_variances: Floats


@dataclass(frozen=True, slots=True)
class TwoValues:
    """Randomised response on two values, under a symmetric Dirichlet prior.

    Parameters
    ----------
    users : int
        Number of users ``n``, at least 1.
    epsilon : float
        Local privacy budget in nats, ``> 0``.
    concentration : float, default 0.5
        Dirichlet parameter of each value, ``> 0``.

    Examples
    --------
    >>> round(TwoValues(10, 1.0).risk().distribution, 10)
    0.1094366427
    """

    users: int
    epsilon: float
    concentration: float = 0.5

    def __post_init__(self) -> None:
        checks.plain(self, users=1)
        checks.positive(self.epsilon, "epsilon")
        checks.positive(self.concentration, "concentration")

    def posteriors(self) -> BinaryPosteriors:
        """Compute all posteriors by Gauss-Jacobi quadrature.

        It is exact here, since the integrands have degree ``n + 2``.
        """
        points, rest, weights, logs = self._likelihood(self.users // 2 + 3)
        tops = logs.max(axis=1)
        joint = np.exp(logs - tops[:, None]) * weights
        sums = joint.sum(axis=1)
        joint /= sums[:, None]

        means = joint @ points
        variances = (joint * (points - means[:, None]) ** 2).sum(axis=1)
        frequency_means, frequency_variances = self._frequency_moments(joint, points, rest)

        return BinaryPosteriors(
            chances=sums * np.exp(tops),
            means=means,
            variances=variances,
            frequency_means=frequency_means,
            frequency_variances=frequency_variances,
        )

    def _frequency_moments(
        self, joint: Floats, points: Floats, rest: Floats
    ) -> tuple[Floats, Floats]:
        """Return posterior mean and variance of the first value's frequency, for each tally.

        Given the probability, reports of the first value are true with one probability each, and
        others are false with another probability. That gives the moments of the number of holders
        as sums of positive terms, around the number of reports of the first value.
        """
        p = float(self._mechanism.p)
        q = float(self._mechanism.q)
        first = points * p + rest * q
        second = points * q + rest * p
        true = joint @ (points * p / first)
        false = rest * q / first
        missed = points * q / second

        seen = np.arange(self.users + 1)
        others = self.users - seen
        means = (seen * true + others * (joint @ missed)) / self.users

        # The mean and the mean square of the number of holders less the number of reports.
        shift = others * (joint @ missed) - seen * (joint @ false)
        square = seen * (
            joint @ false
            + (seen - 1) * (joint @ false**2)
            - 2 * others * (joint @ (false * missed))
        )
        square = square + others * (joint @ missed + (others - 1) * (joint @ missed**2))
        return means, np.maximum(square - shift**2, 0) / self.users**2

    def risk(self, estimates: ArrayLike | None = None) -> Risk:
        """Return the exact risk of an estimate, or of the posterior means.

        Parameters
        ----------
        estimates : array_like, shape (n + 1,), optional
            Estimate of the first value's share for each number of its reports. Without it, each
            target is estimated by its posterior mean.
        """
        posteriors = self.posteriors()
        if estimates is None:
            distribution = posteriors.means
            frequency = posteriors.frequency_means
        else:
            distribution = np.asarray(estimates, dtype=float)
            frequency = distribution

        distribution_error = posteriors.variances + (distribution - posteriors.means) ** 2
        frequency_error = (
            posteriors.frequency_variances + (frequency - posteriors.frequency_means) ** 2
        )
        return Risk(
            distribution=float(2 * posteriors.chances @ distribution_error),
            frequency=float(2 * posteriors.chances @ frequency_error),
        )

    def entropies(self) -> tuple[float, float]:
        """Return ``h(P|Y)`` and ``H(T|Y)``, in nats.

        Theorems 4.1 and 4.2 of Lopuhaä-Zwakenberg et al. (2020) use them. The first is
        ``h(P) - I(P; S)``, where the information comes from a quadrature; the second is a sum over
        all pairs of a tally of holders and a tally of reports.
        """
        prior = information.SymmetricDirichlet(2, self.concentration)
        return prior.entropy() - self._information(), _entropy_of_rows(self._joint_tallies())

    def _information(self) -> float:
        """Return what the reports tell about the probability, in nats."""
        _, _, weights, logs = self._likelihood(2 * self.users + 200)
        tops = logs.max(axis=1)
        log_chances = tops + np.log(np.exp(logs - tops[:, None]) @ weights)
        return float((np.exp(logs) * weights * (logs - log_chances[:, None])).sum())

    def _joint_tallies(self) -> Floats:
        """Return the probability of each tally of holders, in rows, with each tally of reports."""
        users = self.users
        alpha = self.concentration
        log_truth = np.log(self._mechanism.p)

        counts = np.arange(users + 1)
        beta = betaln(counts + alpha, users - counts + alpha) - betaln(alpha, alpha)
        holders = np.exp(_log_binomial(users, counts) + beta)

        lies = []
        for t in range(users + 1):
            wrong = counts[: t + 1]
            lies.append(np.exp(_log_binomial(t, wrong) - self.epsilon * wrong + t * log_truth))

        rows = []
        for t in range(users + 1):
            rows.append(holders[t] * np.convolve(lies[t][::-1], lies[users - t]))
        return np.array(rows)

    @property
    def _mechanism(self) -> KaryRandomisedResponse:
        return KaryRandomisedResponse(self.epsilon, 2)

    def _likelihood(self, nodes: int) -> tuple[Floats, Floats, Floats, Floats]:
        """Return a quadrature under the prior, with the likelihood of each tally.

        These are the nodes, 1 less each node, their weights, and the log-likelihood of every tally
        at the nodes.
        """
        if self.users * nodes > _MOST_CHANCES:
            raise ValueError(
                f"users must be few to list every tally at {nodes} nodes, got users={self.users}"
            )
        p = self._mechanism.p
        q = self._mechanism.q

        if self.concentration == 0.5:
            angle = (np.arange(nodes) + 0.5) * np.pi / (2 * nodes)
            weights = np.full(nodes, 1 / nodes)
            first = np.cos(angle) ** 2
            second = np.sin(angle) ** 2
        else:
            points, weights = _gauss_jacobi(nodes, self.concentration - 1)
            first = (1 + points) / 2
            second = (1 - points) / 2

        seen = np.arange(self.users + 1)[:, None]
        logs = _log_binomial(self.users, seen) + seen * np.log(first * p + second * q)
        logs = logs + (self.users - seen) * np.log(first * q + second * p)
        return first, second, weights, logs


def _gauss_jacobi(nodes: int, power: float) -> tuple[Floats, Floats]:
    """Return nodes and weights of the Gauss rule for a density proportional to ``(1-x^2)^power``.

    It works for large powers too. The nodes are the eigenvalues of the Jacobi matrix. A weight is
    ``1 / sum_k p_k(x)^2`` over the orthonormal polynomials, a sum of positive terms, which a scale
    keeps within the range of a float.
    """
    k = np.arange(2, nodes)
    between = np.sqrt(k * (k + 2 * power) / ((2 * k + 2 * power + 1) * (2 * k + 2 * power - 1)))
    between = np.concatenate([[1 / np.sqrt(3 + 2 * power)], between])
    points = eigh_tridiagonal(np.zeros(nodes), between, eigvals_only=True)
    points = (points - points[::-1]) / 2

    before = np.zeros(nodes)
    now = np.ones(nodes)
    squares = np.ones(nodes)
    log_scale = np.zeros(nodes)
    for last, step in zip(np.concatenate([[0.0], between[:-1]]), between, strict=True):
        before, now = now, (points * now - last * before) / step
        squares = squares + now * now

        scale = np.where(squares > 1e100, 1e-50, 1.0)
        before = before * scale
        now = now * scale
        squares = squares * scale**2
        log_scale = log_scale - np.log(scale)

    logs = -np.log(squares) - 2 * log_scale
    weights = np.exp(logs - logs.max())
    return points, weights / weights.sum()


def _log_binomial(total: int, part: Ints) -> Floats:
    return gammaln(total + 1) - gammaln(part + 1) - gammaln(total - part + 1)


def _entropy_of_rows(joint: Floats) -> float:
    """Return the entropy of the row given the column, in nats.

    The logarithm of the likeliest row's probability comes from the other rows' probabilities.
    """
    top = joint.argmax(axis=0), np.arange(joint.shape[1])
    others = joint.copy()
    others[top] = 0

    total = joint.sum(axis=0)
    divisor = np.where(total > 0, total, 1)
    unlikely = others / divisor
    rest = np.where(total > 0, others.sum(axis=0) / divisor, 0)
    return -float(
        (total * xlogy(unlikely, unlikely).sum(axis=0) + joint[top] * np.log1p(-rest)).sum()
    )
