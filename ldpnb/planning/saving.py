"""From an answer to the plan that the field keeps: with a device that exists, and the promise of its own chances."""

from dataclasses import replace
from typing import Any

from ldpnb.planning.designs import Everyone, SimpleDesign, StratifiedDesign
from ldpnb.planning.plans import Plan
from ldpnb.planning.questions import Frequency, Gap
from ldpnb.planning.reports import MANY
from ldpnb.planning.samples import Clusters
from ldpnb.planning.solve import Answer
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

    Parameters
    ----------
    answers : Plan
        Of shares or a mean.
    device : str
        One of `ldpnb.surveys.reports.DEVICES`; the promise is that of its own probabilities.
    question : str
        As it will be asked.
    labels : tuple of str
        What people choose from; numbers from 1 if left out.
    """
    asked = answers.question
    if isinstance(asked, Gap) or asked.releases > 1 or asked.secret:
        raise ValueError(
            "save needs shares or a mean, one release, and a sample that may be known: only these are estimated"
        )
    best = next((a for a in answers.able if a.candidate.central or a.mechanism in _KINDS), None)
    if best is None:
        raise ValueError(f"no mechanism of {', '.join(_KINDS)} reaches the target: nothing can be saved")
    names = _labels(asked, labels) if isinstance(asked, Frequency) else ()
    low, high = float(getattr(asked, "low", 0.0)), float(getattr(asked, "high", 1.0))
    kept: dict[str, Any] = {"low": low, "high": high, "labels": names, "epsilon": best.epsilon}
    if best.candidate.central:
        kept |= {"kind": "binary" if asked.ends else "number", "collection": "curator"}
    else:
        kept |= {"kind": _KINDS[best.mechanism]} | _chances(best, _KINDS[best.mechanism], device, len(names))
        kept["epsilon"] = FieldPlan(design="everyone", asked=1, **kept).reports.epsilon
    own = replace(best, question=replace(best.question, epsilon=kept["epsilon"]))
    failure, bound = own.question.chance(own.candidate)
    return FieldPlan(
        question=question,
        device=device,
        asked=sum(own.invited),
        answers=own.sample.people,
        scale=own.noise,
        error=float(own.question.error or 0),
        failure=failure,
        bound=bound,
        **kept,
        **_design(own),
    )


def _labels(asked: Frequency, labels: tuple[str, ...]) -> tuple[str, ...]:
    size = asked.values
    if labels and len(labels) != size:
        raise ValueError(f"labels must be {size}, one per value, got {len(labels)}")
    return labels or tuple(str(i + 1) for i in range(size))


def _design(answer: Answer) -> dict[str, Any]:
    design, sample = answer.question.design, answer.sample
    if isinstance(design, Everyone):
        return {"design": "everyone"}
    if isinstance(design, SimpleDesign):
        if design.population == MANY:
            raise ValueError(
                "population must be given for a plan that is saved: estimates count who is left out, got none"
            )
        return {"design": "simple", "population": design.population}
    if isinstance(design, StratifiedDesign):
        drawn = zip(design.names, design.sizes, answer.invited, strict=True)
        return {"design": "strata", "strata": {name: (size, asked) for name, size, asked in drawn}}
    assert isinstance(sample, Clusters)
    size = 0 if sample.size_sd else round(sample.size)
    kept = {"population": sample.population, "clusters": sample.clusters, "chosen": sample.chosen, "cluster_size": size}
    return kept | {"design": "clusters" if sample.take is None else "two stages", "take": sample.take or 0}


def _chances(answer: Answer, kind: str, device: str, size: int) -> dict[str, Any]:
    """Return the chances of the device as fractions; none for noise, which no device draws."""
    if kind == "Laplace":
        return {}
    if kind == "bits":
        p, q = realised_bits(answer.epsilon, DEVICES[device], optimised=answer.mechanism == "OUE")
    else:
        p, q = realised(answer.epsilon, DEVICES[device], size if kind == "labels" else 2)
    return {"p": str(p), "q": str(q)}
