"""Let Cosmic Ray change a room in a clone, step by step, and count what the tests notice."""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cosmic_ray.commands import execute, init
from cosmic_ray.config import load_config
from cosmic_ray.modules import find_modules
from cosmic_ray.tools.report import report
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkItem

CONFIG = "tests/mutants/cosmic-ray.toml"

CLAIMS = "tests/papers --ignore=tests/papers/routes/test_broken_formulas.py"
THEORY = f"tests/theory {CLAIMS}"
ROOMS = {
    "accuracy": ("tests/theory/test_accuracy.py tests/theory/properties/test_accuracy.py", THEORY),
    "audit": (
        "tests/audit/test_exact_channels.py tests/audit/test_channels_in_numbers.py "
        "tests/audit/test_followed_draws.py tests/audit/test_outputs_and_limits.py",
        "tests/audit",
    ),
    "claims": ("", CLAIMS),
    "data": (
        "tests/data/test_questions.py tests/data/test_tallies.py tests/data/test_inspection.py",
        "tests/data",
    ),
    "deciders": ("tests/theory/test_deciders.py", THEORY),
    "designs": (
        "tests/theory/test_allocations.py tests/theory/properties/test_designs.py",
        f"{THEORY} tests/survey",
    ),
    "estimators": ("tests/theory/test_estimators.py", THEORY),
    "mechanisms": ("tests/theory/properties/test_mechanisms.py", THEORY),
    "notebook": (
        "tests/notebooks/test_charts.py tests/notebooks/test_words.py "
        "tests/notebooks/test_parameters.py tests/notebooks/test_what_is_drawn.py "
        "tests/notebooks/test_marked_places.py tests/notebooks/test_figures.py",
        "tests/notebooks tests/papers/test_tables.py",
    ),
    "privacy": (
        "tests/papers/routes/test_companion_reports.py tests/theory/test_privacy.py "
        "tests/theory/test_privacy_shuffling.py tests/theory/test_privacy_hockey_stick.py",
        THEORY,
    ),
    "run": (
        "tests/run/test_catalogue.py tests/run/test_errata.py tests/run/test_sameness.py "
        "tests/run/test_export.py "
        "tests/papers/test_derived.py::test_sheets_and_the_table_of_the_readme_are_current",
        "tests/run/test_cli.py tests/run/test_runner.py tests/run/test_readme.py "
        "tests/papers/test_derived.py tests/notebooks/test_notebooks.py "
        "tests/notebooks/test_committed_figures.py",
    ),
    "site": ("--ignore=ldpnb/site/conf.py tests/pages/test_mathematics.py", "tests/pages"),
    "survey": (
        "tests/survey/test_survey_words.py tests/survey/test_device.py "
        "tests/survey/test_estimation.py",
        "tests/survey",
    ),
}
"""The tests of each room: those that come first, and the others."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("sample", type=int)
    parser.add_argument("seed", type=int)

    options = parser.parse_args()
    if options.sample < 1:
        parser.error(f"sample must be >= 1, got sample={options.sample}")
    return options


def is_bare_star(mutation: MutationSpec) -> bool:
    """Whether a change is of the `*` before keyword-only parameters, taken for a product."""
    row, column = mutation.start_pos
    line = mutation.module_path.read_text("utf-8").splitlines()[row - 1]
    return line.startswith("*,", column)


def all_mutants(db: WorkDB, excluded: re.Pattern[str]) -> dict[tuple, WorkItem]:
    """The changes of a session that make sense, each by its place."""
    mutants = {}
    for item in db.work_items:
        (mutation,) = item.mutations
        if not is_bare_star(mutation) and not excluded.match(mutation.operator_name):
            mutants[mutation.module_path, mutation.operator_name, mutation.occurrence] = item

    return mutants


def main() -> None:
    options = arguments()
    config = load_config(CONFIG)
    checkout = Path.cwd()
    session = checkout / "build" / "mutants" / f"{options.room}.sqlite"
    session.parent.mkdir(parents=True, exist_ok=True)

    with tempfile.TemporaryDirectory() as clone, use_db(session) as db:
        subprocess.run(["git", "clone", "--quiet", checkout, clone], check=True)
        os.chdir(clone)
        Path(".venv").symlink_to(checkout / ".venv")
        os.environ["PYTHONPATH"] = clone  # else programs that a test starts import the checkout
        first, then = ROOMS[options.room]
        done = [f"--deselect={test}" for test in first.split() if not test.startswith("-")]
        os.environ["FIRST"] = f"ldpnb/{options.room} {first}"
        os.environ["THEN"] = " ".join([then, *done])

        cosmic_ray = Path(sys.executable).with_name("cosmic-ray")
        if subprocess.run([cosmic_ray, "baseline", CONFIG], check=False).returncode != 0:
            sys.exit("the tests fail without a mutant")

        init(find_modules([Path("ldpnb", options.room)]), db, {})
        mutants = all_mutants(db, re.compile("|".join(config["exclude-operators"])))
        sample = min(options.sample, len(mutants))
        chosen = random.Random(options.seed).sample(sorted(mutants), sample)

        db.clear()
        db.add_work_items(mutants[place] for place in chosen)
        execute(db, config)

        killed = sum(result.test_outcome == TestOutcome.KILLED for _, result in db.results)
        report(["--surviving-only", "--show-diff", str(session)], standalone_mode=False)
        drawn = f"{sample} mutants drawn from {len(mutants)}"
        print(f"{options.room}: the tests killed {killed} of {drawn}")


if __name__ == "__main__":
    main()
