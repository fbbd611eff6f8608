"""A plan for reading: as text, as a table, or as JSON and CSV for other programs.

Numbers that a promise rests on are rounded up in text, so that what is printed is promised as well.
"""

import json
import math
from typing import Any

from ldpnb.mechanisms.registry import FREQUENCY
from ldpnb.notebook.prose import rounded_up
from ldpnb.planning.candidates import SMALLEST_EPSILON
from ldpnb.planning.questions import Frequency
from ldpnb.planning.solve import Answer, Plan

_ASKS = {
    "users": "How many users?",
    "epsilon": "Which budget?",
    "error": "Which error can be promised?",
    "failure": "How likely is a larger error?",
    "values": "How many values?",
    "sampling_rate": "Which sampling rate?",
}
_MORE = {
    "users": "needs {:.3g} times as many users",
    "epsilon": "needs {:.3g} times the budget",
    "error": "has {:.3g} times the error",
    "failure": "fails {:.3g} times as often",
    "values": "manages {:.3g} times fewer values",
    "sampling_rate": "needs {:.3g} times the sampling rate",
}


def rows(plan: Plan) -> list[dict[str, Any]]:
    """Return a row per mechanism; the value asked for is None if there is none, budgets are in nats."""
    return [
        {
            "mechanism": a.mechanism,
            plan.unknown: a.value if math.isfinite(a.value) else None,
            "unlimited": a.value == math.inf,
            "report_epsilon": a.epsilon if a.feasible else None,
            "release_epsilon": a.release if a.feasible and math.isfinite(a.release) else None,
            "bits": a.bits or None,
            "tail": a.tail or None,
            "failure_bound": a.failure if a.feasible else None,
            "reason": a.reason or None,
            "remark": a.remark or None,
            "yardstick": a.yardstick,
        }
        for a in plan.answers
    ]


def as_json(plan: Plan) -> str:
    """Return the plan as a JSON object."""
    margin = plan.margin if math.isfinite(plan.margin) else None
    about = {
        "question": plan.question.known(),
        "asked": plan.unknown,
        "design": plan.question.design.describe(),
        "neighbours": plan.question.design.neighbours,
        "epsilon_is_of_each": plan.question.protects,
        "best": plan.best.mechanism if plan.best else None,
        "margin": margin,
        "tails": tail_notes(plan),
        "answers": rows(plan),
    }
    return json.dumps(about, indent=1, default=list)


def as_csv(plan: Plan) -> str:
    """Return the answers as CSV."""
    return str(plan.to_frame().to_csv(index=False).rstrip("\n"))


def as_table(plan: Plan) -> Any:
    """Return the text's table as a pandas DataFrame of strings."""
    import pandas as pd

    heads, cells = _cells(plan)
    return pd.DataFrame(cells, columns=heads)


def as_text(plan: Plan) -> str:
    """Return the question, a table, the best mechanism with its margin, and what the tails assume."""
    heads, cells = _cells(plan)
    widths = [max(len(row[i]) for row in (heads, *cells)) for i in range(len(heads))]
    left = [head in ("mechanism", "tail", "") for head in heads]
    lines = [
        "  ".join(c.ljust(w) if side else c.rjust(w) for c, w, side in zip(row, widths, left, strict=True)).rstrip()
        for row in (heads, *cells)
    ]
    notes = [f"{name}: {note}." for name, note in tail_notes(plan).items()]
    remarks = [f"{a.mechanism}: {a.remark}." for a in plan.answers if a.remark]
    return "\n".join([question_line(plan), "", *lines, "", best_line(plan), *notes, *remarks])


def question_line(plan: Plan) -> str:
    """Return the question in a sentence."""
    question = plan.question
    known = question.known() | {"subject": question.subject}
    kept = "each report" if question.protects == "report" else "what is released"
    words = {
        "users": "{:,} users",
        "epsilon": f"epsilon {{:g}} for {kept}",
        "error": "error below {:g}",
        "failure": "except with probability {:g}",
        "subject": "{}",
        "sampling_rate": "sampling rate {:g}",
        "bits": "at most {} bits per user",
    }
    parts = [word.format(known[name]) for name, word in words.items() if name in known]
    return f"{_ASKS[plan.unknown]} {', '.join(parts)}; {question.design.describe()}."


