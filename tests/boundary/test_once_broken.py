"""What a tester broke once, of every kind that no generator makes: refused in a line that names it, before any work."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import ldpnb as ldp
from ldpnb.checks import UsageError
from ldpnb.cli import cli
from ldpnb.data.files import load_counts
from ldpnb.run.catalogue import find

NO_NUMBERS = ["three", "1,000", "0x10", "\0", "2020-01-01", "true", "#DIV/0!", "=1+1", "12 %"]
PLAN = "--epsilon 1 --users 1e4 --failure 0.1"


@pytest.mark.parametrize("entry", NO_NUMBERS)
@pytest.mark.parametrize("row", [1, 3])
def test_no_entry_makes_a_column_with_stated_ends_categorical(tmp_path: Path, entry: str, row: int) -> None:
    rows = ["25", "30", "41"]
    rows.insert(row, f'"{entry}"')
    (tmp_path / "x.csv").write_text("\n".join(["age", *rows, ""]))
    with pytest.raises(ValueError, match=r"column age must hold numbers, got |its encoding is not found"):
        load_counts(str(tmp_path / "x.csv"), "age", low=0, high=120)


@pytest.mark.parametrize("given", [{"values": 20_000}, {"values": 160_000}, {"low": 0, "high": 9_999_999}])
def test_more_values_than_a_channel_serves_are_refused_with_a_way_out(tmp_path: Path, given: dict[str, int]) -> None:
    kind = "v" if "values" in given else ""
    (tmp_path / "x.csv").write_text("c\n" + "".join(f"{kind}{i}\n" for i in range(given.pop("values", 9))))
    with pytest.raises(ValueError, match=r"more than most=4,096: .* ways out are bins"):
        load_counts(str(tmp_path / "x.csv"), "c", **given)


EMPTY: dict[str, Callable[[Path], object]] = {
    "x.parquet": lambda path: pd.DataFrame({"age": pd.Series([], dtype=float)}).to_parquet(path),
    "x.xlsx": lambda path: pd.DataFrame({"age": []}).to_excel(path, index=False),
    "x.jsonl": lambda path: path.write_text(""),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_file_without_rows_is_named(tmp_path: Path, name: str) -> None:
    EMPTY[name](tmp_path / name)
    with pytest.raises(ValueError, match=rf"{name}: column age has no entries"):
        load_counts(str(tmp_path / name), "age", low=0, high=120)


OF_A_BUDGET: list[Callable[[float], float]] = [
    lambda epsilon: ldp.KaryRandomisedResponse(epsilon, 4).p,
    lambda epsilon: ldp.OneBit(epsilon).p,
    lambda epsilon: ldp.random_size_loss(ldp.binomial_size(20, 0.5), epsilon),
]


@pytest.mark.parametrize("answer", OF_A_BUDGET)
@pytest.mark.parametrize("narrow", [np.int8(1), np.uint8(1), np.float16(0.1), np.float32(0.1)])
def test_a_budget_of_few_bits_loses_no_digits(answer: Callable[[float], float], narrow: np.number) -> None:
    assert answer(narrow) == answer(float(narrow))


def test_a_channel_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "channel.csv").write_text("0.7,0.3\n0.3,0.7\n", encoding="utf-8-sig")
    assert ldp.audit(ldp.load_channel(tmp_path / "channel.csv")).epsilon == pytest.approx(0.8472978603872034)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"plan gap --sizes 1e30,1e30 {PLAN}", "sizes must be at most 1,000,000,000,000"),
        ("report -o x.docx", "output must end in .md, .html, .csv, or state --format; got x.docx"),
        ("sweep gaps -g alpha=-1", "alpha must lie in (0, inf), got alpha='-1'"),
    ],
)
def test_a_command_that_cannot_be_meant_is_refused(words: str, said: str) -> None:
    assert said in str(CliRunner().invoke(cli, words.split()).exception)


@pytest.mark.parametrize(
    "words",
    [
        f"plan frequency {PLAN.replace('--epsilon 1', '--epsilon 300')} --values 4",
        f"plan frequency {PLAN} --values 4 --design srs --sampling-rate 0.1 --delta 0.5 --protects release",
    ],
)
def test_a_plan_at_the_ends_is_answered(words: str) -> None:
    assert "k-RR" in CliRunner().invoke(cli, words.split()).output


@pytest.mark.parametrize(
    ("notebook", "given"),
    [
        ("own_data", {"mechanisms": "[]"}),
        ("own_data", {"epsilon": "-1"}),
        ("5_lecture20/01_means", {"upper": "1e300"}),
        ("5_lecture20/01_means", {"runs": "1"}),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_before_a_kernel_starts(notebook: str, given: dict[str, str]) -> None:
    (name,) = given
    with pytest.raises(UsageError, match=f"^{name} must "):
        find(notebook).check(given)


def test_a_sweep_that_holds_results_of_something_else_is_named(tmp_path: Path) -> None:
    assert CliRunner().invoke(cli, f"sweep gaps -g epsilon=1,2 -r 2 -j 1 -o {tmp_path}".split()).exit_code == 0
    foreign = tmp_path / "tasks/00/0.parquet"
    foreign.parent.mkdir(exist_ok=True)
    pd.DataFrame({"a": [1]}).to_parquet(foreign)
    for kept in tmp_path.glob("tasks/*/*.parquet"):
        kept.write_bytes(foreign.read_bytes())
    drawn = CliRunner().invoke(cli, f"plot {tmp_path} --x epsilon --y mse".split())
    assert "holds results of something else: they lack " in str(drawn.exception)
