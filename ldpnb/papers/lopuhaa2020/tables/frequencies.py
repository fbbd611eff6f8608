"""Mean squared errors of frequency estimators under local privacy, by simulation.

Every estimator of a comparison sees the same reports, so differences are paired. The truths of a
setting are the same at every epsilon. Random streams are keyed by setting and draw, so no number
depends on which other points are computed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints
from ldpnb.data import synthetic
from ldpnb.estimators import frequency, likelihood
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.registry import FREQUENCY, FrequencyMechanism
from ldpnb.notebook import Rows, table
from ldpnb.papers.lopuhaa2020.formulas import bayes
from ldpnb.rng import stream

Key = tuple[str | int | float, ...]

EPSILON = "epsilon (nats)"
RATIO_ERROR = "standard error of the ratio"

_ROUNDING = 1e-9
"""Two errors with a smaller relative difference are those of one estimate, computed in two ways."""


# What is to be estimated


@dataclass(frozen=True, slots=True)
class Truth:
    """Where the true distribution and frequencies of each repetition come from.

    Parameters
    ----------
    key : tuple
        What tells its random stream from those of other truths.
    domain_size : int
        Number of values.
    draw : callable
        Takes a generator, and returns the distribution, which is nan where there is none to
        estimate, and the number of users with each value.
    """

    key: Key
    domain_size: int
    draw: Callable[[np.random.Generator], tuple[Floats, Ints]]

    @classmethod
    def from_prior(cls, domain_size: int, users: int, concentration: float = 0.5) -> "Truth":
        """Draw distributions from a symmetric Dirichlet prior, and users from each.

        A concentration of 1/2 is Jeffreys' prior.
        """

        def draw(rng: np.random.Generator) -> tuple[Floats, Ints]:
            distribution = rng.dirichlet(np.full(domain_size, concentration))
            return distribution, synthetic.sample_counts(distribution, users, rng=rng)

        return cls(("Dirichlet", domain_size, users, concentration), domain_size, draw)

    @classmethod
    def from_distribution(cls, name: str, distribution: ArrayLike, users: int) -> "Truth":
        """Draw users from one fixed distribution."""
        chances = np.asarray(distribution)

        def draw(rng: np.random.Generator) -> tuple[Floats, Ints]:
            return chances, synthetic.sample_counts(chances, users, rng=rng)

        return cls((name, chances.size, users), chances.size, draw)

    @classmethod
    def from_counts(cls, name: str, counts: ArrayLike) -> "Truth":
        """Use one data set, the number of users with each value.

        It is a sample of nothing, so there is no distribution to estimate.
        """
        holders = np.asarray(counts)
        no_distribution = np.full(holders.size, np.nan)

        def draw(_: np.random.Generator) -> tuple[Floats, Ints]:
            return no_distribution, holders

        return cls((name, holders.size, int(holders.sum())), holders.size, draw)

    def draws(self, number: int, *, seed: int) -> tuple[Floats, Ints]:
        """Draw distributions and users per value, of shape (number, k) each.

        Every row comes from its own stream.
        """
        distributions = []
        users = []
        for repetition in range(number):
            rng = stream("truth", *self.key, repetition, seed=seed)
            distribution, holders = self.draw(rng)
            distributions.append(distribution)
            users.append(holders)
        return np.array(distributions), np.array(users)


def zipf(domain_size: int, exponent: float) -> Floats:
    """Return the distribution with probabilities proportional to ``rank^-exponent``.

    >>> zipf(2, 1.0).round(6).tolist()
    [0.666667, 0.333333]
    """
    weights = np.arange(1, domain_size + 1) ** -exponent
    return np.asarray(weights / weights.sum())


# From what it is estimated


@dataclass(frozen=True, slots=True)
class RepeatedReports:
    """The reports of several repetitions, as tallies.

    Parameters
    ----------
    mechanism : FrequencyMechanism
        The protocol that made them.
    outputs : ndarray of uint8, shape (m, k), optional
        The values that each output supports. If it is None, output ``x`` supports the value ``x``.
    tallies : ndarray of int, shape (draws, m)
        How often each output was seen, by repetition.
    """

    mechanism: FrequencyMechanism
    outputs: NDArray[np.uint8] | None
    tallies: Ints

    @property
    def users(self) -> int:
        """Number of users in each repetition."""
        return int(self.tallies[0].sum())

    @property
    def supports(self) -> Ints:
        """Number of reports that support each value, of shape (draws, k)."""
        if self.outputs is None:
            return self.tallies
        return self.tallies @ self.outputs.astype(np.int64)


def sample_reports(
    mechanism: FrequencyMechanism, users: Ints, rngs: Sequence[np.random.Generator]
) -> RepeatedReports:
    """Draw the tallies of every repetition from their exact joint distribution.

    Parameters
    ----------
    mechanism : FrequencyMechanism
        The protocol. Unary encoding takes at most 12 values, since all its outputs are listed.
    users : ndarray of int, shape (draws, k)
        Number of users with each value, by repetition.
    rngs : sequence of numpy.random.Generator
        Source of randomness of each repetition.
    """
    tallies = []
    if not isinstance(mechanism, UnaryEncoding):
        for holders, rng in zip(users, rngs, strict=True):
            tallies.append(mechanism.sample_tallies(holders, rng=rng))
        return RepeatedReports(mechanism, None, np.array(tallies))

    chances = mechanism.channel().T
    chances = chances / chances.sum(axis=1, keepdims=True)
    for holders, rng in zip(users, rngs, strict=True):
        tallies.append(rng.multinomial(holders, chances).sum(axis=0))
    return RepeatedReports(mechanism, mechanism.outputs(), np.array(tallies))


def streamed_reports(
    name: str, key: Key, epsilon: float, users: Ints, seed: int
) -> RepeatedReports:
    """Draw the tallies of every repetition, each from its own stream."""
    rngs = []
    for repetition in range(len(users)):
        rngs.append(stream("reports", name, *key, epsilon, repetition, seed=seed))
    return sample_reports(MECHANISMS[name](epsilon, users.shape[1]), users, rngs)


MECHANISMS = MappingProxyType({name: FREQUENCY[name] for name in ("k-RR", "OUE", "SUE")})
"""Those of the source's experiments. Each takes epsilon and domain size."""


