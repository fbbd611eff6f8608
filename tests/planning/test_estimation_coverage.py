"""How often the intervals of `estimate` cover, and whether its errors are as stated, by simulated fieldwork.

`LDPNB_THOROUGH=1 ... -s` takes 4,000 repetitions and prints how often each covers, with its standard error.
"""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fielded import PLANS, fieldwork, people, run, truth
from scipy import stats

from ldpnb.rng import stream
from ldpnb.surveys import intervals
from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.fieldwork import draw

REPETITIONS = 4000 if "LDPNB_THOROUGH" in os.environ else 150
FALSE_ALARM = 1e-6


def at_least(covered: int, chance: float, what: str) -> bool:
    share = covered / REPETITIONS
    print(f"{what:30s} {share:.4f} +- {(share * (1 - share) / REPETITIONS) ** 0.5:.4f}")
    return covered >= stats.binom.ppf(FALSE_ALARM, REPETITIONS, chance)


@pytest.mark.parametrize("name", PLANS)
def test_intervals_cover_and_errors_are_as_stated(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        intervals, "finite_share", cache(intervals.finite_share)
    )  # few counts, drawn often
    plan, rng = PLANS[name], stream("coverage of estimates", name, seed=0)
    table = people(plan, rng)
    by = ("sex", "rare") if plan.device != "curator" else ()
    less = {"": 0.0} | ({"sex f": 0.01, "rare yes": 0.02} if by else {})
    covered = dict.fromkeys(less, 0)
    estimates, variances = [], []
    for _ in range(REPETITIONS):
        rows = estimate(plan, fieldwork(plan, table, rng), by=by).rows
        for group in covered:
            covered[group] += all(
                r.low <= truth(plan, table, r) <= r.high for r in rows if r.group == group
            )
        estimates.append(rows[0].estimate)
        variances.append(rows[0].standard_error ** 2)
    promised = (
        0.95 if rows[0].interval in ("exact", "guaranteed") else 0.94
    )  # the others are approximations
    for group, slack in less.items():
        assert at_least(covered[group], promised - slack, f"{name} {group}")
    sd = np.std(estimates, ddof=1)
    assert abs(np.mean(estimates) - truth(plan, table, rows[0])) < 5 * sd / REPETITIONS**0.5
    # a variance of so many repetitions has a relative standard error of about (2 / n)^(1/2); numbers' is conservative
    slack = 5 * (2 / REPETITIONS) ** 0.5
    assert -slack < np.mean(variances) / sd**2 - 1 < (0.25 if plan.kind == "number" else 0) + slack


def test_intervals_with_nonresponse_classes_cover_of_all_and_of_a_group() -> None:
    """Of those who say no half answer, of the others four in five; within a class it is at random."""
    plan = FieldPlan(design="simple", kind="binary", p="3/4", q="1/4", population=2000, asked=800)
    rng = stream("coverage of classes", seed=0)
    young, tall = rng.random((2, 2000)) < [[0.4], [0.6]]
    value = rng.random(2000) < np.where(young, 0.7, 0.2)
    covered, ignoring = np.zeros(2), 0
    for _ in range(REPETITIONS):
        chosen = rng.choice(2000, 800, replace=False)
        names = np.where(young, "young", "old")[chosen]
        invited = {name: int((names == name).sum()) for name in ("young", "old")}
        kept = rng.random(800) < np.where(young[chosen], 0.8, 0.4)
        report = (rng.random(800) < np.where(value[chosen], 0.75, 0.25)).astype(int)[kept]
        table = {"report": report, "class": names[kept], "tall": tall[chosen][kept]}
        everybody, _, group = estimate(plan, table, classes=invited, by="tall").rows
        rows = ((everybody, value.mean()), (group, value[tall].mean()))
        covered += [row.low <= truth <= row.high for row, truth in rows]
        values = plan.reports.value(report)
        ignoring += abs(values.mean() - value.mean()) <= 1.96 * values.std() / report.size**0.5
    assert at_least(covered[0], 0.94, "nonresponse classes")
    assert at_least(covered[1], 0.94, "a group with nonresponse classes")
    assert ignoring < 0.85 * REPETITIONS  # without classes the estimate is biased


POPULATION, COUNT = (20_000, 2000) if "LDPNB_THOROUGH" in os.environ else (1500, 300)
PLAN = f"plan mean --design simple --population {POPULATION} --count {COUNT} --binary --epsilon 1 --failure 0.05 --save plan.json"


def test_the_interval_covers_in_950_of_1000_repetitions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plan and kit by command; the draw by the kit's rule; the reports by the form's law, drawn in numpy.

    950 repetitions are expected at least, since the interval is exact; 21 are three standard errors.
    """
    monkeypatch.chdir(tmp_path)
    people = pd.DataFrame({"id": [f"{i:05}" for i in range(POPULATION)]})
    people.to_csv("frame.csv", index=False)
    for words in (PLAN, "kit plan.json -o kit --frame frame.csv --seed 0"):
        assert run(*words.split()).exit_code == 0
    monkeypatch.setattr(
        intervals, "finite_share", cache(intervals.finite_share)
    )  # few counts, drawn often
    plan, ids = FieldPlan.load("kit/plan.json"), people["id"].to_numpy()
    truth = stream("answers of a population", seed=0).random(POPULATION) < 0.3
    covered = kept = 0
    for seed in range(1000):
        drawn = draw(plan, {"id": ids}, seed=seed)["id"]
        if seed == 0:
            assert drawn.tolist() == pd.read_csv("kit/draw.csv", dtype=str)["id"].tolist()
        rate = np.where(truth[np.searchsorted(ids, drawn)], plan.reports.p, plan.reports.q)
        row = estimate(
            plan, {"report": (stream("reports", seed=seed).random(COUNT) < rate).astype(int)}
        ).rows[0]
        covered += row.low <= truth.mean() <= row.high
        kept += abs(row.estimate - truth.mean()) < plan.error
    assert 929 <= covered <= 971
    assert kept >= 929
