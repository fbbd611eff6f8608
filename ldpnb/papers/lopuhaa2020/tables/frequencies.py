"""Mean squared errors of frequency estimators under local privacy, by Monte Carlo over truths and reports.

Every estimator of a comparison sees the same reports, so that differences are paired. The truths of a setting are the
same at every epsilon. Random streams are keyed by setting and draw: the numbers do not depend on the number of workers,
nor on which other points are computed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.data import synthetic
from ldpnb.estimators import bayes, frequency, likelihood
from ldpnb.mechanisms.frequency import FrequencyMechanism, KaryRandomisedResponse, UnaryEncoding
from ldpnb.rng import stream

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class Truth(Protocol):
    """Where a repetition's true distribution and frequencies come from."""

    @property
    def key(self) -> tuple[str | int | float, ...]:
        """What tells this truth's random stream from others'."""

    @property
    def domain_size(self) -> int:
        """Number of values."""

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Counts]:
        """Return the distribution and the users per value."""


@dataclass(frozen=True, slots=True)
class FromPrior:
    """A distribution from a symmetric Dirichlet prior, and users drawn from it; concentration 1/2 is Jeffreys' prior.

    Parameters
    ----------
    domain_size, users : int
    concentration : float
    """

    domain_size: int
    users: int
    concentration: float = 0.5

    @property
    def key(self) -> tuple[str | int | float, ...]:
        """What tells this truth's random stream from others'."""
        return ("Dirichlet", self.domain_size, self.users, self.concentration)

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Counts]:
        """Return a distribution and the users per value."""
        distribution = synthetic.dirichlet(self.domain_size, self.concentration, rng=rng)
        return distribution, synthetic.sample_counts(distribution, self.users, rng=rng)


@dataclass(frozen=True, slots=True)
class FromDistribution:
    """Users drawn from one fixed distribution.

    Parameters
    ----------
    name : str
        Tells its random stream from others'.
    distribution : tuple of float
    users : int
    """

    name: str
    distribution: tuple[float, ...]
    users: int

    @property
    def key(self) -> tuple[str | int | float, ...]:
        """What tells this truth's random stream from others'."""
        return (self.name, len(self.distribution), self.users)

    @property
    def domain_size(self) -> int:
        """Number of values."""
        return len(self.distribution)

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Counts]:
        """Return the distribution and users per value."""
        chances = np.asarray(self.distribution)
        return chances, synthetic.sample_counts(chances, self.users, rng=rng)


def zipf(domain_size: int, exponent: float) -> tuple[float, ...]:
    """Return the distribution with probabilities proportional to ``rank^-exponent``.

    Examples
    --------
    >>> [round(share, 6) for share in zipf(2, 1.0)]
    [0.666667, 0.333333]
    """
    weights = np.arange(1, checks.whole(domain_size=domain_size, at_least=2) + 1) ** -checks.positive(exponent=exponent)
    return tuple((weights / weights.sum()).tolist())


@dataclass(frozen=True, slots=True)
class FixedCounts:
    """One data set, whose users are not a sample of anything: there is no distribution to estimate.

    Parameters
    ----------
    name : str
        Tells its random stream from others'.
    counts : tuple of int
        Users per value.
    """

    name: str
    counts: tuple[int, ...]

    @property
    def key(self) -> tuple[str | int | float, ...]:
        """What tells this truth's random stream from others'."""
        return (self.name, len(self.counts), sum(self.counts))

    @property
    def domain_size(self) -> int:
        """Number of values."""
        return len(self.counts)

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Counts]:
        """Return no distribution (nan) and the users per value."""
        return np.full(len(self.counts), np.nan), np.asarray(self.counts)


