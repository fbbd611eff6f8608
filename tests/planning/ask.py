"""One mechanism's answer in a plan, a drawn sample, and simulated estimates from one."""

from dataclasses import replace
from typing import Any

import numpy as np

from ldpnb.planning.clusters import ClusterDesign
from ldpnb.planning.plans import Plan, plan
from ldpnb.planning.questions import Question
from ldpnb.planning.reports import Reports
from ldpnb.planning.samples import StratifiedDesign


def answer(found: Plan, mechanism: str) -> Any:
    """The answer of a mechanism."""
    return next(a for a in found.answers if a.mechanism == mechanism)


def alone(question: Question, mechanism: str) -> Any:
    """The answer of a mechanism planned without the others, which is faster."""
    (only,) = plan(replace(question, mechanism=mechanism)).answers
    return only


def sampled(sizes: Any, answers: Any, sds: Any = None) -> StratifiedDesign:
    return StratifiedDesign(tuple(sizes), sds, answers=tuple(answers))


def some(rng: np.random.Generator, rows: int, of: int, number: int) -> Any:
    return rng.random((rows, of)).argpartition(number - 1, axis=1)[:, :number]


def estimates(
    sample: Any, reports: Reports, values: np.ndarray, rng: np.random.Generator, runs: int
) -> np.ndarray:
    """Estimates from the whole field: who is drawn, who answers, what is reported."""

    def reported(drawn: np.ndarray) -> np.ndarray:
        if reports.bits:
            return (
                (rng.random(drawn.shape) < reports.q + reports.truth * drawn) - reports.q
            ) / reports.truth
        return drawn + (rng.laplace(0, reports.scale, drawn.shape) if reports.scale else 0.0)

    if not isinstance(sample, ClusterDesign):
        parts = np.split(values.ravel(), np.cumsum(sample.parts)[:-1])
        made_of = [
            part.size / values.size * reported(part[some(rng, runs, part.size, n)]).mean(axis=1)
            for part, n in zip(parts, sample.answers, strict=True)
        ]
        return np.asarray(np.sum(made_of, axis=0))
    drawn = values[some(rng, runs, sample.clusters, sample.chosen)].reshape(
        runs * sample.chosen, -1
    )
    asked = np.take_along_axis(drawn, some(rng, len(drawn), drawn.shape[1], sample.asked), axis=1)
    there = rng.random(asked.shape) < sample.response
    means = (reported(asked) * there).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    # nobody answers: a failure
    return np.asarray(np.where(there.any(axis=1), means, 99.0).reshape(runs, -1).mean(axis=1))
