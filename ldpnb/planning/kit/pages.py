"""The files of a field kit: a plan's numbers, put into the texts for those who ask and those who are asked."""

import math
import os
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from scipy import stats

import ldpnb
from ldpnb.claims import rounded_up
from ldpnb.notebook.labels import literal
from ldpnb.surveys.field_plan import ESTIMATORS, FieldPlan, tickets_of
from ldpnb.surveys.reports import DEVICES, odds

_PAGES = (
    "start.md",
    "sample.md",
    "device.md",
    "consent.md",
    "script.md",
    "data.md",
    "methods.md",
    "form.html",
)
_COUNTED = {"reached": "", "refused": "", "void": "", "reports": ""}
"""What the field counts in `fieldwork.csv` beside how many are invited in each part of the sample."""
_FINER = 10_000
"""Tickets that the form draws from for each one that people would draw by hand."""
_THROWS, _UNFAIR = 1000, 0.001
_READABLE = 10_000
"""Largest denominator of a chance that is shown as a fraction."""


def pages(
    plan: FieldPlan,
    groups: Mapping[str, Sequence[str]] | None = None,
    *,
    drawn: Any = None,
    **origin: Any,
) -> dict[str, str]:
    """Return the text of every file of the kit by its name.

    - `plan`, FieldPlan
    - `groups`, mapping, optional: public columns to record beside a report, and their values.
    - `drawn`, DataFrame, optional: those who are asked, see `ldpnb.surveys.fieldwork.draw`.
    - `seed`, `listed`, `list_sum`: of the draw its seed, how many people the list has, and the SHA-256 of its file.

    >>> plan = FieldPlan(design="everyone", kind="binary", p="2/3", q="1/3", device="die", asked=500)
    >>> sorted(pages(plan))  # doctest: +NORMALIZE_WHITESPACE
    ['card.md', 'consent.md', 'data.md', 'device.md', 'fieldwork.csv', 'form.html', 'methods.md', 'plan.json',
     'reports.csv', 'sample.md', 'script.md', 'start.md']
    """
    groups, unit = groups or {}, [plan.unit] if plan.unit else []
    for name, values in groups.items():
        if name in (*plan.columns, "id") or not name or len({*values} - {""}) < max(len(values), 2):
            raise ValueError(
                f"by must be a new column with 2 different values or more, as sex=f,m, got {name}={values}"
            )
    words = (
        asdict(plan)
        | _numbers(plan)
        | origin
        | {"plan": plan, "groups": groups, "public": [*unit, *groups]}
    )
    words |= {
        "columns": (*plan.columns, *groups, "id"),
        "list_columns": ("id", *unit),
        "parts": _parts(plan, drawn),
    }
    words["drawn"] = 0 if drawn is None else len(drawn)
    tables = tomllib.loads(
        files(__package__).joinpath("texts/words.toml").read_text(encoding="utf-8")
    )
    meanings = tables.pop("entries") | {
        name: f"one of {_shown(values)}" for name, values in groups.items()
    }
    for name, table in tables.items():
        words[name] = _text(table.get(_expression(table["by"])(words), "")).render(words)
    words["meanings"] = meanings | {"report": words["recorded"]}
    texts = _PAGES if plan.device == "form" else (*_PAGES, "card.md")
    made = {name: _TEMPLATES.get_template(name).render(words) for name in texts}
    counted = [
        {plan.unit or "sample": name, "invited": asked} | _COUNTED
        for name, _, asked in words["parts"]
    ]
    sheets = {
        "reports.csv": pd.DataFrame(columns=words["columns"]),
        "fieldwork.csv": pd.DataFrame(counted),
    }
    if "class" in groups:
        sheets["invited.csv"] = pd.DataFrame({"class": groups["class"], "invited": ""})
    if drawn is not None:
        sheets["draw.csv"] = drawn
    return (
        made
        | {"plan.json": plan.to_json()}
        | {name: sheet.to_csv(index=False) for name, sheet in sheets.items()}
    )


