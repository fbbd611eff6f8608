"""From an answer of the planner to the plan that the field keeps: with a device that exists, and its own promise."""

from dataclasses import replace
from typing import Any

from ldpnb.planning.questions import Frequency, Mean
from ldpnb.planning.solve import Plan, plan
from ldpnb.planning.survey_plan import SurveyPlan
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.open_designs import ClusterDesign, SimpleDesign
from ldpnb.surveys.reports import DEVICES, Reports, realised, realised_bits
from ldpnb.surveys.strata_designs import StratifiedDesign
from ldpnb.surveys.unequal_designs import UnequalClusterDesign

_FIELDED = ("Warner", "1-bit", "k-RR", "SUE", "OUE", "local Laplace")


def of_answer(answer: Plan, *, device: str = "form", question: str = "", labels: tuple[str, ...] = ()) -> FieldPlan:
    """Return the plan of the best mechanism that the field can use; everybody answers.

    Parameters
    ----------
    answer : Plan
        Of shares or a mean.
    device : str
        One of `ldpnb.surveys.reports.DEVICES`; the promise is that of its own probabilities.
    question : str
        As it will be asked.
    labels : tuple of str
        What people choose from; numbers from 1 if left out.
    """
    asked = answer.question
    if not isinstance(asked, Frequency | Mean) or asked.design.kind != "everyone":
        raise ValueError("save needs shares or a mean of everybody; for samples use `ldpnb plan survey`")
    best = next((a for a in answer.able if a.mechanism in _FIELDED), None)
    if best is None:
        raise ValueError(f"no mechanism of {', '.join(_FIELDED)} reaches the target: nothing can be saved")
    whole = asked.with_value(answer.unknown, best.value) if answer.unknown != "failure" else asked
    size = int(getattr(whole, "values", None) or 2)
    if labels and len(labels) != size:
        raise ValueError(f"labels must be {size}, one per value, got {len(labels)}")
    names = labels or tuple(str(i + 1) for i in range(size))
    low, high = float(getattr(whole, "low", 0.0)), float(getattr(whole, "high", 1.0))
    kinds = {"1-bit": "number", "local Laplace": "Laplace", "k-RR": "labels", "SUE": "bits", "OUE": "bits"}
    kind = kinds.get(best.mechanism, "binary")
    shares = kind in ("labels", "bits")
    chances = _chances(kind, best.epsilon, device, size, optimised=best.mechanism == "OUE")
    reports = _reports(kind, best.epsilon, chances, low, high, names if shares else ())
    promised = plan(replace(whole, epsilon=reports.epsilon, failure=None), tail=_tail(best.tail))
    own = next(a for a in promised.answers if a.mechanism == best.mechanism)
    users = int(whole.users or 0)
    return FieldPlan(
        design="everyone",
        kind=reports.kind,
        epsilon=reports.epsilon,
        question=question,
        device=device,
        low=low,
        high=high,
        labels=reports.labels,
        asked=users,
        answers=users,
        error=float(whole.error or 0),
        failure=own.failure if own.feasible else 1.0,
        bound=own.tail,
        **chances,
    )


def of_survey(answer: SurveyPlan, *, device: str = "form", question: str = "") -> FieldPlan:
    """Return the plan of a survey, whose promise is that of the device's own probabilities."""
    survey = answer.survey
    local = survey.collection == "local"
    if survey.releases > 1 or survey.weights > 1:
        raise ValueError("save needs one release of an unweighted sample: only its estimate is promised")
    kind = "Laplace" if local and survey.mechanism == "Laplace" else "binary" if survey.binary else "number"
    chances = _chances(kind, answer.epsilon, device, 2) if local else {}
    reports = _reports(kind, answer.epsilon, chances, survey.low, survey.high, ()) if local else None
    epsilon = reports.epsilon if reports else answer.epsilon
    failure, bound = survey.with_value("epsilon", epsilon).chance()
    return FieldPlan(
        kind=reports.kind if reports else "binary" if survey.binary else "number",
        epsilon=epsilon,
        question=question,
        collection="local" if local else "curator",
        device=device,
        low=survey.low,
        high=survey.high,
        asked=answer.invited,
        answers=answer.answers,
        scale=survey.scale(),
        error=answer.error,
        failure=min(1.0, failure + (survey.response_failure if survey.nonresponse else 0.0)),
        bound=bound,
        **chances,
        **_design(answer),
    )


def _design(answer: SurveyPlan) -> dict[str, Any]:
    design, count = answer.survey.design, answer.count
    if isinstance(design, SimpleDesign):
        return {"design": "simple", "population": design.population}
    if isinstance(design, StratifiedDesign):
        drawn = zip(design.labels, design.sizes, answer.survey.invited, strict=True)
        strata = {name: (size, asked) for name, size, asked in drawn}
        return {"design": "strata", "strata": strata}
    if isinstance(design, ClusterDesign | UnequalClusterDesign) and not getattr(design, "ratio", False):
        whole = design.take is None
        most = answer.invited // count
        size = design.size if isinstance(design, ClusterDesign) else 0
        more = {"population": design.population, "clusters": design.most, "chosen": count, "cluster_size": size}
        return {"design": "clusters" if whole else "two stages", "take": 0 if whole else most} | more
    raise ValueError(f"save needs a simple, cluster, two-stage or stratified sample, got {type(design).__name__}")


def _chances(kind: str, epsilon: float, device: str, size: int, *, optimised: bool = False) -> dict[str, Any]:
    """Return the chances of the device as fractions; none for noise, which no device draws."""
    if kind == "Laplace":
        return {}
    outcomes = DEVICES[device]
    if kind == "bits":
        p, q = realised_bits(epsilon, outcomes, optimised=optimised)
    else:
        p, q = realised(epsilon, outcomes, size if kind == "labels" else 2)
    return {"p": str(p), "q": str(q)}


def _reports(
    kind: Any, epsilon: float, chances: dict[str, Any], low: float, high: float, labels: tuple[str, ...]
) -> Reports:
    draft = FieldPlan(
        design="everyone", kind=kind, epsilon=epsilon, low=low, high=high, labels=labels, asked=1, **chances
    )
    return draft.reports


def _tail(tail: str) -> str:
    return "best" if tail in ("exact", "chernoff") else tail
