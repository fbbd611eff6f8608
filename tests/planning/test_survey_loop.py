"""From a plan to its estimates a thousand times: the interval covers as often as it says."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from ldpnb.cli import cli
from ldpnb.rng import stream
from ldpnb.surveys import intervals
from ldpnb.surveys.draw import draw
from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan

THOROUGH = "LDPNB_THOROUGH" in os.environ
POPULATION, COUNT = (20_000, 2000) if THOROUGH else (1500, 300)
PLAN = f"plan mean --design simple --population {POPULATION} --count {COUNT} --binary --epsilon 1 --failure 0.05 --save plan.json"


def test_the_interval_covers_in_950_of_1000_repetitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plan and kit by command; the draw by the kit's rule; the reports by the form's law, drawn in numpy.

    950 repetitions are expected at least, since the interval is exact; 21 are three standard errors.
    """
    monkeypatch.chdir(tmp_path)
    people = pd.DataFrame({"id": [f"{i:05}" for i in range(POPULATION)]})
    people.to_csv("frame.csv", index=False)
    for words in (PLAN, "kit plan.json -o kit --frame frame.csv --seed 0"):
        assert CliRunner().invoke(cli, words.split()).exit_code == 0
    monkeypatch.setattr(intervals, "finite_share", cache(intervals.finite_share))  # few counts, drawn often
    plan, ids = FieldPlan.load("kit/plan.json"), people["id"].to_numpy()
    truth = stream("answers of a population", seed=0).random(POPULATION) < 0.3
    covered = kept = 0
    for seed in range(1000):
        drawn = draw(plan, {"id": ids}, seed=seed)["id"]
        if seed == 0:
            assert drawn.tolist() == pd.read_csv("kit/draw.csv", dtype=str)["id"].tolist()
        rate = np.where(truth[np.searchsorted(ids, drawn)], plan.reports.p, plan.reports.q)
        row = estimate(plan, {"report": (stream("reports", seed=seed).random(COUNT) < rate).astype(int)}).rows[0]
        covered += row.low <= truth.mean() <= row.high
        kept += abs(row.estimate - truth.mean()) < plan.error
    assert 929 <= covered <= 971
    assert kept >= 929
