"""Run every notebook with other random streams and write down what changed, and by how much: ``ldpnb/run/simulated.json``.

    python tests/matrix/streams.py [--runs 3]

Prints how many columns would raise a false alarm if each run in turn were compared with the tolerances that the others
give (`ldpnb.run.simulated`)."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from ldpnb.run.catalogue import catalogue, home
from ldpnb.run.nbval_plugin import compare_tables
from ldpnb.run.simulated import PATH, WITHIN, without_numbers

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build" / "streams"


def salted(run: int) -> Path:
    """Run all notebooks with the streams of that run and return the folder of the results."""
    folder = BUILD / str(run)
    variables = os.environ | {"SALT": f"run {run} ", "PYTHONPATH": str(HERE / "streams")}
    subprocess.run([sys.executable, "-m", "ldpnb", "run", "-f", "-o", str(folder)], env=variables, check=False)
    if not (folder / "figures" / "verdicts.csv").exists():
        raise click.ClickException(f"a claim cannot be decided with the streams of run {run} (see {folder})")
    return folder


def errors(tables: list[pd.DataFrame]) -> dict[str, float | None]:
    """Return the standard error of each column that is not the same in all runs; None for text.

    A verdict must not hang on the streams, so that a status is never among them.
    """
    found: dict[str, float | None] = {}
    first = tables[0]
    for column in first.columns.drop("status", errors="ignore"):
        runs = [table[column] for table in tables]
        if all(run.dtype.kind in "iuf" for run in runs) and len({len(run) for run in runs}) == 1:
            values = np.array([run.to_numpy(float) for run in runs])
            if not np.isclose(values, values[0], rtol=1e-6, atol=1e-12, equal_nan=True).all():
                found[column] = float(f"{np.nanmax(values.std(axis=0, ddof=1)):.3g}")
        elif not all(run.equals(runs[0]) for run in runs):
            found[column] = None
    return found


def same_verdicts(committed: Path, folder: Path) -> bool:
    """Return whether a run decides every claim as committed, and say which it does not."""
    before, after = (pd.read_csv(place / "verdicts.csv").set_index("claim")["status"] for place in (committed, folder))
    for claim in before.index[before != after.reindex(before.index)]:
        click.echo(f"{claim}: {before[claim]} became {after.get(claim)} with other streams")
    return bool((before == after.reindex(before.index)).all())


def texts(path: Path) -> list[str]:
    """Return the text of every code cell's outputs."""
    cells = [c for c in json.loads(path.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == "code"]
    return ["\n".join(_texts(cell["outputs"])) for cell in cells]


def _texts(outputs: list[dict[str, Any]]) -> list[str]:
    parts = [
        part for output in outputs for kind, part in output.get("data", output).items() if not kind.startswith("image/")
    ]
    return ["".join(part) for part in parts if isinstance(part, list | str)]


def changed(runs: list[list[str]]) -> dict[str, str]:
    """Return the places of cells whose text is not the same in all runs, and whether its words differ."""
    places: dict[str, str] = {}
    for place, said in enumerate(zip(*runs, strict=True)):
        if len(set(said)) > 1:
            places[str(place)] = "numbers" if len(set(map(without_numbers, said))) == 1 else "words"
    return places


def alarms(committed: Path, folders: list[Path], names: list[str]) -> tuple[int, int]:
    """Return how many columns raise an alarm when each run is judged by the others, and of how many."""
    raised = tried = 0
    for i, folder in enumerate(folders):
        others = [committed, *folders[:i], *folders[i + 1 :]]
        for name in names:
            scales = errors([pd.read_csv(f / name) for f in others])
            allowed = {c: WITHIN * e if e is not None else np.inf for c, e in scales.items()}
            raised += len(compare_tables(committed / name, folder / name, allowed))
            tried += len(allowed)
    return raised, tried


@click.command()
@click.option("--runs", default=3, show_default=True, help="With other streams.")
def main(runs: int) -> None:
    """Write ldpnb/run/simulated.json."""
    figures = home() / "figures"
    folders = [salted(run) for run in range(runs)]
    places = [f / "figures" for f in folders]
    names = sorted(p.relative_to(figures).as_posix() for p in figures.rglob("*.csv"))
    names = [name for name in names if all((place / name).exists() for place in places)]
    tables = {name: errors([pd.read_csv(f / name) for f in (figures, *places)]) for name in names}
    alike = [folder for folder in folders if same_verdicts(figures, folder / "figures")] or folders
    cells = {n.id: changed([texts(n.path), *(texts(f / f"{n.id}.ipynb") for f in alike)]) for n in catalogue()}
    about = {"tables": {k: v for k, v in tables.items() if v}, "cells": {k: v for k, v in cells.items() if v}}
    PATH.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    raised, tried = alarms(figures, places, names)
    click.echo(f"{sum(map(len, tables.values()))} simulated columns of {len(about['tables'])} tables")
    click.echo(f"each run judged by the others: {raised} false alarms of {tried} columns")


if __name__ == "__main__":
    main()