@dataclass(frozen=True, slots=True)
class Reports:
    """The reports of several repetitions, as tallies.

    Parameters
    ----------
    mechanism : FrequencyMechanism
    outputs : (m, k) uint8, optional
        The values that each output supports; without it, output ``x`` supports the value ``x``.
    tallies : (draws, m) int
        How often each output was seen.
    """

    mechanism: FrequencyMechanism
    outputs: NDArray[np.uint8] | None
    tallies: Counts

    @property
    def users(self) -> int:
        """Number of users in each repetition."""
        return int(self.tallies[0].sum())

    @property
    def supports(self) -> Counts:
        """Return how many reports support each value, ``(draws, k)``."""
        return self.tallies if self.outputs is None else self.tallies @ self.outputs.astype(np.int64)


Estimator = Callable[[Reports], Floats | tuple[Floats, Floats]]
"""From reports to estimates ``(draws, k)``: one for both targets, or one of the distribution and one of the
frequencies.
"""

MECHANISMS: Mapping[str, Callable[[float, int], FrequencyMechanism]] = {
    "k-RR": KaryRandomisedResponse,
    "OUE": UnaryEncoding.optimised,
    "SUE": UnaryEncoding.symmetric,
}
"""By name: epsilon and domain size to mechanism."""


def estimate_unbiased(reports: Reports) -> Floats:
    """Return the unbiased estimates."""
    return frequency.unbiased(reports.supports, reports.users, reports.mechanism)


def estimate_norm_sub(reports: Reports) -> Floats:
    """Return the unbiased estimates projected onto the simplex."""
    return frequency.project_simplex(estimate_unbiased(reports))


def estimate_mle(reports: Reports) -> Floats:
    """Return the maximum-likelihood estimates, exact for k-ary randomised response and certified otherwise."""
    if reports.outputs is None:
        return likelihood.krr_mle(reports.tallies, epsilon=reports.mechanism.epsilon)
    contrast = np.expm1(reports.mechanism.epsilon)
    # so near that every draw's zeros are settled: the rest is solved to rounding level, and no digit hangs on the BLAS
    tolerance = max(1e-6, 1e-12 * reports.users)
    return likelihood.mle(1 + contrast * reports.outputs, reports.tallies, tolerance=tolerance).estimate


def estimate_uniform(reports: Reports) -> Floats:
    """Return the uniform distribution, whatever was reported."""
    return np.full(reports.supports.shape, 1 / reports.mechanism.domain_size)


def bayes_estimator(concentration: float, *, exact: bool) -> Estimator:
    """Return the posterior means under a symmetric Dirichlet prior, for k-ary randomised response.

    Parameters
    ----------
    concentration : float
        Of the prior the estimate assumes.
    exact : bool
        Exact in O(n^2), or the saddle-point approximation.
    """
    solve = bayes.krr_posterior if exact else bayes.krr_posterior_saddle

    def estimate(reports: Reports) -> tuple[Floats, Floats]:
        found = [solve(tally, concentration, epsilon=reports.mechanism.epsilon) for tally in reports.tallies]
        return np.array([one.distribution for one in found]), np.array([one.frequencies for one in found])

    return estimate


def estimate_empirical_bayes(reports: Reports) -> tuple[Floats, Floats]:
    """Return the posterior means under the symmetric Dirichlet prior that fits the reports best, for k-ary randomised
    response.
    """
    epsilon, found = reports.mechanism.epsilon, []
    for tally in reports.tallies:
        fitted = bayes.fitted_concentration(tally, epsilon=epsilon)
        found.append(bayes.krr_posterior_saddle(tally, fitted, epsilon=epsilon))
    return np.array([one.distribution for one in found]), np.array([one.frequencies for one in found])


SOURCE_ESTIMATORS: Mapping[str, Estimator] = {
    "unbiased": estimate_unbiased,
    "Norm-Sub": estimate_norm_sub,
    "MLE": estimate_mle,
}
"""The three estimators of Section 5 of lopuhaa2020."""


