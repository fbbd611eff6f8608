"""The files of a field kit: a plan's numbers, put into the texts for those who ask and those who are asked."""

import csv
import io
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from scipy import stats

import ldpnb
from ldpnb.notebook.labels import literal
from ldpnb.surveys import draw
from ldpnb.surveys.field_plan import ESTIMATORS, FieldPlan
from ldpnb.surveys.reports import DEVICES, Reports

COUNTED = ("invited", "reached", "refused", "void", "reports")
"""What `fieldwork.csv` counts in each part of the sample."""

Groups = Mapping[str, Sequence[str]]

_PAGES = ("start.md", "sample.md", "device.md", "consent.md", "script.md", "data.md", "methods.md")
_FINER = 10_000
"""Tickets that the form draws from for each one that people would draw by hand."""
_THROWS, _UNFAIR = 1000, 0.001
_READABLE = 10_000
"""Largest denominator of a chance that is shown as a fraction."""


def pages(
    plan: FieldPlan,
    groups: Groups | None = None,
    *,
    drawn: draw.Columns | None = None,
    seed: int = 0,
    listed: int = 0,
    list_sum: str = "",
) -> dict[str, str]:
    """Return the text of every file of the kit by its name.

    Parameters
    ----------
    plan : FieldPlan
        Of reports that people randomise themselves.
    groups : mapping, optional
        Public columns to record beside a report, and their values.
    drawn : mapping of columns, optional
        Those who are asked, see `ldpnb.surveys.draw.draw`.
    seed, listed, list_sum : int, int, str
        Of the draw: its seed, how many people the list has, and the SHA-256 of its file.

    >>> plan = FieldPlan(design="everyone", kind="binary", p="2/3", q="1/3", device="die", asked=500)
    >>> sorted(pages(plan))  # doctest: +NORMALIZE_WHITESPACE
    ['card.md', 'consent.md', 'data.md', 'device.md', 'fieldwork.csv', 'form.html', 'methods.md', 'plan.json',
     'reports.csv', 'sample.md', 'script.md', 'start.md']
    """
    groups = groups or {}
    _refuse(plan, groups)
    words = _numbers(plan) | {
        "columns": (*plan.columns, *groups, "id"), "groups": groups, "public": [*filter(None, [plan.unit]), *groups],
        "parts": _parts(plan, drawn), "seed": str(seed), "listed": listed, "list_sum": list_sum,
        "drawn": 0 if drawn is None else drawn["id"].size,
    }  # fmt: skip
    tables = tomllib.loads(files(__package__).joinpath("texts/words.toml").read_text(encoding="utf-8"))
    meanings = tables.pop("entries") | {name: f"one of {_shown(values)}" for name, values in groups.items()}
    for name, table in tables.items():
        words[name] = _sentence(table.get(_choice(table["by"])(words), "")).render(words)
    words["meanings"] = meanings | {"report": words["recorded"]}
    texts = (*_PAGES, "form.html") if plan.device == "form" else (*_PAGES, "card.md", "form.html")
    made = {name: _TEMPLATES.get_template(name).render(words) for name in texts}
    made |= {"plan.json": plan.to_json(), "reports.csv": _csv([words["columns"]])}
    rows = [(name, asked, *("" for _ in COUNTED[1:])) for name, _, asked in words["parts"]]
    made["fieldwork.csv"] = _csv([(plan.unit or "sample", *COUNTED), *rows])
    if "class" in groups:
        made["invited.csv"] = _csv([("class", "invited"), *((name, "") for name in groups["class"])])
    if drawn is not None:
        made["draw.csv"] = _csv([tuple(drawn), *zip(*drawn.values(), strict=True)])
    return made


