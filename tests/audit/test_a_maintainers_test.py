"""A maintainer of another library copies ten lines from the README into a test of theirs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ldpnb

CHECKOUT = Path(ldpnb.__file__).parents[1]

KEEPS_EPSILON = """
import math, random

def respond(value):
    bits = [int(bit == value) for bit in range(4)]
    keep = math.exp(0.5) / (math.exp(0.5) + 1)
    return [bit if random.random() < keep else 1 - bit for bit in bits]
"""

NEVER_CLEARS_A_BIT = """
import math, random

def respond(value):
    bits = [int(bit == value) for bit in range(4)]
    flip = 1 / (math.exp(0.5) + 1)
    return [1 if random.random() < flip else bit for bit in bits]
"""

ALONE = """
import sys
import ldpnb as ldp, random
assert ldp.exact_channel(lambda x: x ^ (random.random() < 0.25), [0, 1]).epsilon > 1
foreign = {name.partition(".")[0] for name in sys.modules}
print(sorted(foreign & {"pandas", "click", "sympy", "matplotlib", "flint", "IPython", "pyarrow"}))
"""


def lines_of_the_readme() -> str:
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text.partition("## Audit")[2], re.DOTALL)
    return block


@pytest.mark.parametrize(
    ("client", "outcome"),
    [(KEEPS_EPSILON, "1 passed"), (NEVER_CLEARS_A_BIT, "1 failed")],
    ids=["keeps epsilon", "never clears a bit"],
)
def test_the_readmes_ten_lines_are_red_when_a_bit_is_never_cleared(tmp_path, client, outcome):
    (tmp_path / "yourlibrary.py").write_text(client)
    (tmp_path / "test_privacy.py").write_text(lines_of_the_readme())

    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_privacy.py"]
    ended = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        check=False,
    )

    assert outcome in ended.stdout
    assert ("epsilon is infinite" in ended.stdout) == ("failed" in outcome)


def test_the_function_needs_numpy_scipy_and_lazy_loader_only():
    ended = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "[]\n"
