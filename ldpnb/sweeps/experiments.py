"""Experiments repeated many times at one setting, which `ldpnb sweep` runs over a grid.

Each function takes parameters by name, a number of repetitions and a random stream, and yields its series: the labels,
and by measure one number per repetition. The command line reads types, ranges, meanings and defaults from the
signature. A measure is named after its mean over the repetitions, so ``mse`` holds squared errors.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from ldpnb.estimators import gaps as gap_estimators
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022.tables.gaps import families
from ldpnb.papers.lopuhaa2020.tables.frequencies import MECHANISMS, SOURCE_ESTIMATORS, Truth, sample_reports

Floats = NDArray[np.float64]
Series = tuple[Mapping[str, str | int | float], Mapping[str, Floats]]
"""Labels of a series, and by measure ``(repetitions,)`` numbers."""

Budget = Annotated[float, "(0, 700]; privacy budget of a report, nats"]
Users = Annotated[int, "[1, inf); number of users"]
Values = Annotated[int, "[2, inf); number of values"]
Value = Annotated[float, "[-1, 1]; value of every user in this group"]
Gap = Literal["M_R", "M_L, k = 2", "M_R as published", "M_L as published", "signed bit", "signed Laplace"]

EXPERIMENTS = ("frequencies", "gaps")
"""Names of the companion's own."""


def frequencies(
    *,
    mechanism: Annotated[Literal["k-RR", "OUE", "SUE"], "frequency protocol; OUE and SUE take at most 12 values"] = (
        "k-RR"
    ),
    epsilon: Budget = 1.0,
    domain_size: Values = 10,
    n: Users = 10_000,
    concentration: Annotated[float, "(0, inf); of the symmetric Dirichlet prior; 1/2 is Jeffreys' prior"] = 0.5,
    repetitions: int,
    rng: np.random.Generator,
) -> Iterator[Series]:
    """Compare estimators of a histogram: unbiased, Norm-Sub and maximum likelihood, on the same reports.

    Every repetition draws a distribution from the prior, and the users' values from it (lopuhaa2020, Section 5). The
    measure ``mse`` is the squared Euclidean error.
    """
    truth = Truth.from_prior(domain_size, n, concentration)
    drawn = [truth.draw(rng) for _ in range(repetitions)]
    users = np.array([counts for _, counts in drawn])
    reports = sample_reports(MECHANISMS[mechanism](epsilon, domain_size), users, [rng] * repetitions)
    targets = {"distribution": np.array([distribution for distribution, _ in drawn]), "frequency": users / n}
    for estimator, estimate in SOURCE_ESTIMATORS.items():
        estimates = estimate(reports)
        for target, true in targets.items():
            errors: Floats = np.square(estimates - true).sum(axis=1)
            yield {"target": target, "estimator": estimator}, {"mse": errors}


def gaps(
    *,
    mechanism: Annotated[Gap, "of group means, or of the gap alone; those as published exceed their budget"] = "M_R",
    epsilon: Budget = 1.0,
    n: Annotated[int, "[2, inf); number of users, half of them in either group"] = 100_000,
    first_value: Value = 0.0,
    second_value: Value = 0.0,
    alpha: Annotated[float, "(0, inf); error of the gap that counts as a failure, on the scale of the values"] = 0.1,
    repetitions: int,
    rng: np.random.Generator,
) -> Iterator[Series]:
    """Simulate the estimated gap between the means of two equal groups.

    The measures are ``mse``, ``bias`` and ``failures``, the share of errors of alpha or more (juarez2022, Sections 4
    and 5).
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
