"""Experiments repeated many times at one setting, which `ldpnb sweep` runs over a grid.

Each function takes scalar parameters by name, a number of repetitions and a random stream, and yields its series: the
labels, and one number per measure and repetition. Annotations, defaults and docstrings are the specification that the
command line shows and checks. A measure is named after its mean over the repetitions, so ``mse`` holds squared
errors.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ldpnb.data import synthetic
from ldpnb.designs.reporters import sampled_tallies
from ldpnb.estimators import gaps as gap_estimators
from ldpnb.estimators import sampling as sampling_estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022.tables.gaps import families
from ldpnb.papers.lopuhaa2020.tables.frequencies import MECHANISMS, SOURCE_ESTIMATORS, Truth, sample_reports

Floats = NDArray[np.float64]
Series = tuple[Mapping[str, str | int | float], Mapping[str, Floats]]
"""Labels of a series, and by measure ``(repetitions,)`` numbers."""


def frequencies(
    *,
    mechanism: Literal["k-RR", "OUE", "SUE"] = "k-RR",
    epsilon: float = 1.0,
    domain_size: int = 10,
    n: int = 10_000,
    concentration: float = 0.5,
    repetitions: int,
    rng: np.random.Generator,
) -> Iterator[Series]:
    """Compare estimators of a histogram: unbiased, Norm-Sub and maximum likelihood, on the same reports.

    Parameters
    ----------
    mechanism : str
        Frequency protocol; unary encodings take at most 12 values.
    epsilon : float
        (0, 700]; privacy budget per report, nats.
    domain_size : int
        [2, inf); number of values.
    n : int
        [1, inf); number of users, whose values are drawn from a Dirichlet prior's distribution.
    concentration : float
        (0, inf); of the symmetric Dirichlet prior, where 1/2 is Jeffreys' prior.
    repetitions : int
    rng : numpy.random.Generator

    Yields
    ------
    Series
        Labels ``target`` (distribution or frequency) and ``estimator``; measure ``mse``, the squared Euclidean error.

    References
    ----------
    Section 5 of lopuhaa2020.
    """
    truth = Truth.from_prior(domain_size, n, concentration)
    pairs = [truth.draw(rng) for _ in range(repetitions)]
    users = np.array([held for _, held in pairs])
    reports = sample_reports(MECHANISMS[mechanism](epsilon, domain_size), users, [rng] * repetitions)
    targets = {"distribution": np.array([distribution for distribution, _ in pairs]), "frequency": users / n}
    for estimator, estimate in SOURCE_ESTIMATORS.items():
        estimates = estimate(reports)
        for target, true in targets.items():
            errors: Floats = np.square(estimates - true).sum(axis=1)
            yield {"target": target, "estimator": estimator}, {"mse": errors}


def sampling(
    *,
    epsilon: float = 1.0,
    sampling_rate: float = 0.5,
    n: int = 50_000,
    domain_size: int = 101,
    repetitions: int,
    rng: np.random.Generator,
) -> Iterator[Series]:
    """Compare estimators of a histogram when only a Poisson sample of the users reports, by k-ary randomised response.

    Parameters
    ----------
    epsilon : float
        (0, 700]; privacy budget per report, nats.
    sampling_rate : float
        (0, 1]; probability that a user reports.
    n : int
        [1, inf); number of users, who hold values drawn from Bin(domain_size - 1, 1/2).
    domain_size : int
        [2, inf); number of values.
    repetitions : int
    rng : numpy.random.Generator

    Yields
    ------
    Series
        Label ``estimator``; measures ``mse``, the squared Euclidean error of the frequencies, and ``bias``, the error
        at the most frequent value.

    References
    ----------
    Section 4 of biswas2022, with a new data set in every repetition.
    """
    mechanism = KaryRandomisedResponse(epsilon, domain_size)
    chances = synthetic.binomial(domain_size - 1, 0.5)
    counts = np.array([synthetic.sample_counts(chances, n, rng=rng) for _ in range(repetitions)])
    tallies = np.array([sampled_tallies(held, sampling_rate, mechanism, rng=rng) for held in counts])
    estimates = {
        "c_DE": sampling_estimators.unadjusted(tallies, users=n, mechanism=mechanism),
        "g_DE": sampling_estimators.rescaled(tallies, users=n, sampling_rate=sampling_rate, mechanism=mechanism),
        "c-hat": sampling_estimators.realised_size(tallies, sampling_rate=sampling_rate, mechanism=mechanism),
        "ratio": sampling_estimators.ratio(tallies, users=n, mechanism=mechanism),
    }
    top = int(chances.argmax())
    for estimator, estimate in estimates.items():
        errors = (estimate - counts) / n
        yield {"estimator": estimator}, {"mse": np.square(errors).sum(axis=1), "bias": errors[:, top]}


def gaps(
    *,
    mechanism: Literal[
        "M_R", "M_L, k = 2", "M_R as published", "M_L as published", "signed bit", "signed Laplace"
    ] = "M_R",
    epsilon: float = 1.0,
    n: int = 100_000,
    first_value: float = 0.0,
    second_value: float = 0.0,
    alpha: float = 0.1,
    repetitions: int,
    rng: np.random.Generator,
) -> Iterator[Series]:
    """Simulate the estimated gap between the means of two equal groups.

    Parameters
    ----------
    mechanism : str
        Mechanism for group means or for the gap alone.
    epsilon : float
        (0, 700]; privacy budget that the mechanism is given, nats; those "as published" exceed it.
    n : int
        [2, inf); number of users, half of them in either group.
    first_value : float
        [-1, 1]; value of every user in the first group.
    second_value : float
        [-1, 1]; value of every user in the second group.
    alpha : float
        (0, inf); error of the gap that counts as a failure, on the scale of the values.
    repetitions : int
    rng : numpy.random.Generator

    Yields
    ------
    Series
        Without labels; measures ``mse``, ``bias`` and ``failures``, the share of errors of alpha or more.

    References
    ----------
    Sections 4 and 5 of juarez2022.
    """
    chosen, half = families(n)[mechanism](epsilon), n // 2
    values = np.array([[first_value], [second_value]])
    sums = chosen.sample_sums([[half], [half]], values, repetitions=repetitions, rng=rng)
    if isinstance(chosen, DiscretisedMeans | LaplaceMeans):
        estimates = gap_estimators.signed_gap(gap_estimators.group_means(chosen, sums, (half, half)))
    else:
        estimates = gap_estimators.contrast_gap(chosen, sums)
    errors = estimates - (first_value - second_value)
    yield {}, {"mse": np.square(errors), "bias": errors, "failures": (np.abs(errors) >= alpha).astype(float)}