def save(folder: Path, texts: dict[str, str]) -> None:
    """Write all files into a new folder, completely or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".kit-") as work:
        made = Path(work, "kit")
        made.mkdir()
        for name, text in texts.items():
            (made / name).write_text(text, encoding="utf-8", newline="")
        os.rename(made, folder)


def _parts(plan: FieldPlan, drawn: Any) -> list[tuple[Any, ...]]:
    """Return names of the sample's parts, and how many people there are and are asked in each, where that is known."""
    sizes: dict[str, int] = {}
    if plan.clusters and drawn is None:
        return [("each drawn", plan.cluster_size or "", plan.take or plan.cluster_size or "all")]
    if plan.clusters:
        sizes = dict(zip(drawn["cluster"], drawn["cluster_size"].astype(int), strict=True))
    return [(name, size or "", asked) for name, (size, asked) in plan.parts(sizes).items()]


def _numbers(plan: FieldPlan) -> dict[str, Any]:
    """Return what the texts say of a plan and its device, which must have the plan's chances."""
    if plan.device == "curator":
        raise ValueError(
            "device must be one that people use: a curator collects true answers, got device=curator"
        )
    outcomes, (p, q), span = DEVICES[plan.device], plan.chances, plan.span
    first, second = (
        (p - q, p - q) if plan.kind == "labels" else (p, q)
    )  # of the truth, or of a yes from either side
    if (plan.noisy and plan.device != "form") or first * outcomes % 1 or second * outcomes % 1:
        got = f"got device={plan.device}, of {outcomes:,} outcomes, with p={plan.p}, q={plan.q}"
        raise ValueError(
            f"device must have the chances of the plan, and for Laplace noise be form, {got}"
        )
    fewest, largest = stats.binom.interval(1 - _UNFAIR, _THROWS, float(first))
    tickets = tickets_of(span)
    grid = _FINER * tickets
    scale = Fraction(math.floor(plan.epsilon * 10**6), 10**6 * grid)
    shown = Fraction if p.denominator <= _READABLE else float
    return {
        "question": " ".join(plan.question.split()) or "the question that you are asked.",
        "unit": plan.unit,
        "estimator": ESTIMATORS[plan.estimator],
        "error": rounded_up(plan.error),
        "failure": rounded_up(plan.failure),
        "epsilon": f"{plan.epsilon:.6g}",
        "odds": math.exp(plan.epsilon),
        "exact": "" if plan.noisy else f"ln({odds(plan.kind, p, q)}), about ",
        "p": shown(p),
        "q": shown(q),
        "outcomes": outcomes,
        "kept": int(first * outcomes),
        "other": int(second * outcomes),
        "fewest": int(fewest),
        "largest": int(largest),
        "tickets": tickets,
        "step": span / tickets,
        "grid": grid,
        "drawn_with": {"scale": scale} if plan.noisy else {"p": p, "q": q, "kept": p - q},
        "numpy": np.__version__,
        "version": ldpnb.__version__,
    }


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(literal, value))
    return (
        f"{value:,}"
        if isinstance(value, int)
        else f"{value:.4g}"
        if isinstance(value, float)
        else str(value)
    )


def _up(number: float, digits: int = 0) -> str:
    """Return a number rounded up, since less than it would say too little."""
    return (
        f"{math.ceil(number * 10**digits - 1e-9) / 10**digits:.{digits}f}"
        if number < 1e9
        else f"{number:.2g}"
    )


_TEMPLATES = Environment(
    loader=PackageLoader(__package__, "texts"), finalize=_shown, undefined=StrictUndefined, trim_blocks=True,
    keep_trailing_newline=True,
)  # fmt: skip
_TEMPLATES.filters |= {
    "up": _up,
    "literal": literal,
    "cell": lambda text: str(text).replace("|", "\\|"),
}
_expression, _text = cache(_TEMPLATES.compile_expression), cache(_TEMPLATES.from_string)
