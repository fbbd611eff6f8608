"""Mean squared errors of frequency estimators under local privacy, by Monte Carlo over truths and reports.

Every estimator of a comparison sees the same reports, so that differences are paired. The truths of a setting are the
same at every epsilon. Random streams are keyed by setting and draw: no number depends on which other points are
computed.
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
_ROUNDING = 1e-9
"""Two errors that differ by less, relatively, are those of one estimate, computed in two ways."""


@dataclass(frozen=True, slots=True)
class Truth:
    """Where the true distribution and frequencies of each repetition come from.

    - `key`, tuple: what tells its random stream from others'.
    - `domain_size`, int: number of values.
    - `draw`, callable: from a generator to the distribution, nan where there is none to estimate, and the users per
      value.
    """

    key: Key
    domain_size: int
    draw: Callable[[np.random.Generator], tuple[Floats, Ints]]

    @classmethod
    def from_prior(cls, domain_size: int, users: int, concentration: float = 0.5) -> "Truth":
        """Return distributions from a symmetric Dirichlet prior, Jeffreys' at 1/2, and users drawn from each."""

        def draw(rng: np.random.Generator) -> tuple[Floats, Ints]:
            distribution = rng.dirichlet(np.full(domain_size, concentration))
            return distribution, synthetic.sample_counts(distribution, users, rng=rng)

        return cls(("Dirichlet", domain_size, users, concentration), domain_size, draw)

    @classmethod
    def from_distribution(cls, name: str, distribution: ArrayLike, users: int) -> "Truth":
        """Return users drawn from one fixed distribution."""
        chances = np.asarray(distribution)
        key = (name, chances.size, users)
        return cls(
            key,
            chances.size,
            lambda rng: (chances, synthetic.sample_counts(chances, users, rng=rng)),
        )

    @classmethod
    def from_counts(cls, name: str, counts: ArrayLike) -> "Truth":
        """Return one data set, users per value, that is a sample of nothing: there is no distribution to estimate."""
        holders = np.asarray(counts)
        size, nothing = holders.size, np.full(holders.size, np.nan)
        return cls((name, size, int(holders.sum())), size, lambda _: (nothing, holders))

    def draws(self, number: int, *, seed: int) -> tuple[Floats, Ints]:
        """Return so many distributions and users per value, a row each from its own stream."""
        drawn = [self.draw(stream("truth", *self.key, draw, seed=seed)) for draw in range(number)]
        distributions, users = zip(*drawn, strict=True)
        return np.array(distributions), np.array(users)


def zipf(domain_size: int, exponent: float) -> Floats:
    """Return the distribution with probabilities proportional to ``rank^-exponent``.

    >>> zipf(2, 1.0).round(6).tolist()
    [0.666667, 0.333333]
    """
    weights = np.arange(1, domain_size + 1) ** -exponent
    return np.asarray(weights / weights.sum())


@dataclass(frozen=True, slots=True)
class Reports:
    """The reports of several repetitions, as tallies.

    - `mechanism`, FrequencyMechanism
    - `outputs`, (m, k) uint8, optional: the values that each output supports; without it, output ``x`` supports the
      value ``x``.
    - `tallies`, (draws, m) int: how often each output was seen.
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
        """Return how many reports support each value, ``(draws, k)``."""
        return (
            self.tallies if self.outputs is None else self.tallies @ self.outputs.astype(np.int64)
        )


Estimator = Callable[[Reports], Floats | tuple[Floats, Floats]]
"""From reports to estimates ``(draws, k)``, of both targets or one of the distribution and one of the frequencies."""

MECHANISMS = MappingProxyType({name: FREQUENCY[name] for name in ("k-RR", "OUE", "SUE")})
"""Those of the source's experiments: epsilon and domain size to mechanism."""


def estimate_unbiased(reports: Reports) -> Floats:
    """Return the unbiased estimates."""
    return frequency.unbiased(reports.supports, reports.users, reports.mechanism)


def estimate_mle(reports: Reports) -> Floats:
    """Return the maximum-likelihood estimates, exact for k-ary randomised response and certified otherwise."""
    if reports.outputs is None:
        return likelihood.krr_mle(reports.tallies, epsilon=reports.mechanism.epsilon)
    contrast = np.expm1(reports.mechanism.epsilon)
    # so near that every draw's zeros are settled: the rest is solved to rounding level, and no digit hangs on the BLAS
    tolerance = max(1e-6, 1e-12 * reports.users)
    return likelihood.mle(
        1 + contrast * reports.outputs, reports.tallies, tolerance=tolerance
    ).estimate


def _posterior_means(reports: Reports, *, fitted: bool = False) -> tuple[Floats, Floats]:
    """Return posterior means of distribution and frequencies by the saddle point."""
    epsilon, means = reports.mechanism.epsilon, []
    for tally in reports.tallies:
        alpha = bayes.fitted_concentration(tally, epsilon=epsilon) if fitted else 0.5
        means.append(bayes.krr_posterior_saddle(tally, alpha, epsilon=epsilon))
    return np.array([one.distribution for one in means]), np.array(
        [one.frequencies for one in means]
    )


