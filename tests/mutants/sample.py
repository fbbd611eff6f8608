"""Let Cosmic Ray change a room in a clone, one change at a time, and print how many the tests
notice.
"""

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
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import TestOutcome

CONFIG = "tests/mutants/cosmic-ray.toml"

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("room", choices=["mechanisms", "accuracy", "privacy", "estimators"])
parser.add_argument("sample", type=int)
parser.add_argument("seed", type=int)
options = parser.parse_args()
if options.sample < 1:
    parser.error(f"sample must be >= 1, got sample={options.sample}")
config = load_config(CONFIG)
excluded = re.compile("|".join(config["exclude-operators"]))
checkout = Path.cwd()
session = checkout / "build" / "mutants" / f"{options.room}.sqlite"
session.parent.mkdir(parents=True, exist_ok=True)
with tempfile.TemporaryDirectory() as clone, use_db(session) as db:
    subprocess.run(["git", "clone", "--quiet", checkout, clone], check=True)
    os.chdir(clone)
    Path(".venv").symlink_to(checkout / ".venv")
    os.environ["ROOM"] = options.room
    if subprocess.run(
        [Path(sys.executable).with_name("cosmic-ray"), "baseline", CONFIG], check=False
    ).returncode:
        sys.exit("the tests fail without a mutant")
    init(find_modules([Path("ldpnb", options.room)]), db, {})
    mutants = {}
    for item in db.work_items:
        (mutation,) = item.mutations
        row, column = mutation.start_pos
        # the `*` before keyword-only parameters is taken for a product
        bare_star = (
            mutation.module_path.read_text("utf-8").splitlines()[row - 1].startswith("*,", column)
        )
        if not bare_star and not excluded.match(mutation.operator_name):
            mutants[mutation.module_path, mutation.operator_name, mutation.occurrence] = item
    chosen = random.Random(options.seed).sample(sorted(mutants), min(options.sample, len(mutants)))
    db.clear()
    db.add_work_items(mutants[place] for place in chosen)
    execute(db, config)
    killed = sum(result.test_outcome == TestOutcome.KILLED for _, result in db.results)
    report(["--surviving-only", "--show-diff", str(session)], standalone_mode=False)
    print(
        f"{options.room}: the tests killed {killed} of {len(chosen)} mutants drawn from {len(mutants)}"
    )