# How it is estimated

Estimator = Callable[[RepeatedReports], Floats | tuple[Floats, Floats]]
"""From reports to estimates of shape (draws, k).

They are either for both targets alike, or one for the distribution and one for the frequencies.
"""


def estimate_unbiased(reports: RepeatedReports) -> Floats:
    """Return the unbiased estimates."""
    return frequency.unbiased(reports.supports, reports.users, reports.mechanism)


def estimate_norm_sub(reports: RepeatedReports) -> Floats:
    """Return the probabilities that are nearest to the unbiased estimates."""
    return frequency.project_simplex(estimate_unbiased(reports))


def estimate_mle(reports: RepeatedReports) -> Floats:
    """Return the maximum-likelihood estimates.

    They are exact for k-ary randomised response and certified otherwise.
    """
    if reports.outputs is None:
        return likelihood.krr_mle(reports.tallies, epsilon=reports.mechanism.epsilon)

    contrast = np.expm1(reports.mechanism.epsilon)
    # So small that every draw's zeros are settled: the rest is solved to rounding level, and no
    # digit depends on the BLAS.
    tolerance = max(1e-6, 1e-12 * reports.users)
    channel = 1 + contrast * reports.outputs
    return likelihood.mle(channel, reports.tallies, tolerance=tolerance).estimate


def estimate_scaled(reports: RepeatedReports) -> Floats:
    """Return what Wang et al. (2020), reference [25] of the source, call the MLE."""
    offset = frequency.normal_offset(reports.mechanism)
    return frequency.scale_simplex(estimate_unbiased(reports), offset)


def estimate_uniform(reports: RepeatedReports) -> Floats:
    """Return equal frequencies, without looking at the reports."""
    return np.full(reports.supports.shape, 1 / reports.mechanism.domain_size)


def estimate_bayes(reports: RepeatedReports) -> tuple[Floats, Floats]:
    """Return the posterior means under Jeffreys' prior, for k-ary randomised response."""
    return _posterior_means(reports, [0.5] * len(reports.tallies))


def estimate_empirical_bayes(reports: RepeatedReports) -> tuple[Floats, Floats]:
    """Return the posterior means under the prior that fits the reports best.

    It is for k-ary randomised response, and the priors are symmetric Dirichlet priors.
    """
    epsilon = reports.mechanism.epsilon
    fitted = [bayes.fitted_concentration(tally, epsilon=epsilon) for tally in reports.tallies]
    return _posterior_means(reports, fitted)


def _posterior_means(
    reports: RepeatedReports, concentrations: Sequence[float]
) -> tuple[Floats, Floats]:
    """Return posterior means of distribution and frequencies by the saddle point."""
    epsilon = reports.mechanism.epsilon
    distributions = []
    frequencies = []
    for tally, concentration in zip(reports.tallies, concentrations, strict=True):
        means = bayes.krr_posterior_saddle(tally, concentration, epsilon=epsilon)
        distributions.append(means.distribution)
        frequencies.append(means.frequencies)
    return np.array(distributions), np.array(frequencies)


SOURCE_ESTIMATORS: Mapping[str, Estimator] = MappingProxyType(
    {
        "unbiased": estimate_unbiased,
        "Norm-Sub": estimate_norm_sub,
        "MLE": estimate_mle,
    }
)
"""The three estimators in Section 5 of Lopuhaä-Zwakenberg et al. (2020)."""

ESTIMATORS: Mapping[str, Estimator] = MappingProxyType(
    {
        **SOURCE_ESTIMATORS,
        "MLE of [25]": estimate_scaled,
        "uniform guess": estimate_uniform,
        "Bayes": estimate_bayes,
        "empirical Bayes": estimate_empirical_bayes,
    }
)
"""All estimators, by their names in figures."""


