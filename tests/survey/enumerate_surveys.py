"""Every sample and every report of a tiny survey, with its probability."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ldpnb.survey.device import Device
from ldpnb.survey.sample import Values, drawn_sample, estimated


def samples_of(number: int | Sequence[int], strata: Sequence[int] | None, people: int) -> list[Any]:
    """Every sample of so many people, in all or in each stratum."""
    if strata is None:
        return [list(some) for some in itertools.combinations(range(people), number)]

    parts = []
    for stratum, drawn in enumerate(number):
        members = [person for person in range(people) if strata[person] == stratum]
        parts.append(list(itertools.combinations(members, drawn)))

    return [list(itertools.chain(*some)) for some in itertools.product(*parts)]


def moments(
    device: Device,
    truths: Sequence[float],
    number: int | Sequence[int],
    *,
    strata: Sequence[int] | None = None,
    samples: list[Any] | None = None,
    design: Callable[[list[int]], dict[str, Any]] | None = None,
) -> tuple[float, float, float]:
    """The mean of the estimate, its variance, and the mean of the estimated variance.

    `design` returns the arguments of `drawn_sample` for the people of a sample.
    """
    if design is None:
        design = _design(strata, len(truths))
    if samples is None:
        samples = samples_of(number, strata, len(truths))

    first = 0.0
    second = 0.0
    variance = 0.0
    for people in samples:
        sample = drawn_sample(np.ones(len(people)), **design(people))
        rates = device.q + device.gap * np.array(truths)[people]
        for bits in itertools.product((0.0, 1.0), repeat=len(people)):
            reports = np.array(bits)
            chance = np.prod(np.where(reports == 1, rates, 1 - rates)) / len(samples)
            if chance == 0:
                continue

            values = Values(device.value(reports), np.zeros(len(people)))
            point = estimated(sample, device, values)
            first += chance * point.estimate
            second += chance * point.estimate**2
            variance += chance * point.variance(sample)

    return first, second - first**2, variance


def _design(strata: Sequence[int] | None, people: int) -> Callable[[list[int]], dict[str, Any]]:
    if strata is None:
        return lambda sample: {"population": people}

    sizes = {str(name): list(strata).count(name) for name in set(strata)}
    return lambda sample: {
        "stratum": [str(strata[person]) for person in sample],
        "population": sizes,
    }