def compare(
    mechanism: str,
    truth: Truth,
    epsilons: Sequence[float],
    *,
    draws: int,
    seed: int,
    estimators: Mapping[str, Estimator] = SOURCE_ESTIMATORS,
    baseline: str = "Norm-Sub",
    workers: int = 1,
) -> pd.DataFrame:
    """Compare estimators of distribution and frequencies over a grid of epsilon.

    Parameters
    ----------
    mechanism : str
        A key of `MECHANISMS`.
    truth : Truth
    epsilons : sequence of float
        Privacy budgets, nats.
    draws : int
        Repetitions per point, ``>= 2``.
    seed : int
    estimators : mapping of str to Estimator
    baseline : str
        The estimator that the others are compared with.
    workers : int
        Processes; the result is the same for any number.

    Returns
    -------
    DataFrame
        A row per epsilon, target (``distribution`` or ``frequency``) and estimator. Columns ``mechanism, domain_size,
        users, epsilon, target, estimator``; ``mse``, the mean of the squared Euclidean error, and its
        ``standard_error``; ``ratio``, the mse over the baseline's, and ``ratio_error``, the standard error of the mean
        paired difference over the baseline's mse; ``z``, that mean over its standard error. The baseline itself has
        neither ratio error nor z.
    """
    checks.choice(mechanism=mechanism, among=tuple(MECHANISMS))
    checks.choice(baseline=baseline, among=tuple(estimators))
    checks.whole(draws=draws, at_least=2)
    pairs = [truth.draw(stream("truth", *truth.key, draw, seed=seed)) for draw in range(draws)]
    truths = {"distribution": np.array([p for p, _ in pairs]), "users": np.array([t for _, t in pairs])}
    points = [(mechanism, truth.key, truths, epsilon, seed, estimators, baseline) for epsilon in epsilons]
    if workers == 1:
        return pd.concat([_point(*point) for point in points], ignore_index=True)
    from joblib import Parallel, delayed

    tables: list[pd.DataFrame] = Parallel(n_jobs=workers)(delayed(_point)(*point) for point in points)
    return pd.concat(tables, ignore_index=True)


def sample_reports(mechanism: FrequencyMechanism, users: Counts, rngs: Sequence[np.random.Generator]) -> Reports:
    """Draw the tallies of every repetition from their exact joint law.

    Parameters
    ----------
    mechanism : FrequencyMechanism
        Unary encoding: at most 12 values, whose outputs are all listed.
    users : (draws, k) int
        Users per value in each repetition.
    rngs : sequence of Generator
        One per repetition.

    Returns
    -------
    Reports
    """
    if isinstance(mechanism, UnaryEncoding):
        laws = mechanism.channel().T
        laws = laws / laws.sum(axis=1, keepdims=True)
        tallies = [rng.multinomial(held, laws).sum(axis=0) for held, rng in zip(users, rngs, strict=True)]
        return Reports(mechanism, mechanism.outputs(), np.array(tallies))
    tallies = [mechanism.sample_tallies(held, rng=rng) for held, rng in zip(users, rngs, strict=True)]
    return Reports(mechanism, None, np.array(tallies))


def _point(
    name: str,
    key: tuple[str | int | float, ...],
    truths: Mapping[str, NDArray[Any]],
    epsilon: float,
    seed: int,
    estimators: Mapping[str, Estimator],
    baseline: str,
) -> pd.DataFrame:
    users = truths["users"]
    draws, size = users.shape
    rngs = [stream("reports", name, *key, epsilon, draw, seed=seed) for draw in range(draws)]
    reports = sample_reports(MECHANISMS[name](epsilon, size), users, rngs)
    targets = {"distribution": truths["distribution"], "frequency": users / reports.users}
    errors: dict[tuple[str, str], Floats] = {}
    for estimator, function in estimators.items():
        estimates = function(reports)
        both = estimates if isinstance(estimates, tuple) else (estimates, estimates)
        for (target, true), estimate in zip(targets.items(), both, strict=True):
            errors[target, estimator] = ((estimate - true) ** 2).sum(axis=1)
    rows = []
    for (target, estimator), error in errors.items():
        reference = errors[target, baseline]
        if np.isnan(error).any():
            continue
        difference = error - reference if estimator != baseline else np.full(draws, np.nan)
        spread = difference.std(ddof=1) / np.sqrt(draws)
        rows.append(
            {"mechanism": name, "domain_size": size, "users": reports.users, "epsilon": epsilon}
            | {"target": target, "estimator": estimator, "mse": error.mean()}
            | {"standard_error": error.std(ddof=1) / np.sqrt(draws), "ratio": error.mean() / reference.mean()}
            | {"ratio_error": spread / reference.mean(), "z": difference.mean() / spread if spread != 0 else 0.0}
        )
    return pd.DataFrame(rows)


