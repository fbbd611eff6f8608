"""The files of a field kit: a plan's numbers, put into the texts for those who ask and those who are asked."""

import csv
import html
import io
import json
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np
from scipy import stats

import ldpnb
from ldpnb.notebook.labels import literal
from ldpnb.surveys import draw
from ldpnb.surveys.field_plan import ESTIMATORS, FieldPlan
from ldpnb.surveys.reports import DEVICES, Reports

COUNTED = ("invited", "reached", "refused", "void", "reports")
"""What `fieldwork.csv` counts in each part of the sample."""

_PAGES = ("start.md", "sample.md", "device.md", "consent.md", "script.md", "data.md", "methods.md")
_FINER = 10_000
"""Tickets that the form draws from for each one that people would draw by hand."""
_THROWS, _UNFAIR = 1000, 0.001
_READABLE = 10_000
"""Largest denominator of a chance that is shown as a fraction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """What the files of a kit are made from.

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
    """

    plan: FieldPlan
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    drawn: Mapping[str, Any] | None = None
    seed: int = 0
    listed: int = 0
    list_sum: str = ""

    def __post_init__(self) -> None:
        plan = self.plan
        if plan.collection == "curator":
            raise ValueError("a kit needs reports that people randomise themselves: a curator collects true answers")
        if plan.kind == "Laplace" and plan.device != "form":
            raise ValueError(f"device must be form with Laplace noise, got device={plan.device}")
        parts = DEVICES[plan.device]
        if any((chance * parts).denominator > 1 for chance in _chances(plan)):
            raise ValueError(f"p and q must be chances of {plan.device}, of {parts}, got p={plan.p}, q={plan.q}")
        for name, values in self.groups.items():
            if name in (*plan.columns, "id") or not name or len(values) < 2 or "" in values:
                raise ValueError(f"by must be a new column with 2 values or more, as sex=f,m, got {name}={values}")

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the file of reports."""
        return (*self.plan.columns, *self.groups, "id")

    @property
    def parts(self) -> list[tuple[str, str, str]]:
        """Names of the sample's parts, and how many people there are and are asked in each, where that is known."""
        plan = self.plan
        if plan.strata:
            return [(name, str(size), str(asked)) for name, (size, asked) in plan.strata.items()]
        if not plan.clusters:
            return [("all", str(plan.population or ""), str(plan.asked))]
        if self.drawn is None:
            return [("each drawn", str(plan.cluster_size or ""), str(plan.take or plan.cluster_size or "all"))]
        names, asked = np.unique(self.drawn["cluster"], return_counts=True)
        sizes = dict(zip(self.drawn["cluster"], self.drawn["cluster_size"], strict=True))
        return [(str(name), sizes[name], str(number)) for name, number in zip(names, asked, strict=True)]


def pages(kit: Kit) -> dict[str, str]:
    """Return the text of every file of the kit by its name.

    >>> plan = FieldPlan(design="everyone", kind="binary", p="2/3", q="1/3", device="die", asked=500)
    >>> sorted(pages(Kit(plan=plan)))  # doctest: +NORMALIZE_WHITESPACE
    ['card.md', 'consent.md', 'data.md', 'device.md', 'fieldwork.csv', 'form.html', 'methods.md', 'plan.json',
     'reports.csv', 'sample.md', 'script.md', 'start.md']
    """
    plan, words = kit.plan, _words(kit)
    made = {name: _filled(_text(name), words) for name in (*_PAGES, *([] if plan.device == "form" else ["card.md"]))}
    made |= {"plan.json": plan.to_json(), "form.html": _form(kit, words), "reports.csv": _csv([kit.columns])}
    rows = [(name, asked, *("" for _ in COUNTED[1:])) for name, _, asked in kit.parts]
    made["fieldwork.csv"] = _csv([(plan.unit or "sample", *COUNTED), *rows])
    if "class" in kit.groups:
        made["invited.csv"] = _csv([("class", "invited"), *((name, "") for name in kit.groups["class"])])
    if kit.drawn is not None:
        made["draw.csv"] = _csv([tuple(kit.drawn), *zip(*kit.drawn.values(), strict=True)])
    return made


def _chances(plan: FieldPlan) -> tuple[Fraction, ...]:
    """Return the chances that the device draws: of a yes from either side, or of the true label rather than a card."""
    if plan.kind == "Laplace":
        return (Fraction(0),)
    p, q = plan.chances
    return (p - q,) if plan.kind == "labels" else (p, q)


def _words(kit: Kit) -> dict[str, str]:
    """Return what fills the placeholders of the pages: the plan's numbers, and the sentences chosen for it."""
    plan, words, tables = kit.plan, _numbers(kit), tomllib.loads(_text("words.toml"))
    forced = plan.kind == "binary" and sum(_chances(plan)) != 1
    choices = {
        "kind": plan.kind, "design": plan.design, "device": plan.device,
        "tool": "form" if plan.device == "form" else "physical", "protocol": "forced" if forced else plan.kind,
        "draw": "everyone" if plan.design == "everyone" else "open" if kit.drawn is None else "made",
        "promise": "given" if plan.error == plan.error else "",
    }  # fmt: skip
    meanings = tables.pop("entries") | {name: f"one of {_list(values)}" for name, values in kit.groups.items()}
    for name, table in tables.items():
        words[name] = _filled(table.get(choices[table["by"]], ""), words)
    meanings["report"] = words["recorded"]
    parts = [(literal(name), *(_shown(int(n)) if n.isdigit() else n for n in sizes)) for name, *sizes in kit.parts]
    return words | {
        "columns": _table(["column", "what is in it"], [(f"`{name}`", meanings[name]) for name in kit.columns]),
        "parts_table": _table([plan.unit or "sample", "people", "ask"], parts),
    }


