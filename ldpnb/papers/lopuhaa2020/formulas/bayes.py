"""Posterior means under a Dirichlet prior: the estimates of least mean squared error if the truth follows the prior.

Use `krr_posterior` for k-ary randomised response (exact, quadratic in the number of users, whatever the number of
values), `krr_posterior_saddle` where that is too slow and the values are many, `posterior` for any channel when values
and users are few, and `support_posterior` (Gibbs sampling) for unary encoding and subset selection.
`fitted_concentration` chooses a symmetric prior from the reports themselves.

All rest on this: under k-RR a likelihood factor ``(1 + c P_x)^{s_x}``, ``c = e^epsilon - 1``, mixes Dirichlet
posteriors, one for each number ``K_x`` of informative reports among the ``s_x``.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, real
from ldpnb.mechanisms.registry import FrequencyMechanism
from ldpnb.papers.lopuhaa2020.formulas.saddle import saddle_point

_NEGLIGIBLE = 1e-30
_LARGEST_TABLE = 5_000_000


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorMean:
    """Posterior means of the distribution and of the users' frequencies, ``(k,)`` each."""

    distribution: Floats
    frequencies: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Means, total variances and marginal likelihood of an exact posterior.

    - `distribution`, `frequencies`, (k,) float: posterior means.
    - `distribution_variance`, `frequency_variance`, float: traces of the posterior covariances: the mean squared errors
      of the means, given the reports.
    - `log_marginal`, float: logarithm of the probability of one sequence of reports with these tallies.
    """

    distribution: Floats
    frequencies: Floats
    distribution_variance: float
    frequency_variance: float
    log_marginal: float


def frequency_mean(distribution: ArrayLike, prior: ArrayLike, users: int) -> Floats:
    """Return the posterior mean of the frequencies from that of the distribution: ``((alpha_0 + n) mean - alpha) / n``.

    Given the users' values, the distribution is Dirichlet with parameter ``alpha + T``; so its mean, ``(..., k)``, is
    ``(alpha + E[T]) / (alpha_0 + n)``. After Theorem 3.3, lopuhaa2020 calls the expression for the frequencies more
    complicated; under a Dirichlet prior it is this simple.

    >>> frequency_mean([0.75, 0.25], [1.0, 1.0], 6).tolist()
    [0.8333333333333334, 0.16666666666666666]
    """
    alpha = np.asarray(prior)
    return np.divide(np.multiply(alpha.sum() + users, distribution) - alpha, users)


def posterior(channel: ArrayLike, tallies: ArrayLike, prior: ArrayLike) -> Posterior:
    """Return the exact posterior for any channel, by the coefficients of ``prod_y (sum_x Q[y, x] z_x)^{s_y}``.

    The coefficient of ``z^t`` is the likelihood of the users' tallies t; there are ``C(n + k - 1, k - 1)`` of them,
    however many outputs.

    Equation (21), Proposition 3.2 and Proposition A.3 of lopuhaa2020, which sums over how many users with each value
    gave each output.

    - `channel`, (m, k) float: ``Q[y, x] = Pr(y | x)``.
    - `tallies`, (m,) int: how often each output was seen.
    - `prior`, (k,) float: Dirichlet parameter, ``> 0``.
    - ValueError if the table of coefficients would exceed five million entries.

    >>> found = posterior([[0.75, 0.25], [0.25, 0.75]], [1, 0], [1.0, 1.0])
    >>> found.distribution.round(12).tolist(), round(float(np.exp(found.log_marginal)), 12)
    ([0.583333333333, 0.416666666667], 0.5)
    """
    rows, reports = real(channel), checks.counts(tallies, "tallies")
    if rows.ndim != 2:
        raise ValueError(f"channel must be a matrix, got shape {rows.shape}")
    alpha = _prior(prior, rows.shape[1])
    if rows.shape != (reports.size, alpha.size):
        raise ValueError(f"channel must have shape {(reports.size, alpha.size)}, got {rows.shape}")
    users, size = int(reports.sum()), alpha.size
    if (users + 1) ** (size - 1) > _LARGEST_TABLE:
        raise ValueError(
            f"users must be few for so many values, got {users} users and {size} values"
        )
    table, log_scale = _coefficients(rows, reports)
    holders = np.moveaxis(np.indices(table.shape), 0, -1).reshape(-1, size - 1)
    holders = np.column_stack([holders, users - holders.sum(axis=1)])
    possible = table.ravel() > 0
    holders = holders[possible]
    log_weights = np.log(table.ravel()[possible]) + gammaln(alpha + holders).sum(axis=1)
    top = log_weights.max()
    weights = np.exp(log_weights - top)
    log_marginal = (
        log_scale + top + np.log(weights.sum()) + gammaln(alpha.sum()) - gammaln(alpha).sum()
    )
    log_marginal -= gammaln(alpha.sum() + users)
    weights /= weights.sum()
    centres = (alpha + holders) / (alpha.sum() + users)
    distribution, frequencies = weights @ centres, weights @ holders / users
    within = weights @ (1 - (centres**2).sum(axis=1)) / (alpha.sum() + users + 1)
    between = weights @ ((centres - distribution) ** 2).sum(axis=1)
    spread = weights @ ((holders / users - frequencies) ** 2).sum(axis=1)
    return Posterior(
        distribution, frequencies, float(within + between), float(spread), float(log_marginal)
    )


def _coefficients(rows: Floats, reports: Ints) -> tuple[Floats, float]:
    """Return the coefficients by the exponents of all but the last variable, and the logarithm of their divisor."""
    users, size = int(reports.sum()), rows.shape[1]
    table = np.zeros((users + 1,) * (size - 1))
    table[(0,) * (size - 1)] = 1
    log_scale = 0.0
    for row, count in zip(rows, reports, strict=True):
        for _ in range(count):
            grown = row[-1] * table
            for axis in range(size - 1):
                grown += row[axis] * np.roll(table, 1, axis=axis)
            top = grown.max()
            table, log_scale = grown / top, log_scale + float(np.log(top))
    return table, log_scale


def krr_posterior(tallies: ArrayLike, prior: ArrayLike, *, epsilon: float) -> PosteriorMean:
    """Return the exact posterior means under k-ary randomised response, in O(n^2) whatever the number of values.

    With ``phi_x(z) = sum_j C(s_x, j) c^j (alpha_x)_j z^j`` and rising factorials ``(a)_j``, the weight of ``M``
    informative reports is ``[z^M] prod_x phi_x / (alpha_0)_M``. All terms are positive: nothing cancels.

    Equation (21) of lopuhaa2020, whose Proposition 3.2 gives a cost exponential in the number of values.

    - `tallies`, (k,) int: number of reports of each value.
    - `prior`, float or (k,) float: Dirichlet parameter, one number for a symmetric prior; 1/2 is Jeffreys' prior.
    - `epsilon`, float: privacy budget in nats.

    >>> krr_posterior([4, 1, 2], 0.5, epsilon=1.0).distribution.round(9).tolist()
    [0.547189841, 0.189476167, 0.263333992]
    """
    reports = checks.counts(tallies, "tallies", minimum_size=2)
    alpha, contrast = (
        _prior(prior, reports.size),
        float(np.expm1(checks.positive(epsilon, "epsilon"))),
    )
    kinds, which, repeats = _kinds(reports, alpha)
    tilt = -np.log(saddle_point(kinds, repeats, contrast).multiplier)
    factors = [_informative(int(count), own, contrast, tilt) for count, own in kinds]
    powers = [
        factor.power(repeat - 1) for factor, repeat in zip(factors, repeats.tolist(), strict=True)
    ]
    whole = [factor * power for factor, power in zip(factors, powers, strict=True)]
    before, after = [_ONE], [_ONE]
    for first, last in zip(whole[:-1], whole[:0:-1], strict=True):
        before.append(before[-1] * first)
        after.append(after[-1] * last)
    total, users = float(alpha.sum()), int(reports.sum())
    law = (factors[0] * powers[0] * after[-1]).weighted(total, tilt)
    share = law.terms / law.terms.sum() / (total + law.degrees)
    own = np.zeros(len(kinds))
    for kind in np.flatnonzero(kinds[:, 0]):
        others, one = before[kind] * powers[kind] * after[-1 - kind], factors[kind]
        moved = (others * replace(one, terms=one.terms * one.degrees)).weighted(total, tilt)
        own[kind] = moved.terms @ (
            np.exp(moved.scale - law.scale) / law.terms.sum() / (total + moved.degrees)
        )
    # on average over the number M of informative reports, and m of a value: m, 1 and n - M, each over alpha_0 + M
    counted, rest, uncounted = own[which], share.sum(), share @ (users - law.degrees)
    return PosteriorMean(
        counted + alpha * rest, ((total + users) * counted + alpha * uncounted) / users
    )


@dataclass(frozen=True, slots=True)
class _Series:
    """A polynomial with positive coefficients, ``e^scale z^start (a_0 + a_1 z + ...)``, without negligible ends."""

    start: int
    terms: Floats
    scale: float

    def __mul__(self, other: "_Series") -> "_Series":
        return _trimmed(
            self.start + other.start, np.convolve(self.terms, other.terms), self.scale + other.scale
        )

    def power(self, exponent: int) -> "_Series":
        result, square = _ONE, self
        while exponent:
            result = result * square if exponent & 1 else result
            exponent >>= 1
            square = square * square if exponent else square
        return result

    @property
    def degrees(self) -> Ints:
        return self.start + np.arange(self.terms.size)

    def weighted(self, total: float, tilt: float) -> "_Series":
        """Multiply the coefficient of ``z^M`` by ``e^{-tilt M} / (alpha_0)_M``."""
        logs = -gammaln(total + self.degrees) - tilt * self.degrees
        return _Series(
            self.start, self.terms * np.exp(logs - logs.max()), self.scale + float(logs.max())
        )


_ONE = _Series(0, np.ones(1), 0.0)


def _trimmed(start: int, terms: Floats, scale: float) -> _Series:
    top = terms.max()
    kept = np.flatnonzero(terms > _NEGLIGIBLE * top)
    return _Series(
        start + int(kept[0]), terms[kept[0] : kept[-1] + 1] / top, scale + float(np.log(top))
    )


def _informative(count: int, own: float, contrast: float, tilt: float) -> _Series:
    """Return ``phi`` of one value, with its variable scaled so that the product is concentrated like the posterior."""
    j = np.arange(count + 1)
    logs = (
        gammaln(count + 1)
        - gammaln(j + 1)
        - gammaln(count - j + 1)
        + gammaln(own + j)
        - gammaln(own)
    )
    logs += j * (np.log(contrast) + tilt)
    return _trimmed(0, np.exp(logs - logs.max()), float(logs.max()))


def krr_posterior_saddle(tallies: ArrayLike, prior: ArrayLike, *, epsilon: float) -> PosteriorMean:
    """Return approximate posterior means under k-ary randomised response, where `krr_posterior` is too slow.

    A saddle-point approximation to equation (21) of lopuhaa2020, at a cost that grows with the number of distinct
    tallies only: the coordinates are taken as independent, with density proportional to ``u^{alpha-1} (1 + c u)^s
    e^{-theta u}`` and theta such that their means sum to 1. Good when the values are many: within 4e-6 of the exact
    means at 1024 values and 10,000 users, but .01 at three values.
    """
    reports = checks.counts(tallies, "tallies", minimum_size=2)
    alpha, contrast = (
        _prior(prior, reports.size),
        float(np.expm1(checks.positive(epsilon, "epsilon"))),
    )
    kinds, which, repeats = _kinds(reports, alpha)
    distribution = saddle_point(kinds, repeats, contrast).means[which]
    return PosteriorMean(distribution, frequency_mean(distribution, alpha, int(reports.sum())))


def fitted_concentration(tallies: ArrayLike, *, epsilon: float) -> float:
    """Return the symmetric Dirichlet parameter under which reports by k-RR are likeliest: empirical Bayes.

    Section 6 of lopuhaa2020 asks for a way to use prior knowledge. The evidence comes from the saddle-point
    approximation, and the search stays between .001 and 1000, near which the reports look as if every value were
    equally frequent.
    """
    from scipy.optimize import minimize_scalar

    reports = checks.counts(tallies, "tallies", minimum_size=2)
    contrast = float(np.expm1(checks.positive(epsilon, "epsilon")))

    def lack(log_alpha: float) -> float:
        kinds, _, repeats = _kinds(reports, np.full(reports.size, np.exp(log_alpha)))
        return -saddle_point(kinds, repeats, contrast).log_evidence

    limits = (np.log(1e-3), np.log(1e3))
    return float(
        np.exp(minimize_scalar(lack, bounds=limits, method="bounded", options={"xatol": 1e-2}).x)
    )


def support_posterior(
    outputs: ArrayLike,
    tallies: ArrayLike,
    mechanism: FrequencyMechanism,
    prior: ArrayLike,
    *,
    sweeps: int,
    rng: np.random.Generator,
) -> tuple[PosteriorMean, Floats]:
    """Return posterior means for reports that each support a set of values, by Gibbs sampling, and their errors.

    The likelihood is ``prod_y (1 + (e^epsilon - 1) P(y))^{s_y}`` (equation (21) of lopuhaa2020). Each sweep draws how
    many reports of each kind are informative, which value each of them stands for, and a distribution given those.

    - `outputs`, (m, k) bits: distinct reports: which values each supports.
    - `tallies`, (m,) int: how often each was seen.
    - `mechanism`, FrequencyMechanism: its ``epsilon``.
    - `prior`, float or (k,) float: Dirichlet parameter.
    - `sweeps`, int: sweeps kept, ``>= 40``, after a burn-in of a quarter as many.
    - Returns PosteriorMean: averages of the conditional means.
    - Returns `standard_error`, (k,) float: Monte Carlo error of the mean of the distribution, from twenty batches.
    """
    bits, reports = np.asarray(outputs, dtype=float), checks.counts(tallies, "tallies")
    if bits.shape != (reports.size, mechanism.domain_size):
        raise ValueError(
            f"outputs must have shape {(reports.size, mechanism.domain_size)}, got {bits.shape}"
        )
    alpha, contrast = _prior(prior, mechanism.domain_size), float(np.expm1(mechanism.epsilon))
    warm, kept = checks.whole(sweeps, "sweeps", at_least=40) // 4, sweeps - sweeps % 20
    useful = bits.any(axis=1)
    bits, counts = bits[useful], reports[useful]
    point, means = np.full(alpha.size, 1 / alpha.size), np.full((kept, alpha.size), np.nan)
    for sweep in range(-warm, kept):
        parts = bits * point
        mass = parts.sum(axis=1)
        informative = rng.binomial(counts, contrast * mass / (1 + contrast * mass))
        shape = alpha + rng.multinomial(informative, parts / mass[:, None]).sum(axis=0)
        point = np.maximum(rng.dirichlet(shape), np.finfo(float).tiny)
        if sweep >= 0:
            means[sweep] = shape / shape.sum()
    batches = means.reshape(20, -1, alpha.size).mean(axis=1)
    distribution = means.mean(axis=0)
    frequencies = frequency_mean(distribution, alpha, int(reports.sum()))
    return PosteriorMean(distribution, frequencies), batches.std(axis=0, ddof=1) / np.sqrt(20)


def _kinds(reports: Ints, alpha: Floats) -> tuple[Floats, Ints, Ints]:
    """Return the distinct pairs of tally and prior parameter, each value's pair, and how many values have it."""
    pairs = np.column_stack([reports, alpha])
    kinds, which, repeats = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    return kinds, which.ravel(), repeats


def _prior(prior: ArrayLike, size: int) -> Floats:
    return np.broadcast_to(checks.numbers(prior, "prior", low=0, above=True), (size,)).copy()
