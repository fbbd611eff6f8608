"""What observers can tell apart, what can be read in two ways, and what a client is given."""

import itertools
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ldpnb.audit import AuditError, exact_channel
from ldpnb.audit.command import audit
from ldpnb.checks import UsageError


def told(value: int) -> Any:
    """Return the truth as a truth value, and noise as a number."""
    return bool(value) if random.random() < 0.5 else random.randint(0, 1)


@pytest.mark.parametrize(
    ("client", "types"),
    [
        (told, "int and bool|bool and int"),
        (lambda value: 1.0 if value else 1, "int and float"),
        (lambda value: [0, True] if value else (0, 1), "int and bool"),
        (lambda value: ((1, 0),) if value else ((True, 0),), "different types"),
    ],
    ids=["bool", "float", "in a list", "in a list of lists"],
)
def test_equal_outputs_of_different_types_are_refused(client: Any, types: str) -> None:
    with pytest.raises(AuditError, match=f"as ({types}), which are equal in Python but not in a"):
        exact_channel(client, [0, 1])


def test_a_second_argument_that_is_no_generator_is_not_given_one() -> None:
    def respond(value: int, epsilon: float) -> int:
        return value

    with pytest.raises(TypeError, match=r"it needs \(value, epsilon\); set the others with"):
        exact_channel(respond, [0, 1])


def test_a_client_of_few_paths_that_looks_at_a_clock_is_noticed() -> None:
    ticks = itertools.count()

    def respond(value: int) -> int:
        return value if next(ticks) % 40 < 39 else 1 - value

    with pytest.raises(AuditError, match="two outputs for the same draws"):
        exact_channel(respond, [0, 1])


def test_a_random_number_over_zero_raises_in_an_audit_too() -> None:
    with pytest.raises(AuditError, match="raises ZeroDivisionError: float division by zero"):
        exact_channel(lambda value: value if random.random() / 0 else 0, [0, 1])


def test_an_async_client_is_refused_as_such() -> None:
    async def respond(value: int) -> int:
        return value

    with pytest.raises(AuditError, match="the client is an async function"):
        exact_channel(respond, [0, 1])


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a client that tells truth in three of four cases."""
    code = "import random\ndef same(v):\n    return v if random.random() < 0.75 else '00'\n"
    code += "def slow(v):\n    while random.random() < 0.5: pass\n    return 0\n"
    (tmp_path / "told_client.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    return "told_client"


def test_inputs_that_begin_with_zero_stay_as_they_are_typed(client: str) -> None:
    run = CliRunner().invoke(audit, [f"{client}:same", "--inputs", "00,01,10"])
    assert "output '01' has probability 0.75 from input '01' and 0 from input '00'" in run.output
    assert "3 outputs" in run.output


def test_an_input_that_was_forgotten_is_asked_for(client: str) -> None:
    run = CliRunner().invoke(audit, [f"{client}:same", "--inputs", "yes,no,"])
    assert isinstance(run.exception, UsageError)
    assert "a value between any two commas, got yes,no," in str(run.exception)


def test_a_loss_that_leaves_paths_out_is_within_a_budget_only_at_its_delta(client: str) -> None:
    options = ["--inputs", "0:2", "--cut", "1e-6", "--epsilon", "1"]
    run = CliRunner().invoke(audit, [f"{client}:slow", *options])
    assert "the loss at delta 1.91e-06 is within the stated epsilon of 1" in run.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("report,yes,no\n0,.75,.25\n1,.25,.75\n", "the first column, report, may be an input or"),
        ("output,yes,no\nx,.75,.25\nx,.25,.75\n", "must give every output a different name"),
        ("output;yes;no\n0;0,75;0,25\n1;0,25;0,75\n", "but it has semicolons"),
        ("output\tyes\tno\n0\t.75\t.25\n1\t.25\t.75\n", "but it has tabs"),
    ],
    ids=["unnamed outputs", "an output twice", "semicolons", "tabs"],
)
def test_a_channel_that_can_be_read_in_two_ways_is_refused(
    text: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "channel.csv"
    path.write_text(text)
    run = CliRunner().invoke(audit, [str(path)])
    assert isinstance(run.exception, UsageError)
    assert words in str(run.exception)


@pytest.mark.parametrize(
    "text",
    ["yes,no\n1,.25\n0,.75\n", "output,a,b,c\nx,1,.5,.5\ny,0,.5,.5\n"],
    ids=["two inputs", "named outputs"],
)
def test_an_input_with_one_output_only_is_no_column_of_names(text: str, tmp_path: Path) -> None:
    path = tmp_path / "channel.csv"
    path.write_text(text)
    assert "epsilon is infinite" in CliRunner().invoke(audit, [str(path)]).output