def krr_estimate(name: str, tallies: Ints, epsilon: float) -> Floats:
    """Estimate from tallies under k-ary randomised response.

    The name is a key of `ESTIMATORS`, of one that estimates both targets alike.
    """
    mechanism = KaryRandomisedResponse(epsilon, tallies.shape[1])
    return np.asarray(ESTIMATORS[name](RepeatedReports(mechanism, None, tallies)))


# Tables


@table
def compare(
    mechanism: str,
    truth: Truth,
    epsilons: Sequence[float],
    *,
    draws: int,
    seed: int,
    estimators: Mapping[str, Estimator] = SOURCE_ESTIMATORS,
    baseline: str = "Norm-Sub",
) -> Rows:
    """Compare estimators of distribution and frequencies over a grid of epsilon.

    There is a row for each epsilon, target and estimator. It has the mean of the squared Euclidean
    error and its standard error, and compares the estimator with the baseline: the ratio of the
    mean errors, and its standard error by the delta method; as ratio error, the standard error of
    the mean paired difference, divided by the baseline's mean error; and as ``z``, that mean
    difference, divided by its standard error. The row of the baseline itself has none of the last
    three.

    Parameters
    ----------
    mechanism : str
        A key of `MECHANISMS`.
    truth : Truth
        What the estimates are compared with.
    epsilons : sequence of float
        Privacy budgets in nats.
    draws : int
        Number of repetitions, at least 2.
    seed : int
        Seed of the random streams.
    estimators : mapping of str to Estimator
        Estimators by name.
    baseline : str
        A key of `estimators`.
    """
    checks.choice(mechanism, "mechanism", among=tuple(MECHANISMS))
    checks.choice(baseline, "baseline", among=tuple(estimators))
    distributions, users = truth.draws(checks.whole(draws, "draws", at_least=2), seed=seed)

    for epsilon in epsilons:
        reports = streamed_reports(mechanism, truth.key, epsilon, users, seed)
        errors = _squared_errors(reports, estimators, distributions, users / reports.users)
        setting = {
            "mechanism": mechanism,
            "domain size": truth.domain_size,
            "users": reports.users,
            EPSILON: epsilon,
        }

        for (target, name), error in errors.items():
            if np.isnan(error).any():
                continue
            comparison = _compared(error, errors[target, baseline], itself=name == baseline)
            yield setting | {"target": target, "estimator": name} | comparison


def _squared_errors(
    reports: RepeatedReports,
    estimators: Mapping[str, Estimator],
    distributions: Floats,
    frequencies: Floats,
) -> dict[tuple[str, str], Floats]:
    """Return the error of each repetition, by target and estimator."""
    errors = {}
    for name, estimator in estimators.items():
        estimates = estimator(reports)
        if isinstance(estimates, tuple):
            of_distribution, of_frequencies = estimates
        else:
            of_distribution = of_frequencies = estimates
        errors["distribution", name] = ((of_distribution - distributions) ** 2).sum(axis=1)
        errors["frequency", name] = ((of_frequencies - frequencies) ** 2).sum(axis=1)
    return errors


def _compared(error: Floats, reference: Floats, *, itself: bool) -> dict[str, float]:
    """Return an estimator's mean error, and how it compares with the baseline's in each draw."""
    root = np.sqrt(error.size)
    if itself:
        difference = np.full(error.size, np.nan)
    else:
        differs = np.abs(error - reference) > _ROUNDING * reference
        difference = np.where(differs, error - reference, 0.0)
    deviation = difference.std(ddof=1) / root

    # What is left of the error where the ratio predicts it from the baseline's.
    excess = difference.mean() / reference.mean()
    residual = difference - excess * reference

    return {
        "mean squared error": error.mean(),
        "standard error": error.std(ddof=1) / root,
        "ratio": error.mean() / reference.mean(),
        RATIO_ERROR: residual.std(ddof=1) / root / reference.mean(),
        "ratio error": deviation / reference.mean(),
        "z": difference.mean() / deviation if deviation != 0 else 0.0,
    }


@table
def one_run(mechanism: str, counts: Ints, epsilons: Sequence[float], *, seed: int) -> Rows:
    """Estimate one data set once per budget, with the estimators of the source.

    All of them see the same reports. The counts are the numbers of users with each value.
    """
    users = np.asarray(counts)[None]

    for epsilon in epsilons:
        rng = stream("one run", mechanism, epsilon, seed=seed)
        reports = sample_reports(MECHANISMS[mechanism](epsilon, users.size), users, [rng])

        for name, estimator in SOURCE_ESTIMATORS.items():
            estimates = np.asarray(estimator(reports))[0]

            for value, truth in enumerate(users[0] / users.sum()):
                yield {
                    EPSILON: epsilon,
                    "estimator": name,
                    "value": value,
                    "truth": truth,
                    "estimate": estimates[value],
                }
