"""What results.csv says of the tests, as the table and the list of survivors in README.md."""

import csv
import re
from pathlib import Path

HERE = Path(__file__).parent
ROOMS = ("mechanisms", "estimators", "privacy", "amplification", "accuracy")
COLUMNS = ("room", "module", "function", "line", "mutation", "repeat", "outcome", "by")
REQUIRED = 0.9
BEGIN, END = "<!-- results: written by `make mutants` -->", "<!-- end of results -->"


def results() -> list[dict[str, str]]:
    """Return the rows of results.csv."""
    with (HERE / "results.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def write(totals: dict[str, int]) -> int:
    """Put the results into README.md; return 1 if too many mutants survive in a room or a survivor is not explained."""
    rows = results()
    with (HERE / "explained.csv").open(newline="") as file:
        why = {(r["module"], r["function"], r["mutation"]): r["why"] for r in csv.DictReader(file)}
    lines = [
        "| room | mutants | tried | killed | of these hung or crashed | survived | killed, % |",
        "|---|" + "---:|" * 6,
    ]
    good = True
    for room in ROOMS:
        own = [row for row in rows if row["room"] == room]
        lived = sum(row["outcome"] == "survived" for row in own)
        ended = sum(row["outcome"] in ("hung", "crashed") for row in own)
        share = 1 - lived / len(own)
        good &= share >= REQUIRED and all(row["outcome"] != "not installed" for row in own)
        lines.append(
            f"| {room} | {totals[room]:,} | {len(own)} | {len(own) - lived} | {ended} | {lived} | {100 * share:.1f} |"
        )
    lines += ["", "| survivor | mutation | why it lives |", "|---|---|---|"]
    for row in rows:
        if row["outcome"] == "survived":
            reason = why.get((row["module"], row["function"], row["mutation"]), "not explained")
            good &= reason != "not explained"
            change = row["mutation"].replace("|", "\\|")
            lines.append(f"| `{row['module']}.{row['function']}`, line {row['line']} | `{change}` | {reason} |")
    readme = HERE / "README.md"
    block = "\n".join([BEGIN, *lines, END])
    readme.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: block, readme.read_text(), flags=re.DOTALL))
    print("\n".join(lines[: 2 + len(ROOMS)]))
    return 0 if good else 1
