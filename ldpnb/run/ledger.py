"""The ledger of verdicts, for notebooks, the terminal and the README."""

import inspect
import pkgutil
from collections.abc import Mapping
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import ldpnb
from ldpnb import claims, writing
from ldpnb.run.catalogue import catalogue, home

_START, _END = "<!-- sources: written by `ldpnb report` -->", "<!-- end of sources -->"

COLUMNS = (
    *("claim", "notebook", "place", "says", "status", "reach", "over", "evidence", "corrected", "assumption"),
    *("argument", "reading", "kind", "false_alarm", "power"),
)


def ledger(source: str | None = None, status: str | None = None) -> Any:
    """Return the ledger: every claim, or those of a source or a status, with its verdict and its notebook.

    Returns
    -------
    pandas.DataFrame
        Columns as `COLUMNS`, a row per claim.
    """
    import pandas as pd
    from threadpoolctl import threadpool_limits

    shown_in = {identifier: n.id for n in catalogue() for identifier in n.claims}
    with threadpool_limits(1):  # the matrices are small, and a second thread only waits
        rows = [
            {"claim": c.id, "notebook": shown_in.get(c.id, ""), "place": c.place, "says": c.says}
            | asdict(claims.decide(c.id))
            for c in claims.claims(source)
        ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table if status is None else table[table["status"] == status].reset_index(drop=True)


def committed_ledger() -> Any:
    """Return the committed ledger, ``figures/verdicts.csv``."""
    import pandas as pd

    text = StringIO(writing.read(home() / "figures/verdicts.csv"))
    return pd.read_csv(text, keep_default_na=False, dtype={"false_alarm": str, "power": str})


_MENDED = ("place", "says", "over", "corrected", "assumption", "argument")
"""Columns of the ledger that a sentence mended in a section changes."""


def changes(source: str | None = None) -> list[str]:
    """Return the differences between the verdicts computed now and the committed ledger, one per line."""
    committed = committed_ledger()
    ours = committed[committed["claim"].str.startswith(f"{source}/")] if source else committed
    now, then = ({row["claim"]: row for row in table.to_dict("records")} for table in (ledger(source), ours))
    differences = []
    for name in now | then:
        before, after = (f"{t[name]['status']}, {t[name]['reach']}" if name in t else "absent" for t in (then, now))
        if before != after:
            differences.append(f"{name}: {before} -> {after}")
        elif any(then[name][part] != now[name][part] for part in _MENDED):
            differences.append(f"{name}: its words differ; run its notebook and 99_verdicts")
    return differences


def place(function: Any) -> tuple[Path, int]:
    """Return where a function, method, property or class is defined: its file within the checkout, and the line.

    >>> place(place)[0].as_posix()
    'ldpnb/run/ledger.py'
    """
    for inner in ("fget", "func", "__func__"):  # of a property, a cached one, a class method
        function = getattr(function, inner, None) or function
    function = inspect.unwrap(function)
    file = Path(inspect.getfile(function)).relative_to(Path(ldpnb.__file__).parent.parent)
    return file, inspect.getsourcelines(function)[1]


def described(row: Mapping[str, Any]) -> str:
    """Return the words in a row of a ledger, a column on a line."""
    return "\n".join(f"{column}: {words}" for column, words in row.items() if isinstance(words, str) and words)


def card(name: str) -> str:
    """Return the row of a claim in the committed ledger, and where its code is, in lines for a terminal."""
    lines = [described(row) for row in committed_ledger().to_dict("records") if row["claim"] == name]
    claim = claims.find(name)
    rests = [pkgutil.resolve_name(f"ldpnb.{path}") for path in claim.rests_on]
    for label, functions in {"decided by": [claim.check], "rests on": rests}.items():
        lines += [f"{label}: {file.as_posix()}:{line}" for file, line in map(place, functions)]
    return "\n".join(lines)


_COUNTED = {
    "reproduced as printed": ("reproduced", "printed"),
    "as reconstructed": ("reproduced", "reconstructed"),
    **{word: (word,) for word in (*get_args(claims.Status)[1:], *get_args(claims.Reach))},
}
"""Columns of the README's table, and the words that a row has which counts in one."""


def renew_readme() -> None:
    """Write the table of the sources and the companion's own results, by the committed ledger, into the README."""
    rows = committed_ledger().to_dict("records")
    heads = ["source", "about", "notebooks", "claims", *_COUNTED]
    lines = [_START, " | ".join(["", *heads, ""]).strip(), "|---|---|" + "---:|" * (len(heads) - 2)]
    for number, (key, text) in enumerate(claims.LEDGERS.items(), 1):
        own = [{row["status"], row["reach"], row["reading"]} for row in rows if row["claim"].startswith(f"{key}/")]
        counts = [sum(words.issuperset(column) for words in own) for column in _COUNTED.values()]
        path = f"notebooks/{number}_{key}" if key in claims.SOURCES else f"ldpnb/papers/{key}"
        notebooks = sum(n.source == key for n in catalogue()) or ""
        lines.append(" | ".join(map(str, ["", f"[`{key}`]({path})", text, notebooks, len(own), *counts, ""])).strip())
    readme = home() / "README.md"
    head, _, rest = readme.read_text(encoding="utf-8").partition(_START)
    writing.write(readme, (head + "\n".join([*lines, _END]) + rest.partition(_END)[2]).encode())
