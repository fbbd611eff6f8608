"""From an answer to the plan that the field keeps: with a device that exists, and the promise of its own chances."""

from dataclasses import replace
from typing import Any

from ldpnb.planning.clusters import ClusterDesign
from ldpnb.planning.plans import Plan
from ldpnb.planning.questions import Frequency, Gap
from ldpnb.planning.reports import MANY
from ldpnb.planning.solve import Answer, completed
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.reports import DEVICES, realised, realised_bits

_KINDS = {
    "Warner": "binary",
    "1-bit": "number",
    "local Laplace": "Laplace",
    "k-RR": "labels",
    "SUE": "bits",
    "OUE": "bits",
}
"""Mechanisms for which there are devices, and the kind of their reports."""


def of_plan(answers: Plan, *, device: str = "form", question: str = "", labels: tuple[str, ...] = ()) -> FieldPlan:
    """Return the plan of the best mechanism that the field can use.

    - `answers`, Plan: of shares or a mean.
    - `device`, str: one of `ldpnb.surveys.reports.DEVICES`; the promise is that of its own probabilities.
    - `question`, str: as it will be asked.
    - `labels`, tuple of str: what people choose from; numbers from 1 if left out.
    """
    asked = answers.question
    if isinstance(asked, Gap) or asked.releases > 1:
        raise ValueError("save needs shares or a mean, and one release: only these are estimated")
    best = next((a for a in answers.able if a.candidate.central or a.mechanism in _KINDS), None)
    if best is None:
        raise ValueError(f"no mechanism of {', '.join(_KINDS)} reaches the target: nothing can be saved")
    values = asked.values if isinstance(asked, Frequency) else 0
    if labels and len(labels) != values:
        raise ValueError(f"labels must be {values}, one per value, got {len(labels)}")
    names = labels or tuple(str(i + 1) for i in range(values))
    kept: dict[str, Any] = {
        "low": float(asked.low),
        "high": float(asked.high),
        "labels": names,
        "epsilon": best.question.epsilon,
    }
    if best.candidate.central:
        kept |= {"kind": "binary" if asked.binary else "number", "collection": "curator"}
    else:
        kept |= {"kind": _KINDS[best.mechanism]} | _chances(best, DEVICES[device], len(names) or 2)
        kept["epsilon"] = FieldPlan(design="everyone", asked=1, **kept).reports.epsilon
    own = completed(replace(best.question, epsilon=kept["epsilon"]), best.unknown)
    return FieldPlan(
        question=question,
        device=device,
        asked=sum(own.question.invited),
        answers=own.sample.people,
        scale=own.noise,
        error=float(own.question.error or 0),
        failure=own.question.chance()[0],
        bound=own.bound,
        **kept,
        **_design(own),
    )


def _design(answer: Answer) -> dict[str, Any]:
    sample = answer.sample
    if isinstance(sample, ClusterDesign):
        size, take = 0 if sample.size_sd else round(sample.size), sample.take or 0
        kept = {"population": sample.population, "clusters": sample.clusters, "chosen": sample.chosen, "take": take}
        return kept | {"design": "two stages" if take else "clusters", "cluster_size": size}
    if sample.respondents:
        return {"design": "everyone"}
    if len(sample.sizes) > 1:
        drawn = zip(sample.names, sample.sizes, answer.question.invited, strict=True)
        return {"design": "strata", "strata": {name: (size, asked) for name, size, asked in drawn}}
    if sample.population == MANY:
        raise ValueError("population must be given for a plan that is saved: estimates count who is left out, got none")
    return {"design": "simple", "population": sample.population}


def _chances(answer: Answer, outcomes: int, values: int) -> dict[str, str]:
    """Return the chances of a device with so many outcomes as fractions; none for noise, which no device draws."""
    epsilon = float(answer.question.epsilon or 0)
    if answer.mechanism == "local Laplace":
        return {}
    if answer.mechanism in ("SUE", "OUE"):
        p, q = realised_bits(epsilon, outcomes, optimised=answer.mechanism == "OUE")
    else:
        p, q = realised(epsilon, outcomes, values)
    return {"p": str(p), "q": str(q)}
