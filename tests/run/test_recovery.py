"""Random commands under random faults for a minute; LDPNB_THOROUGH=1 goes on for an hour, LDPNB_SEED repeats a failure."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_after_any_fault_outputs_are_good_and_the_next_run_mends(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, str(Path(__file__).with_name("recovery.py")), str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    print(result.stdout)
    assert result.returncode == 0, result.stderr