def _refuse(plan: FieldPlan, groups: Groups) -> None:
    """Refuse a plan that needs no kit or has another device's chances, and groups that are no new columns."""
    if plan.collection == "curator":
        raise ValueError("a kit needs reports that people randomise themselves: a curator collects true answers")
    if plan.kind == "Laplace" and plan.device != "form":
        raise ValueError(f"device must be form with Laplace noise, got device={plan.device}")
    parts = DEVICES[plan.device]
    if any((chance * parts).denominator > 1 for chance in _chances(plan)):
        raise ValueError(f"p and q must be chances of {plan.device}, of {parts}, got p={plan.p}, q={plan.q}")
    for name, values in groups.items():
        if name in (*plan.columns, "id") or not name or len(values) < 2 or "" in values:
            raise ValueError(f"by must be a new column with 2 values or more, as sex=f,m, got {name}={values}")


def _parts(plan: FieldPlan, drawn: draw.Columns | None) -> list[tuple[Any, ...]]:
    """Return names of the sample's parts, and how many people there are and are asked in each, where that is known."""
    if plan.strata:
        return [(name, size, asked) for name, (size, asked) in plan.strata.items()]
    if not plan.clusters:
        return [("all", plan.population or "", plan.asked)]
    if drawn is None:
        return [("each drawn", plan.cluster_size or "", plan.take or plan.cluster_size or "all")]
    names, first, asked = np.unique(drawn["cluster"], return_index=True, return_counts=True)
    sizes = drawn["cluster_size"][first].astype(int)
    return list(zip(names.tolist(), sizes.tolist(), asked.tolist(), strict=True))


def _chances(plan: FieldPlan) -> tuple[Fraction, ...]:
    """Return the chances that the device draws: of a yes from either side, or of the true label rather than a card."""
    if plan.kind == "Laplace":
        return (Fraction(0),)
    p, q = plan.chances
    return (p - q,) if plan.kind == "labels" else (p, q)


def _numbers(plan: FieldPlan) -> dict[str, Any]:
    """Return names and numbers of the plan."""
    epsilon, outcomes, chances, span = plan.reports.epsilon, DEVICES[plan.device], _chances(plan), plan.high - plan.low
    kept, other = int(chances[0] * outcomes), int(chances[-1] * outcomes)
    fewest, largest = stats.binom.interval(1 - _UNFAIR, _THROWS, kept / outcomes)
    tickets = int(span) if span == int(span) and 10 <= span <= 100 else 100  # one a unit of a number, if these do
    numbers = asdict(plan) | {
        "plan": plan, "question": " ".join(plan.question.split()) or "the question that you are asked.",
        "unit": plan.unit, "outcomes": outcomes, "kept": kept, "other": other, "fewest": int(fewest),
        "largest": int(largest), "tickets": tickets, "step": span / tickets, "grid": _FINER * tickets,
        "epsilon": f"{epsilon:.6g}", "odds": math.exp(epsilon), "list_columns": draw.columns(plan),
        "numpy": np.__version__, "version": ldpnb.__version__, "estimator": ESTIMATORS[plan.estimator],
    }  # fmt: skip
    if plan.kind == "Laplace":
        scale = Fraction(math.floor(plan.epsilon * 10**6), 10**6 * numbers["grid"])
        return numbers | {"exact": "", "drawn_with": {"scale": scale}}
    p, q = plan.chances
    exact = f"ln({Reports(plan.kind, p, q, labels=plan.labels).odds}), about "
    shown = Fraction if p.denominator <= _READABLE else float
    return numbers | {"exact": exact, "p": shown(p), "q": shown(q), "drawn_with": {"p": p, "q": q, "kept": p - q}}


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(literal, value))
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)


def _up(number: float, digits: int = 0) -> str:
    """Return a number rounded up, since less than it would say too little."""
    return f"{math.ceil(number * 10**digits - 1e-9) / 10**digits:.{digits}f}" if number < 1e9 else f"{number:.2g}"


def _csv(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


_TEMPLATES = Environment(
    loader=PackageLoader(__package__, "texts"), finalize=_shown, undefined=StrictUndefined, trim_blocks=True,
    keep_trailing_newline=True,
)  # fmt: skip
_TEMPLATES.filters |= {"up": _up, "literal": literal, "cell": lambda text: str(text).replace("|", "\\|")}
_sentence, _choice = cache(_TEMPLATES.from_string), cache(_TEMPLATES.compile_expression)