def best_line(plan: Plan) -> str:
    """Return which mechanism is best and by how much, or that none can."""
    if plan.best is None:
        return "No local mechanism can do this."
    able = plan.able
    if len(able) < 2:
        return f"Best: {able[0].mechanism}, the only one that can."
    tied = [a.mechanism for a in able if a.value == able[0].value]
    if len(tied) > 1:
        return f"Best: {' and '.join([', '.join(tied[:-1]), tied[-1]])}, alike."
    margin = f"the next, {able[1].mechanism}, {_MORE[plan.unknown].format(plan.margin)}"
    return f"Best: {able[0].mechanism}; {margin}."


def tail_notes(plan: Plan) -> dict[str, str]:
    """Return what each tail in use is and assumes, and how a shuffler's loss is accounted for."""
    question, sampled = plan.question, plan.question.design.kind != "everyone"
    used = {a.tail for a in plan.answers if a.tail and (sampled or not a.yardstick)}
    exact = question.exact_law
    if isinstance(question, Frequency) and question.simultaneous:
        exact += ", added up over all values (union bound)"
    drawn = {
        "everyone": "",
        "srs": ", for samples without replacement (Hoeffding 1963)",
        "poisson": ", for those who take part (given their number a sample without replacement; Hoeffding 1963), "
        "averaged over how many do",
    }[question.design.kind]
    notes = {
        "exact": exact + (", sampling included" if sampled else ""),
        "chernoff": f"Chernoff's bound at the worst data, minimised over its parameter{drawn}",
        "bernstein": f"Bernstein's bound at the largest variance{drawn}",
        "hoeffding": f"Hoeffding's bound for bounded reports{drawn}",
        "normal": "normal approximation at the largest variance; an approximation for many reports, no promise",
    }
    return {name: notes[name] for name in notes if name in used} | _shuffler_note(plan)


def _shuffler_note(plan: Plan) -> dict[str, str]:
    if plan.question.design.delta is None:
        return {}
    general = "a bound for any randomiser (Feldman, McMillan and Talwar 2020)"
    names = [a.mechanism for a in plan.answers if not a.yardstick]
    exact = [name for name in names if name in ("k-RR", "Warner")]
    own = [name for name in sorted(names) if name in (*FREQUENCY, "1-bit", "signed bit") and name not in exact]
    rest = len(own) + len(exact) < len(names)
    parts = [f"{exact[0]} by its exact account"] if exact else []
    parts += [f"{', '.join(own)} by their privacy blanket (Balle and others 2019)"] if own else []
    return {"shuffler": "; ".join(parts + [f"{'all others' if parts else 'all'} by {general}"] * rest)}


def _cells(plan: Plan) -> tuple[list[str], list[list[str]]]:
    shown = plan.question.protects == "release" or plan.question.design.amplifies
    heads = ["mechanism", plan.unknown.replace("_", " "), *(["report epsilon", "released"] if shown else [])]
    heads += ["bits", "tail", *([""] if any(a.reason for a in plan.answers) else [])]
    cells = []
    for a in plan.answers:
        budgets = [rounded_up(a.epsilon), rounded_up(a.release)] if a.feasible and not a.yardstick else ["", ""]
        row = [a.mechanism, _value(plan.unknown, a), *(budgets if shown else [])]
        row += [f"{a.bits:,}" if a.bits else "", a.tail, *([a.reason] if len(heads) > len(row) + 2 else [])]
        cells.append(row)
    return heads, cells


def _value(unknown: str, answer: Answer) -> str:
    if not answer.feasible:
        return "-"
    if answer.value == math.inf:
        return "any number"
    if unknown in ("users", "values"):
        return f"{int(answer.value):,}"
    if unknown == "epsilon" and answer.value <= SMALLEST_EPSILON:
        return f"< {SMALLEST_EPSILON:g}"
    return rounded_up(answer.value)
