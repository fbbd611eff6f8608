"""From an answer to the plan that the field keeps: with a device that exists, and the promise of its own chances."""

import math
from dataclasses import replace
from typing import Any

from ldpnb.planning.clusters import ClusterDesign
from ldpnb.planning.plans import Plan
from ldpnb.planning.questions import Frequency, Gap, Question
from ldpnb.planning.reports import MANY
from ldpnb.surveys.field_plan import FieldPlan, tickets_of
from ldpnb.surveys.reports import DEVICES, odds, realised

_KINDS = {
    "Warner": "binary",
    "1-bit": "number",
    "local Laplace": "Laplace",
    "k-RR": "labels",
    "SUE": "bits",
    "OUE": "bits",
}
"""Mechanisms for which there are devices, and the kind of their reports."""


def of_plan(
    answers: Plan, *, device: str = "form", question: str = "", labels: tuple[str, ...] = ()
) -> FieldPlan:
    """Return the plan of the best mechanism that the field can use, or of a curator if that alone was asked for.

    - `answers`, Plan: of shares or a mean.
    - `device`, str: of reports one of `ldpnb.surveys.reports.DEVICES`; the promise is that of its own probabilities.
    - `question`, str: as it will be asked.
    - `labels`, tuple of str: what people choose from; numbers from 1 if left out.
    """
    asked = answers.question
    if isinstance(asked, Gap) or asked.releases > 1:
        raise ValueError("save needs shares or a mean, and one release: only these are estimated")
    best = next((a for a in answers.able if a.mechanism in _KINDS or a.central), None)
    if best is None:
        raise ValueError(
            f"save needs a mechanism of {', '.join(_KINDS)} that reaches the target, got none"
        )
    if best.central and isinstance(asked, Frequency):
        raise ValueError(
            "save needs a mean with a curator, who releases one number (of 0 and 1 for a share), got shares"
        )
    values = asked.values if isinstance(asked, Frequency) else 0
    if labels and ("" in labels or len(labels) != values):
        raise ValueError(f"labels must be {values}, one per value, got {', '.join(labels)!r}")
    names = labels or tuple(str(i + 1) for i in range(values))
    sample = best.sample
    few = (
        sample.take == 1
        if isinstance(sample, ClusterDesign)
        else any(n == 1 < size for n, size in zip(best.invited, sample.sizes, strict=False))
    )
    if few and not best.central:
        raise ValueError(
            "save needs two people asked in every stratum and cluster, for a variance, got one in some"
        )
    kind = _KINDS.get(best.mechanism, "binary" if asked.binary else "number")  # a curator's
    epsilon, chances = float(best.epsilon or 0), dict[str, Any]()
    if best.central:
        device = "curator"
    elif kind != "Laplace":
        p, q = realised(best.mechanism, epsilon, DEVICES[device], len(names) or 2)
        epsilon, chances = math.log(odds(kind, float(p), float(q))), {"p": str(p), "q": str(q)}
    rounded = 0.0  # by tickets that stand for more than a unit; those of the form are fine
    if (
        kind == "number"
        and device not in ("form", "curator")
        and tickets_of(asked.span) != asked.span
    ):
        rounded = asked.span / tickets_of(asked.span) / 2
    if (error := float(best.error or 0)) <= rounded:
        raise ValueError(
            f"device must be form for so small an error: tickets round by {rounded:g}, got device={device}"
        )
    own = replace(best, epsilon=epsilon, error=error - rounded)
    return FieldPlan(
        kind=kind,
        epsilon=epsilon,
        question=question,
        device=device,
        low=float(asked.low),
        high=float(asked.high),
        labels=names,
        asked=sum(own.invited),
        answers=own.sample.people,
        error=error,
        failure=own.promise[0],
        bound=own.bound,
        assumed=own.assumed,
        **chances,
        **_design(own),
    )


def _design(answer: Question) -> dict[str, Any]:
    sample = answer.sample
    if isinstance(sample, ClusterDesign):
        size, take = 0 if sample.size_sd else round(sample.size), sample.take or 0
        kept = {
            "population": sample.population,
            "clusters": sample.clusters,
            "chosen": sample.chosen,
            "take": take,
        }
        return kept | {"design": "two stages" if take else "clusters", "cluster_size": size}
    if sample.respondents:
        return {"design": "everyone"}
    if len(sample.sizes) > 1:
        drawn = zip(sample.names, sample.sizes, answer.invited, strict=True)
        strata = {name: (size, asked) for name, size, asked in drawn}
        return {"design": "strata", "strata": strata, "needed": sample.answers}
    if sample.population == MANY:
        raise ValueError(
            "population must be given for a plan that is saved: estimates count who is left out, got none"
        )
    return {"design": "simple", "population": sample.population}
