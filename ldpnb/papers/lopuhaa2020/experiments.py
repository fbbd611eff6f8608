"""Experiments on the estimators of Lopuhaä-Zwakenberg and others, for `ldpnb sweep`."""

from collections.abc import Iterator, Mapping
from typing import Annotated

import numpy as np

from ldpnb.arithmetic import Floats
from ldpnb.papers.lopuhaa2020.tables.frequencies import (
    MECHANISMS,
    SOURCE_ESTIMATORS,
    Truth,
    sample_reports,
)

Series = tuple[Mapping[str, str | int | float], Mapping[str, Floats]]
"""Labels of a series, and by measure ``(repetitions,)`` numbers."""


def frequencies(
    *,
    mechanism: Annotated[
        str, "{k-RR, OUE, SUE}; frequency protocol, the latter two for at most 12 values"
    ] = "k-RR",
    epsilon: Annotated[float, "(0, 700]; privacy budget of a report, nats"] = 1.0,
    domain_size: Annotated[int, "[2, inf); number of values"] = 10,
    n: Annotated[int, "[1, inf); number of users"] = 10_000,
    concentration: Annotated[
        float, "(0, inf); of the symmetric Dirichlet prior; 1/2 is Jeffreys' prior"
    ] = 0.5,
    repetitions: int,
    rng: np.random.Generator,
) -> Iterator[Series]:
    """Compare estimators of a histogram: unbiased, Norm-Sub and maximum likelihood.

    Every repetition draws a distribution from the prior, the users' values from the distribution,
    and reports of these values (Lopuhaä-Zwakenberg and others, Section 5). All estimators see the
    same reports. The measure ``mse`` is the squared Euclidean error.
    """
    truth = Truth.from_prior(domain_size, n, concentration)
    drawn = [truth.draw(rng) for _ in range(repetitions)]
    users = np.array([counts for _, counts in drawn])
    reports = sample_reports(
        MECHANISMS[mechanism](epsilon, domain_size), users, [rng] * repetitions
    )
    targets = {
        "distribution": np.array([distribution for distribution, _ in drawn]),
        "frequency": users / n,
    }
    for estimator, estimate in SOURCE_ESTIMATORS.items():
        estimates = estimate(reports)
        for target, true in targets.items():
            errors: Floats = np.square(estimates - true).sum(axis=1)
            yield {"target": target, "estimator": estimator}, {"mse": errors}
