"""What results.csv says of the tests, as the table and the list of survivors in README.md."""

import csv
import re
from pathlib import Path

HERE = Path(__file__).parent
ROOMS = ("mechanisms", "estimators", "privacy", "accuracy")
COLUMNS = ("room", "module", "function", "line", "mutation", "repeat", "outcome", "by")
REQUIRED = 0.9
NOTHING = {"kind": "", "why": "not explained"}
BEGIN, END = "<!-- results: written by `make mutants` -->", "<!-- end of results -->"


def results() -> list[dict[str, str]]:
    """Return the rows of results.csv."""
    with (HERE / "results.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def write(totals: dict[str, int]) -> int:
    """Put the results into README.md; return 1 if too many mutants survive in a room or a survivor is not explained."""
    rows, reasons = results(), explanations()
    lines = [
        "| room | mutants | tried | killed | of these hung or crashed | survived | change no result | killed, % | of those that change a result, % |",
        "|---|" + "---:|" * 8,
    ]
    good = True
    for room in ROOMS:
        own = [row for row in rows if row["room"] == room]
        lived = [row for row in own if row["outcome"] == "survived"]
        ended = sum(row["outcome"] in ("hung", "crashed") for row in own)
        alike = sum(reasons.get(name(row), NOTHING)["kind"] in ("same", "speed") for row in lived)
        killed = len(own) - len(lived)
        share = killed / (len(own) - alike)
        good &= killed >= REQUIRED * len(own) and all(row["outcome"] != "not installed" for row in own)
        counts = f"{totals[room]:,} | {len(own)} | {killed} | {ended} | {len(lived)} | {alike}"
        lines.append(f"| {room} | {counts} | {100 * killed / len(own):.1f} | {100 * share:.1f} |")
    lines += ["", "| survivor | mutation | kind | why it lives |", "|---|---|---|---|"]
    for row in rows:
        if row["outcome"] == "survived":
            reason = reasons.get(name(row), NOTHING)
            good &= reason is not NOTHING
            where, change = f"{row['module']}.{row['function']}", row["mutation"].replace("|", "\\|")
            lines.append(f"| `{where}`, line {row['line']} | `{change}` | {reason['kind']} | {reason['why']} |")
    readme = HERE / "README.md"
    block = "\n".join([BEGIN, *lines, END])
    readme.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: block, readme.read_text(), flags=re.DOTALL))
    print("\n".join(lines[: 2 + len(ROOMS)]))
    return 0 if good else 1


def explanations() -> dict[tuple[str, ...], dict[str, str]]:
    """Return why survivors live, from explained.csv."""
    with (HERE / "explained.csv").open(newline="") as file:
        return {name(row): row for row in csv.DictReader(file)}


def name(row: dict[str, str]) -> tuple[str, ...]:
    """Return what a survivor is explained by."""
    return row["module"], row["function"], row["mutation"]