def _numbers(kit: Kit) -> dict[str, str]:
    """Return names and numbers of the plan as words."""
    plan, odds, tickets = kit.plan, math.exp(kit.plan.reports.epsilon), _tickets(kit.plan)
    step, outcomes, chances = (plan.high - plan.low) / tickets, DEVICES[plan.device], _chances(plan)
    kept, other = int(chances[0] * outcomes), int(chances[-1] * outcomes)
    fewest, largest = stats.binom.interval(1 - _UNFAIR, _THROWS, kept / outcomes)
    public = (*filter(None, [plan.unit]), *kit.groups)
    exact, shown = "", dict[str, Any]()
    if plan.kind != "Laplace":
        exact = f"ln({Reports(plan.kind, *plan.chances, labels=plan.labels).odds}), about "
        p, q = plan.chances
        shown = {"p": p, "q": q} if p.denominator <= _READABLE else {"p": float(p), "q": float(q)}
    numbers = asdict(plan) | shown | {
        "question": " ".join(plan.question.split()) or "the question that you are asked.", "sha": plan.checksum,
        "labels": _list(plan.labels), "size": len(plan.labels), "example": "1".rjust(len(plan.labels), "0"),
        "outcomes": outcomes, "kept": kept, "after": kept + 1, "other": other, "after_other": other + 1,
        "expected": round(_THROWS * kept / outcomes), "fewest": int(fewest), "largest": int(largest),
        "tickets": tickets, "grid": _FINER * tickets, "ticket_step": step, "ticket_first": plan.low + step / 2,
        "ticket_second": plan.low + 1.5 * step, "ticket_last": plan.high - step / 2,
        "exact": exact, "epsilon": f"{plan.reports.epsilon:.6g}",
        "odds": _up(odds, 2), "odds_twice": _up(odds**2, 2),
        "from_50": _up(100 * odds / (odds + 1)), "from_10": _up(100 * odds / (odds + 9)),
        "listed": kit.listed, "drawn": len((kit.drawn or {"id": ()})["id"]), "list_sum": kit.list_sum,
        "list_columns": _list(draw.columns(plan)), "seed": str(kit.seed), "numpy": np.__version__,
        "version": ldpnb.__version__, "estimator": ESTIMATORS[plan.estimator],
        "public": "".join(f", your {name}" for name in public),
        "by": "".join(f" --by {name}" for name in kit.groups if name != "class"),
        "classes": " --classes invited.csv" if "class" in kit.groups else "",
        "listing": "; ".join(f"{name} {asked} of {size}" for name, size, asked in kit.parts),
    }  # fmt: skip
    return {name: _shown(value) for name, value in numbers.items()}


def _tickets(plan: FieldPlan) -> int:
    """Return how many tickets stand for the range of a number: one a unit, if these are 10 to 100."""
    span = plan.high - plan.low
    return int(span) if span == int(span) and 10 <= span <= 100 else 100


def _form(kit: Kit, words: dict[str, str]) -> str:
    """Return the page that draws a report from an answer; its own `plan` has what it needs."""
    plan, steps = kit.plan, _FINER * _tickets(kit.plan)
    chances: dict[str, Fraction] = {}
    if plan.kind == "Laplace":
        chances["scale"] = Fraction(math.floor(plan.epsilon * 10**6), 10**6 * steps)
    else:
        p, q = plan.chances
        chances |= {"p": p, "q": q, "kept": p - q}
    ends = ["yes", "no"] if (plan.low, plan.high) == (0, 1) else [f"{plan.high:g}", f"{plan.low:g}"]
    answers = plan.labels or (ends if plan.kind == "binary" else [])
    unit = [name for name in plan.columns if name != "report"]
    values = {name: list(choices) for name, choices in kit.groups.items()} | {"stratum": list(plan.strata or {})}
    content = {"sha256": plan.checksum, "kind": plan.kind, "low": plan.low, "high": plan.high, "steps": steps}
    content |= {"answers": answers, "columns": kit.columns, "unit": unit, "groups": list(kit.groups), "values": values}
    content |= {name: chance.as_integer_ratio() for name, chance in chances.items()}
    escaped = {name: html.escape(words[name]) for name in ("question", "low", "high")}
    lines = re.findall(r"^- (.*(?:\n  .*)*)", _text("consent.md"), re.MULTILINE)
    consent = "\n".join(f"<li>{html.escape(_filled(line, words))}</li>" for line in lines)
    data = json.dumps(content, default=str).replace("<", "\\u003c")
    return _filled(_text("form.html"), escaped | {"consent": consent, "plan": data, "script": _text("form.js")})


def _text(name: str) -> str:
    return files(__package__).joinpath("texts", name).read_text(encoding="utf-8")


def _filled(text: str, words: Mapping[str, str]) -> str:
    return Template(text).substitute(words)


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(literal, names))


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)


def _up(number: float, digits: int = 0) -> str:
    """Return a number rounded up, since less than it would say too little."""
    return f"{math.ceil(number * 10**digits - 1e-9) / 10**digits:.{digits}f}" if number < 1e9 else f"{number:.2g}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


def _csv(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
