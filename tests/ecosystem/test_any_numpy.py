"""Under another numpy exact numbers must be the stored ones, and simulated ones within their standard errors."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from ldpnb import rng
from ldpnb.run import nbval_plugin, simulated
from ldpnb.run.catalogue import catalogue, home

KNOWN = json.loads(simulated.PATH.read_text(encoding="utf-8"))


def test_the_locked_numpy_draws_what_was_stored_and_a_changed_draw_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rng.as_recorded() == (tuple(map(int, np.__version__.split(".")[:2])) < (2, 5))
    plain, other = rng.drawn(), np.random.default_rng(2022)
    other.random()
    monkeypatch.setattr(rng.np.random, "default_rng", lambda _seed: other)
    assert rng.drawn() != plain


def test_what_is_named_as_simulated_exists_and_a_verdict_is_not_among_it() -> None:
    for name, columns in KNOWN["tables"].items():
        assert set(columns) <= set(pd.read_csv(home() / "figures" / name, nrows=1).columns), name
        assert "status" not in columns
    cells = {n.id: json.loads(n.path.read_text(encoding="utf-8"))["cells"] for n in catalogue()}
    for name, places in KNOWN["cells"].items():
        assert max(map(int, places)) < sum(cell["cell_type"] == "code" for cell in cells[name]), name


@pytest.mark.parametrize(("became", "same"), [(1.5, True), (1.7, False)])
def test_a_simulated_number_may_move_by_its_standard_errors_and_an_exact_one_may_not(
    became: float, same: bool, tmp_path: Path
) -> None:
    for name, value in (("stored", 1.0), ("fresh", became)):
        pd.DataFrame({"exact": [2.0], "drawn": [value], "word": ["a"]}).to_csv(tmp_path / name, index=False)
    paths = tmp_path / "stored", tmp_path / "fresh"
    assert (nbval_plugin.compare_tables(*paths, {"drawn": 0.6}) == []) == same
    assert nbval_plugin.compare_tables(*paths, {"word": np.inf}) != []
    assert nbval_plugin.compare_tables(*paths, {"drawn": np.inf}) == []


def test_a_cell_with_simulated_numbers_keeps_its_words() -> None:
    cell = SimpleNamespace(sanitize=str.strip, options={"check": True})
    nbval_plugin._loosen(cell, "numbers")
    assert cell.sanitize(" refuted: 0.25 of 1,000 ") == cell.sanitize("refuted:  0.3 of 1,000")
    assert cell.sanitize("refuted: 0.25") != cell.sanitize("reproduced: 0.25")
    nbval_plugin._loosen(cell, "words")
    assert cell.options == {"check": False}
    assert simulated.tolerances("no such table.csv") == {}
