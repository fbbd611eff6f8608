"""Audits: of what can be enumerated exactly, of callables by draws, and of a published table row by row."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ldpnb as ldp
from ldpnb import cli

TABLE = Path(__file__).with_name("published.csv")
VERDICTS = [
    "row 1  mechanism k-RR  claimed_epsilon 1.0  exact_epsilon 1  verdict holds",
    "row 2  mechanism OUE  claimed_epsilon 2.0  exact_epsilon 2  verdict holds",
    "row 3  mechanism UnaryEncoding  claimed_epsilon 1.0986  exact_epsilon 2.19722  verdict does not hold",
    "row 4  mechanism k-RR  claimed_error 1.5  exact_error 1.5  verdict holds",
    "row 5  mechanism OUE  claimed_error 6.5  exact_error 7  verdict does not hold",
]


def test_a_channel_and_a_mechanism_are_audited_exactly() -> None:
    subsets = ldp.SubsetSelection.optimal(1.5, 6)
    for randomiser in (subsets, subsets.channel()):
        found = ldp.audit(randomiser)
        assert (found.exact, found.failure) == (True, 0.0)
        assert found.epsilon == pytest.approx(1.5, rel=1e-12)
        assert not found.refutes(1.5)
        assert found.refutes(1.4999)
    told = replace(found, epsilon=1e-10)
    assert told.refutes(0.0)
    assert not told.refutes(1e-10)


CALLABLES = {
    "numbers": (lambda value, rng: value + rng.laplace(), [0.0, 1.0], 1.0),
    "vectors": (lambda value, rng: (np.eye(3)[value] + (rng.random(3) < 0.3)) % 2, [0, 1, 2], 2 * np.log(7 / 3)),
    "words": (
        lambda value, rng: value if rng.random() < 0.75 else {"yes": "no", "no": "yes"}[value],
        ["yes", "no"],
        np.log(3),
    ),
    "numbers or silence": (
        lambda value, rng: [value, value, value, 1 - value, None][rng.integers(5)],
        [0, 1],
        np.log(3),
    ),
}


@pytest.mark.parametrize("name", CALLABLES)
def test_a_callable_gets_a_lower_bound_that_is_close(name: str) -> None:
    randomiser, inputs, exact = CALLABLES[name]
    found = ldp.audit(randomiser, inputs, draws=10_000, rng=ldp.stream("audit", name, seed=1))
    assert (found.exact, found.failure) == (False, 1e-3)
    assert 0.75 * exact < found.epsilon < exact


def test_the_direction_that_loses_more_decides() -> None:
    def sometimes(value: int, rng: np.random.Generator) -> str:
        return "seen" if value and rng.random() < 0.5 else "not seen"

    found = ldp.audit(sometimes, [0, 1], draws=2000, rng=ldp.stream("one way", seed=1))
    assert found.inputs == (1, 0)
    assert found.epsilon > 3


def test_the_bound_on_a_callable_is_clopper_pearsons() -> None:
    found = ldp.audit(lambda value, _rng: value, [0, 1], draws=200, failure=0.01, rng=ldp.stream("bare", seed=1))
    least = 0.0025 ** (1 / 100)  # two pairs of inputs, two chances each
    assert found.epsilon == pytest.approx(np.log(least / (1 - least)), rel=1e-9)


def test_no_loss_is_found_where_there_is_none() -> None:
    assert ldp.audit(lambda _value, rng: rng.random(), [0, 1], draws=1000, rng=ldp.stream("none", seed=1)).epsilon == 0


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"inputs": [0], "draws": 100}, "needs rng and at least two inputs, got .* 1 inputs"),
        ({"inputs": [0, 1], "rng": None}, "needs rng and at least two inputs, got rng=None and 2 inputs"),
        ({"inputs": [0, 1], "draws": 1}, "draws must be an integer >= 2, got draws=1"),
        ({"inputs": [0, 1], "failure": 1.0}, r"failure must lie in \(0, 1\), got failure=1.0"),
    ],
)
def test_a_callable_that_cannot_be_audited_is_refused(known: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ldp.audit(lambda value, _rng: value, **{"rng": np.random.default_rng(1), **known})


def test_a_published_table_is_judged_row_by_row() -> None:
    result = CliRunner().invoke(cli.cli, ["audit", str(TABLE)])
    assert (result.output.splitlines(), result.exit_code) == (VERDICTS, 1)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("k-R,1,4,1", "no mechanism k-R (did you mean k-RR?)"),
        ("k-RR,one,4,1", "epsilon must be a number, got one"),
        ("k-RR,1,4,", "needs claimed_epsilon or claimed_error"),
        ("k-RR,-1,4,1", "epsilon must be > 0"),
        ("UnaryEncoding,1,4,1", "UnaryEncoding takes"),
    ],
)
def test_a_row_that_cannot_be_judged_is_named(row: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"mechanism,epsilon,domain_size,claimed_epsilon\n{row}\n")
    error = str(CliRunner().invoke(cli.cli, ["audit", str(path)]).exception)
    assert error.startswith("row 1: ")
    assert said in error