ESTIMATORS: Mapping[str, Estimator] = MappingProxyType(
    {
        "unbiased": estimate_unbiased,
        "Norm-Sub": lambda reports: frequency.project_simplex(estimate_unbiased(reports)),
        "MLE": estimate_mle,
        "MLE of [25]": lambda reports: frequency.scale_simplex(
            estimate_unbiased(reports), frequency.normal_offset(reports.mechanism)
        ),
        "uniform guess": lambda reports: np.full(
            reports.supports.shape, 1 / reports.mechanism.domain_size
        ),
        "Bayes": lambda reports: _posterior_means(reports),
        "empirical Bayes": lambda reports: _posterior_means(reports, fitted=True),
    }
)
"""Estimators by the names they have in figures; [25] is Wang et al. (2020). Both of *Bayes* are for k-ary randomised
response: under Jeffreys' prior, and under the symmetric Dirichlet prior that fits the reports best."""
SOURCE_ESTIMATORS: Mapping[str, Estimator] = MappingProxyType(dict(list(ESTIMATORS.items())[:3]))
"""The three estimators of Section 5 of lopuhaa2020."""


def krr_estimate(name: str, tallies: Ints, epsilon: float) -> Floats:
    """Return what one of `ESTIMATORS`, for both targets alike, makes of tallies under k-ary randomised response."""
    return np.asarray(
        ESTIMATORS[name](Reports(KaryRandomisedResponse(epsilon, tallies.shape[1]), None, tallies))
    )


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
    """Compare estimators of distribution and frequencies over a grid of epsilon, at least two draws per point.

    The mechanism is a key of `MECHANISMS`. A row holds, for an epsilon, a target and an estimator: the mean of the
    squared Euclidean error and its standard error; its ratio to the baseline's, with as ratio error the standard error
    of the mean paired difference over the baseline's error; and ``z``, that mean difference over its standard error.
    The baseline itself has neither ratio error nor z.
    """
    checks.choice(mechanism, "mechanism", among=tuple(MECHANISMS))
    checks.choice(baseline, "baseline", among=tuple(estimators))
    distributions, users = truth.draws(checks.whole(draws, "draws", at_least=2), seed=seed)
    for epsilon in epsilons:
        reports = streamed_reports(mechanism, truth.key, epsilon, users, seed)
        errors: dict[tuple[str, str], Floats] = {}
        for name, function in estimators.items():
            estimates = function(reports)
            both = estimates if isinstance(estimates, tuple) else (estimates, estimates)
            errors["distribution", name] = ((both[0] - distributions) ** 2).sum(axis=1)
            errors["frequency", name] = ((both[1] - users / reports.users) ** 2).sum(axis=1)
        for (target, name), error in errors.items():
            if np.isnan(error).any():
                continue
            setting = {
                "mechanism": mechanism,
                "domain size": truth.domain_size,
                "users": reports.users,
            }
            row = setting | {EPSILON: epsilon, "target": target, "estimator": name}
            yield row | _beside(error, errors[target, baseline], itself=name == baseline)


def _beside(error: Floats, reference: Floats, *, itself: bool) -> dict[str, float]:
    """Return an estimator's mean error, and how it compares with the baseline's in the same draws."""
    root = np.sqrt(error.size)
    apart = np.abs(error - reference) > _ROUNDING * reference
    difference = np.full(error.size, np.nan) if itself else np.where(apart, error - reference, 0.0)
    spread = difference.std(ddof=1) / root
    return {
        "mean squared error": error.mean(),
        "standard error": error.std(ddof=1) / root,
        "ratio": error.mean() / reference.mean(),
        "ratio error": spread / reference.mean(),
        "z": difference.mean() / spread if spread != 0 else 0.0,
    }


def sample_reports(
    mechanism: FrequencyMechanism, users: Ints, rngs: Sequence[np.random.Generator]
) -> Reports:
    """Draw the tallies of every repetition from their exact joint law.

    `users` are those per value in each repetition, ``(draws, k)``, and each has its generator. Unary encoding takes at
    most 12 values, whose outputs are all listed.
    """
    if isinstance(mechanism, UnaryEncoding):
        laws = mechanism.channel().T
        laws = laws / laws.sum(axis=1, keepdims=True)
        tallies = [
            rng.multinomial(holders, laws).sum(axis=0)
            for holders, rng in zip(users, rngs, strict=True)
        ]
        return Reports(mechanism, mechanism.outputs(), np.array(tallies))
    tallies = [
        mechanism.sample_tallies(holders, rng=rng) for holders, rng in zip(users, rngs, strict=True)
    ]
    return Reports(mechanism, None, np.array(tallies))


def streamed_reports(name: str, key: Key, epsilon: float, users: Ints, seed: int) -> Reports:
    """Draw the tallies of every repetition, each from its own stream."""
    rngs = [stream("reports", name, *key, epsilon, draw, seed=seed) for draw in range(len(users))]
    return sample_reports(MECHANISMS[name](epsilon, users.shape[1]), users, rngs)


@table
def one_run(mechanism: str, counts: Ints, epsilons: Sequence[float], *, seed: int) -> Rows:
    """Estimate one data set, users per value, once per budget with the source's estimators, from the same reports."""
    users = np.asarray(counts)[None]
    for epsilon in epsilons:
        rng = stream("one run", mechanism, epsilon, seed=seed)
        reports = sample_reports(MECHANISMS[mechanism](epsilon, users.size), users, [rng])
        for name, estimator in SOURCE_ESTIMATORS.items():
            pairs = zip(users[0] / users.sum(), np.asarray(estimator(reports))[0], strict=True)
            for value, (truth, estimate) in enumerate(pairs):
                yield {
                    EPSILON: epsilon,
                    "estimator": name,
                    "value": value,
                    "truth": truth,
                    "estimate": estimate,
                }
