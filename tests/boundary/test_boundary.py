"""Whatever a command, a notebook's parameter or a public function is given, it answers or refuses in one line.

`kinds` is the table of hostile values, and `functions`, `commands` and `notebooks` make the cases; `containers` gives
functions the same numbers in other types. Other cases in every run of `make test`, and all of them with
LDPNB_THOROUGH=1, about an hour. LDPNB_SEED repeats what a failure tells.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ldpnb.checks import UsageError
from ldpnb.run.catalogue import catalogue

HERE = Path(__file__).parent


EVERY = "import commands, containers, functions, notebooks\nfor area in (functions, containers, notebooks, commands): area.main()"


def test_hostile_arguments_are_answered_or_refused_in_one_line() -> None:
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": f"{HERE.parent}{os.pathsep}{HERE}"}
    command = [sys.executable, "-c", EVERY]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    print(result.stdout)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count(", 0 faults") == 4, result.stdout


def test_statistics_of_repetitions_ask_for_two() -> None:
    asked = [(n, p) for n in catalogue() for p in n.parameters if p.name in ("runs", "draws", "repetitions", "clients")]
    assert len(asked) > 20
    for notebook, parameter in asked:
        one = "[1]" if parameter.type.startswith("list") else "1"
        with pytest.raises(UsageError, match=f"{parameter.name} must lie in"):
            notebook.check({parameter.name: one})