def early_stopping(
    mechanism: str, truth: Truth, epsilon: float, steps: Sequence[int], *, draws: int, seed: int
) -> pd.DataFrame:
    """Compare expectation maximisation from the uniform distribution, stopped early, with the certified MLE.

    Parameters
    ----------
    mechanism : str
        A key of `MECHANISMS`; unary encoding of at most 12 values.
    truth : Truth
    epsilon : float
        Nats.
    steps : sequence of int
        After how many steps to look, rising.
    draws : int
    seed : int

    Returns
    -------
    DataFrame
        Columns ``estimate``; ``shortfall``, the largest bound over the draws on what the log-likelihood lacks, in nats;
        ``mse`` of the frequencies.
    """
    pairs = [truth.draw(stream("truth", *truth.key, draw, seed=seed)) for draw in range(draws)]
    users = np.array([held for _, held in pairs])
    rngs = [stream("reports", mechanism, *truth.key, epsilon, draw, seed=seed) for draw in range(draws)]
    made = MECHANISMS[mechanism](epsilon, truth.domain_size)
    reports = sample_reports(made, users, rngs)
    rows = 1 + np.expm1(epsilon) * (np.eye(truth.domain_size) if reports.outputs is None else reports.outputs)
    shares = reports.tallies / reports.users
    best = likelihood.mle(rows, reports.tallies)
    point, found = (
        np.full(users.shape, 1 / truth.domain_size),
        [("certified MLE", float(best.gap.max()), best.estimate)],
    )
    for step in range(max(steps) + 1):
        gradient = (shares / (point @ rows.T)) @ rows
        if step in steps:
            found.append((f"EM, {step} steps", float(reports.users * (gradient.max(axis=1) - 1).max()), point))
        point = point * gradient
    true = users / reports.users
    return pd.DataFrame(
        {"estimate": name, "shortfall": gap, "mse": ((estimate - true) ** 2).sum(axis=1).mean()}
        for name, gap, estimate in found
    )


def one_run(mechanism: str, counts: Counts, epsilons: Sequence[float], *, seed: int) -> pd.DataFrame:
    """Estimate one data set once per budget with the source's estimators, all from the same reports.

    Parameters
    ----------
    mechanism : str
        A key of `MECHANISMS`.
    counts : (k,) int
        Users per value.
    epsilons : sequence of float
        Nats.
    seed : int

    Returns
    -------
    DataFrame
        Columns ``epsilon, estimator, value, truth, estimate``.
    """
    parts, users = [], np.asarray(counts)[None]
    for epsilon in epsilons:
        rng = stream("one run", mechanism, epsilon, seed=seed)
        reports = sample_reports(MECHANISMS[mechanism](epsilon, users.size), users, [rng])
        for name, estimator in SOURCE_ESTIMATORS.items():
            estimate = np.asarray(estimator(reports))[0]
            rows = {"epsilon": epsilon, "estimator": name, "value": np.arange(users.size)}
            parts.append(pd.DataFrame(rows | {"truth": users[0] / users.sum(), "estimate": estimate}))
    return pd.concat(parts, ignore_index=True)
