"""Mean squared errors at a finite number of users, exactly: by enumerating every tally of reports.

Use `exact_risks` for any small channel and any estimators, and `TwoValues` for randomised response on two values, where
thousands of users are within reach.
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
"""From tallies ``(tallies, m)`` to estimates ``(tallies, k)`` of distribution and frequencies alike."""

_MOST_TALLIES = 200_000
_MOST_CHANCES = 50_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Risk:
    """Mean squared errors of an estimator, averaged over prior, users and reports.

    - `distribution`, `frequency`, float: squared Euclidean error, summed over the values.
    """

    distribution: float
    frequency: float


def compositions(total: int, parts: int) -> Ints:
    """Return all vectors of whole numbers with a given sum, ``C(total + parts - 1, parts - 1)`` rows.

    >>> compositions(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    places = total + parts - 1  # for as many items, and bars that part them
    bars = np.array(list(combinations(range(places), parts - 1)), dtype=np.int64)
    return np.diff(bars, prepend=-1, append=places) - 1


def exact_risks(
    channel: ArrayLike, users: int, prior: ArrayLike, estimators: Mapping[str, Estimator]
) -> dict[str, Risk]:
    """Return the exact mean squared errors of the Bayes estimate and of others, for any small channel.

    Proposition A.3, equation (87) of lopuhaa2020, and Theorem 3.1: an estimate's risk exceeds that of the posterior
    mean by its mean squared distance to it.

    - `channel`, (m, k) float: ``Q[y, x] = Pr(y | x)``.
    - `prior`, (k,) float: Dirichlet parameter.
    - `estimators`, mapping of str to Estimator.
    - Returns dict of str to Risk: ``"Bayes"``, with the posterior mean of each target, and the given ones.
    - ValueError if there are more than 200,000 tallies.
    """
    rows, count = real(channel), checks.whole(users, "users", at_least=1)
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
    means = [
        np.array([getattr(one, target) for one in posteriors])
        for target in ("distribution", "frequencies")
    ]
    spreads = np.array([(one.distribution_variance, one.frequency_variance) for one in posteriors])
    risks = {"Bayes": Risk(*(chances @ spreads).tolist())}
    for name, estimator in estimators.items():
        estimate = estimator(tallies)
        excess = np.stack([((estimate - mean) ** 2).sum(axis=1) for mean in means], axis=1)
        risks[name] = Risk(*(chances @ (spreads + excess)).tolist())
    return risks


@dataclass(frozen=True, slots=True, eq=False)
class BinaryPosteriors:
    """Every tally of the first of two values with its chance and posterior.

    - `chances`, (n + 1,) float: chance of ``0 .. n`` reports of the first value.
    - `means`, `variances`, (n + 1,) float: posterior mean and variance of the first value's probability.
    - `frequency_means`, `frequency_variances`, (n + 1,) float: posterior mean and variance of the first value's
      frequency.
    """

    chances: Floats
    means: Floats
    variances: Floats
    frequency_means: Floats
    frequency_variances: Floats


@dataclass(frozen=True, slots=True)
class TwoValues:
    """Randomised response on two values: so many users, epsilon in nats, a symmetric Dirichlet prior.

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
        """Return all posteriors by Gauss-Jacobi quadrature, exact here: the integrands have degree ``n + 2``.

        Given the probability, reports of the first value are true with one chance each, others false with another: that
        gives the moments of the number of holders as sums of positive terms, around the number of such reports.
        """
        points, rest, weights, logs = self._likelihood(self.users // 2 + 3)
        tops = logs.max(axis=1)
        joint = np.exp(logs - tops[:, None]) * weights
        sums = joint.sum(axis=1)
        joint /= sums[:, None]
        means = joint @ points
        variances = (joint * (points - means[:, None]) ** 2).sum(axis=1)
        p, q = (float(chance) for chance in (self._mechanism.p, self._mechanism.q))
        first, second = points * p + rest * q, points * q + rest * p
        true, false, missed = joint @ (points * p / first), rest * q / first, points * q / second
        seen = np.arange(self.users + 1)
        others = self.users - seen
        frequencies = (seen * true + others * (joint @ missed)) / self.users
        shift = others * (joint @ missed) - seen * (joint @ false)
        square = seen * (
            joint @ false
            + (seen - 1) * (joint @ false**2)
            - 2 * others * (joint @ (false * missed))
        )
        square = square + others * (joint @ missed + (others - 1) * (joint @ missed**2))
        spread = np.maximum(square - shift**2, 0) / self.users**2
        return BinaryPosteriors(sums * np.exp(tops), means, variances, frequencies, spread)

    def risk(self, estimates: ArrayLike | None = None) -> Risk:
        """Return the exact risk of an estimate of the first value for each number of its reports, ``(n + 1,)``.

        Without estimates it is the risk of the posterior means of either target.
        """
        known = self.posteriors()
        means, spreads = (
            (known.means, known.frequency_means),
            (known.variances, known.frequency_variances),
        )
        given = means if estimates is None else (np.asarray(estimates, dtype=float),) * 2
        errors = (
            spread + (own - mean) ** 2
            for spread, own, mean in zip(spreads, given, means, strict=True)
        )
        return Risk(*(float(2 * known.chances @ error) for error in errors))

    def entropies(self) -> tuple[float, float]:
        """Return ``h(P|Y)`` and ``H(T|Y)``, in nats: the quantities of Theorems 4.1 and 4.2 of lopuhaa2020.

        The first is ``h(P) - I(P; S)``, the information by quadrature; the second a sum over all pairs of tallies.
        """
        users, alpha, log_truth = self.users, self.concentration, np.log(self._mechanism.p)
        _, _, weights, logs = self._likelihood(2 * users + 200)
        tops = logs.max(axis=1)
        log_chances = tops + np.log(np.exp(logs - tops[:, None]) @ weights)
        information_gained = (np.exp(logs) * weights * (logs - log_chances[:, None])).sum()
        counts = np.arange(users + 1)
        beta = betaln(counts + alpha, users - counts + alpha) - betaln(alpha, alpha)
        holders = np.exp(_log_binomial(users, counts) + beta)
        wrong = [counts[: t + 1] for t in counts]
        lies = [
            np.exp(_log_binomial(t, w) - self.epsilon * w + t * log_truth)
            for t, w in enumerate(wrong)
        ]
        joint = np.array([holders[t] * np.convolve(lies[t][::-1], lies[users - t]) for t in counts])
        return information.SymmetricDirichlet(2, alpha).entropy() - float(
            information_gained
        ), _entropy_of_rows(joint)

    @property
    def _mechanism(self) -> KaryRandomisedResponse:
        return KaryRandomisedResponse(self.epsilon, 2)

    def _likelihood(self, nodes: int) -> tuple[Floats, Floats, Floats, Floats]:
        """Return nodes under the prior, 1 less each, their weights, and every tally's log-likelihood at the nodes."""
        if self.users * nodes > _MOST_CHANCES:
            raise ValueError(
                f"users must be few to list every tally at {nodes} nodes, got users={self.users}"
            )
        (p, q), alpha = (self._mechanism.p, self._mechanism.q), self.concentration
        if alpha == 0.5:
            angle, weights = (
                (np.arange(nodes) + 0.5) * np.pi / (2 * nodes),
                np.full(nodes, 1 / nodes),
            )
            first, second = np.cos(angle) ** 2, np.sin(angle) ** 2
        else:
            points, weights = _gauss_jacobi(nodes, alpha - 1)
            first, second = (1 + points) / 2, (1 - points) / 2
        seen = np.arange(self.users + 1)[:, None]
        logs = _log_binomial(self.users, seen) + seen * np.log(first * p + second * q)
        logs = logs + (self.users - seen) * np.log(first * q + second * p)
        return first, second, weights, logs


def _gauss_jacobi(nodes: int, power: float) -> tuple[Floats, Floats]:
    """Return the Gauss rule for the law proportional to ``(1 - x^2)^power``, for large powers too.

    The nodes are the eigenvalues of the Jacobi matrix; a weight is ``1 / sum_k p_k(x)^2`` over the orthonormal
    polynomials, a sum of positive terms, kept within the range of a float by a scale.
    """
    k = np.arange(2, nodes)
    between = np.sqrt(k * (k + 2 * power) / ((2 * k + 2 * power + 1) * (2 * k + 2 * power - 1)))
    between = np.concatenate([[1 / np.sqrt(3 + 2 * power)], between])
    points = eigh_tridiagonal(np.zeros(nodes), between, eigvals_only=True)
    points = (points - points[::-1]) / 2
    before, now, squares, log_scale = (
        np.zeros(nodes),
        np.ones(nodes),
        np.ones(nodes),
        np.zeros(nodes),
    )
    for last, step in zip(np.concatenate([[0.0], between[:-1]]), between, strict=True):
        before, now = now, (points * now - last * before) / step
        squares = squares + now * now
        scale = np.where(squares > 1e100, 1e-50, 1.0)
        before, now, squares, log_scale = (
            before * scale,
            now * scale,
            squares * scale**2,
            log_scale - np.log(scale),
        )
    logs = -np.log(squares) - 2 * log_scale
    weights = np.exp(logs - logs.max())
    return points, weights / weights.sum()


def _log_binomial(total: int, part: Ints) -> Floats:
    return gammaln(total + 1) - gammaln(part + 1) - gammaln(total - part + 1)


def _entropy_of_rows(joint: Floats) -> float:
    """Return the entropy of the row given the column; the likeliest row's logarithm from the others' chances."""
    top = joint.argmax(axis=0), np.arange(joint.shape[1])
    others = joint.copy()
    others[top] = 0
    total, most = joint.sum(axis=0), joint[top]
    unlikely = others / np.where(total > 0, total, 1)
    rest = np.where(total > 0, others.sum(axis=0) / np.where(total > 0, total, 1), 0)
    return -float((total * xlogy(unlikely, unlikely).sum(axis=0) + most * np.log1p(-rest)).sum())
