"""The benchmark's runner, on tasks of its own."""

import csv
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

BENCH = Path(__file__).parents[1] / "bench"
OURS = """
def fail():
    raise ArithmeticError("no | such number")

def die():
    import os
    os._exit(1)

TASKS = {"good": lambda: dict, "good | floor": lambda: dict, "bad": fail, "dead": die}
"""


def test_a_row_that_fails_shows_its_message_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(BENCH)
    import bench

    shutil.copy(BENCH / "worker.py", tmp_path)
    (tmp_path / "tasks_ours.py").write_text(OURS)
    (tmp_path / "tasks_peers.py").write_text("TASKS = {}")
    monkeypatch.setattr(bench, "HERE", tmp_path)
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    monkeypatch.setattr(bench, "TARGETS", [(task, {}) for task in ("bad", "dead", "absent", "good")])
    monkeypatch.setattr(bench, "growth", lambda *_: [])
    monkeypatch.setattr(bench, "draw", lambda *_: None)
    monkeypatch.setattr(bench, "steps", lambda: {"notes": "3 passed", "met": "yes"})
    monkeypatch.setattr(bench, "STEPS", "steps")
    result = CliRunner().invoke(bench.main, [sys.executable, "--rounds", "1"])
    assert result.exit_code == 0, result.output
    with (tmp_path / "build/bench/table.csv").open(newline="") as file:
        rows = {row["task"]: row for row in csv.DictReader(file)}
    told = {task: (row["met"], row["notes"]) for task, row in rows.items()}
    assert told == {
        "bad": ("no", "bad: ArithmeticError: no \\| such number"),
        "dead": ("no", "dead: the process ended"),
        "absent": ("no", "no task is called absent"),
        "good": ("yes", ""),
        "steps": ("yes", "3 passed"),
    }
    assert float(rows["good"]["ldpnb, s"]) > 0
    assert "ArithmeticError: no" in result.output
