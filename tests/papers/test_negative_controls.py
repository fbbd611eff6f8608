"""Break every formula under every claim by one per cent and see the verdict become open: no check is one that cannot
fail, and none only crashes.
"""

import importlib
import warnings
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
from flint import arb

from ldpnb import claims, sections
from ldpnb.accuracy import allocation, gaps
from ldpnb.arithmetic import Symbol
from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.papers.bun2022.section_7 import FAMILY, TOTAL
from ldpnb.privacy.clusters import ClusterSample
from ldpnb.privacy.subsampling import srs_loss
from ldpnb.run.ledger import committed_ledger

FACTOR = 1.01
OPEN = {row.claim: row.evidence for row in committed_ledger().itertuples() if row.status == "open"}
"""What claims that are open as they stand say: of a broken formula they have to say something else."""


def owner_of(path: str) -> tuple[Any, str]:
    """The module or class that holds the formula of that path below ``ldpnb``, and its name there."""
    parts = path.split(".")
    for depth in range(len(parts) - 1, 0, -1):
        try:
            owner = importlib.import_module("ldpnb." + ".".join(parts[:depth]))
        except ModuleNotFoundError:
            continue
        for part in parts[depth:-1]:
            owner = getattr(owner, part)
        return owner, parts[-1]
    raise LookupError(path)


def scaled(result: Any) -> Any:
    if isinstance(result, bool | np.bool_ | str) or result is None:
        raise TypeError(f"a formula returning {result!r} needs a control of its own")
    if isinstance(result, dict):
        return {key: scaled(value) for key, value in result.items()}
    if isinstance(result, tuple | list) and not hasattr(result, "_fields"):
        return type(result)(map(scaled, result))
    if is_dataclass(result):
        numbers = {f.name: getattr(result, f.name) for f in fields(result)}
        return replace(
            result, **{k: scaled(v) for k, v in numbers.items() if isinstance(v, float | np.ndarray | arb | Symbol)}
        )
    return result * FACTOR


def broken(formula: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: scaled(formula(*args, **kwargs))


def check(claim: claims.Claim) -> claims.Verdict:
    """The verdict computed with the formulas as they are now."""
    sections.parted.cache_clear()
    try:
        return claim.check()
    finally:
        sections.parted.cache_clear()


def replace_formula(monkeypatch: pytest.MonkeyPatch, path: str, make: Callable[[Any], Any]) -> None:
    """Put what `make` returns of the formula of that path in its place."""
    owner, name = owner_of(path)
    original = owner.__dict__[name]
    if isinstance(original, property):
        monkeypatch.setattr(owner, name, property(make(original.fget)))
    elif isinstance(original, classmethod):
        monkeypatch.setattr(owner, name, classmethod(make(original.__func__)))
    else:
        monkeypatch.setattr(owner, name, make(original))


@pytest.mark.parametrize("claim", claims.claims(), ids=lambda claim: claim.id)
def test_a_broken_formula_opens_the_verdict(claim: claims.Claim, monkeypatch: pytest.MonkeyPatch) -> None:
    unmoved = []
    for path in claim.rests_on:
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a wrong formula leads to
            replace_formula(patch, path, broken)
            found = check(claim)
        if found.status != "open" or found.evidence == OPEN.get(claim.id):
            unmoved.append(path)
    assert not unmoved


def _two_stages(design: ClusterSample, epsilon: float, rate: float, spent: float, factor: float) -> float:
    all_drawn = design.chosen == len(np.asarray(design.sizes))
    return design.upper_bound(srs_loss(epsilon, rate)) if all_drawn else factor * design.upper_bound(spent)


def _thrice_if_proportional(table: allocation.Outcomes, epsilon: float) -> Any:
    rule = allocation.proportional(FAMILY.sizes, TOTAL / sum(FAMILY.sizes))
    thrice = table.values.size == allocation.outcomes(FAMILY, rule).values.size
    return (3 if thrice else 1) * (table.variances() + 2 * table.noise_scale(epsilon) ** 2)


MSE, CALIBRATED = gaps.absolute_gap_mse, LaplaceMeans.calibrated
WRONG = {
    "the second stage is ignored": (
        "bun2022/section-5.2-two-stage-sampling",
        (ClusterSample, "two_stage_upper_bound", lambda design, eps, q: _two_stages(design, eps, q, eps, 1.0)),
    ),
    "a bound of 1.4 times": (
        "bun2022/section-5.2-two-stage-sampling",
        (
            *(ClusterSample, "two_stage_upper_bound"),
            lambda design, eps, q: _two_stages(design, eps, q, srs_loss(eps, q), 1.4),
        ),
    ),
    "noise of variance b^2": (
        "bun2022/equation-7",
        (allocation.Outcomes, "total_variances", lambda t, eps: t.variances() + t.noise_scale(eps) ** 2),
    ),
    "three times the variance of proportional allocation": (
        "bun2022/section-7.3-proportional-for-all-statistics",
        (allocation.Outcomes, "total_variances", _thrice_if_proportional),
    ),
    "a mean squared error of 2e-7 more": (
        "juarez2022/theorem-5.4-unbiased",
        (gaps, "absolute_gap_mse", lambda sd, gap: MSE(sd, gap) + 2e-7),
    ),
    "a budget of 1.0001 epsilon": (
        "juarez2022/theorem-4.3-allocation",
        (LaplaceMeans, "calibrated", lambda epsilon, groups=2: CALIBRATED(1.0001 * epsilon, groups)),
    ),
}
"""Formulas wrong in kind that once left the verdict as it was, and the claim that has to notice."""


@pytest.mark.parametrize("wrong", WRONG)
def test_a_formula_that_is_wrong_in_kind_opens_the_verdict(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    claim, (owner, name, formula) = WRONG[wrong]
    monkeypatch.setattr(owner, name, formula)
    assert check(claims.find(claim)).status == "open"
