"""How many people to ask in a cluster: a grid of takes, and the cheapest."""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ldpnb import checks
from ldpnb.planning.survey import Survey
from ldpnb.planning.survey_plan import SurveyPlan
from ldpnb.surveys.open_designs import ClusterDesign
from ldpnb.surveys.variances import largest_spread

Costs = tuple[float, float]
"""Of a cluster that is drawn, and of an answer."""


def plans(survey: Survey, takes: Iterable[int]) -> dict[int, SurveyPlan]:
    """Return the plans by how many are asked in a cluster; takes with which nothing meets the target are left out.

    Raises
    ------
    ValueError
        If clusters are not what is drawn, a take is larger than a cluster, or no take meets the target.
    """
    design, found = _clusters(survey), dict[int, SurveyPlan]()
    reason = "no take is given"
    for take in takes:
        one = replace(survey, design=replace(design, take=take))
        try:
            found[take] = one.plan()
        except ValueError as error:
            reason = str(error)
    if not found:
        raise ValueError(reason)
    return found


def cost(plan: SurveyPlan, costs: Costs) -> float:
    """Return what a plan costs."""
    per_cluster, per_answer = (checks.positive(costs=cost) for cost in costs)
    return float(per_cluster * plan.count + per_answer * plan.answers)


def cheapest(survey: Survey, costs: Costs) -> SurveyPlan:
    """Return the plan that costs least over all takes; of equal ones, the one with the smallest take."""
    if survey.unknown != "count":
        raise ValueError(f"costs look for the cheapest number of clusters, got no {survey.unknown} to meet")
    design = _clusters(survey)
    return min(plans(survey, range(1, design.size + 1)).values(), key=lambda plan: cost(plan, costs))


def best_take(survey: Survey, costs: Costs) -> float:
    """Return the best take as a real number, ``sqrt(C1 (S2_w + v) / (C2 (S2_b - S2_w / B)))``, noise included."""
    design = _clusters(survey)
    icc = 1.0 if design.icc is None else design.icc
    s2 = largest_spread(design.population, survey.span) if design.s2 is None else design.s2
    one = replace(design, take=1, s2=s2, icc=icc).variance(1, survey.reports, survey.span)
    between, within = design.split(s2, icc)
    excess = between - within / design.size
    if excess <= 0:
        return float(design.size)
    return float(min(math.sqrt(costs[0] * (within + float(one.randomisation)) / (costs[1] * excess)), design.size))


def rows(found: dict[int, SurveyPlan], costs: Costs | None = None) -> list[dict[str, Any]]:
    """Return a row per take."""
    return [
        {"take": take, "clusters": plan.count, "answers": plan.answers, "invited": plan.invited}
        | ({"cost": cost(plan, costs)} if costs else {})
        | {"epsilon": plan.epsilon, "error": plan.error, "failure": plan.failure, "loss_of_release": plan.released}
        | dict(zip(("design_effect_sampling", "design_effect_total"), plan.design_effects, strict=True))
        for take, plan in found.items()
    ]


def note(survey: Survey, plan: SurveyPlan, costs: Costs) -> str:
    """Return what the cheapest plan costs, and the take of the formula."""
    ideal, least = best_take(survey, costs), cost(plan, costs)
    take = _clusters(plan.survey).asked
    return f"The cheapest take is {take}, at a cost of {least:,.10g}; the formula's, a real number, is {ideal:.3g}."


def _clusters(survey: Survey) -> ClusterDesign:
    if not isinstance(survey.design, ClusterDesign):
        raise ValueError("takes belong to a design of clusters")
    return survey.design
