"""The command line prints what was asked for, and wrong usage ends in one line and exit code 2."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from ldpnb.checks import UsageError
from ldpnb.cli import cli
from ldpnb.notebook import parameters
from ldpnb.run import catalogue, ledger


def called(*words: str) -> Result:
    catalogue.catalogue.cache_clear()
    return CliRunner().invoke(cli, words)


def test_list_and_show_name_ids_parameters_and_claims(checkout: Path) -> None:
    listed = called("list")
    assert listed.exit_code == 0
    assert listed.stdout.splitlines()[0].split() == ["1_demo/01_line", "A", "demonstration"]
    assert "-p factor=0.5  (float) what they are multiplied by" in called("show", "01_line").stdout


@pytest.mark.parametrize("name", ["theorem-5.2", "bun2022/theorem-5.2"])
def test_the_card_of_a_claim_tells_verdict_notebook_and_code(name: str) -> None:
    text = called("show", name).stdout
    lines = text.splitlines()
    assert "bun2022/theorem-5.2: holds (proved, with a step in words)" in lines
    assert "  Notebook: 2_bun2022/03_cluster_lower_bounds" in lines

    code = r"^  Decided by: ldpnb/papers/bun2022/section_5.py:\d+$"
    assert re.search(code, text, re.MULTILINE)

    formula = r"ClusterSample.loss \(ldpnb/papers/bun2022/formulas/clusters.py:\d+\)"
    assert re.search(rf"^  Uses: .*{formula}$", text, re.MULTILINE)


def test_a_card_has_all_that_the_ledger_says_of_a_claim_and_no_label_without_words() -> None:
    for row in ledger.committed_ledger():
        text = ledger.described(row)
        assert ("  Rebuilt: " in text) == (row["rebuilt"] == "True"), row["claim"]
        assert ("  What the source asks: " in text) == (row["question"] == "True"), row["claim"]

        shown = " ".join(text.split())
        for column in ("claim", "status", "how", "notebook", "place", "says", *ledger.WORDS):
            assert " ".join(row[column].split()) in shown, column
        assert not re.search(r"^  [A-Z][\w ]*: *$", text, re.MULTILINE), row["claim"]


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("plan", "plan"),
        ("plan_", "plan_survey"),
        ("theorem-3", "bun2022/theorem-3.1"),
        ("03/los", "2_bun/03/losses"),
    ],
)
def test_a_name_may_be_shortened_to_a_unique_beginning(wanted: str, meant: str) -> None:
    names = ["plan", "plan_survey", "bun2022/theorem-3.1", "2_bun/03/losses"]
    assert catalogue.unique(wanted, names, "name") == meant


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["run", "01_lime"],
            "01_lime (did you mean 01_line?); `ldpnb list` and `ldpnb verdicts` show all",
        ),
        (
            ["run", "01_line", "-p", "user=3"],
            "01_line has no parameter user (did you mean users?); it has users, factor, label",
        ),
        (
            ["run", "01_line", "-p", "users=many"],
            "ldpnb: users must be of type int, got users='many'",
        ),
        (
            ["run", "01_line", "-p", "factor=1e400"],
            "ldpnb: factor must be finite, at most 1.8e308, got factor='1e400'",
        ),
        (["run", "01_line", "-p", f"users={'9' * 400}"], "ldpnb: users must be "),
        (["run", "01_line", "-p", f"users={'9' * 5000}"], "ldpnb: users must be "),
        (
            ["run", "01_line", "-p", "users=2.5"],
            "ldpnb: users must be of type int, got users='2.5'",
        ),
        (["run", "01_line", "-p", "users"], "expected name=value, got 'users'"),
        (["run", "--jobs", "0"], "0 is not in the range"),
        (["show", "0"], "ldpnb: 0 is ambiguous: 1_demo/01_line, 1_demo/02_broken"),
        (
            ["verdicts", "--source", "nobody"],
            "Invalid value for '--source': 'nobody' is not one of 'biswas2022'",
        ),
        (["verdicts", "--status", "wrong"], "'wrong' is not one of 'holds', 'holds with a change'"),
        (["nonsense"], "ldpnb: No such command 'nonsense'. (`ldpnb --help`)"),
        (["show"], "ldpnb: Missing argument 'ID'. (`ldpnb show --help`)"),
        (["run", "--force"], "No such option '--force'. (`ldpnb run --help`)"),
        (["plan", "--epsilon"], "Option '--epsilon' requires an argument."),
        (["check", "01_lime"], "ldpnb: no notebook 01_lime (did you mean 01_line?)"),
        (
            ["run", "01_line", "-o", "figures/x"],
            "ldpnb: output must lie below build/ or outside the",
        ),
        (["report", "--errata", "nobody"], "'nobody' is not one of 'biswas2022'"),
        (
            ["export", "figure_1", "--width", "9 miles"],
            "ldpnb: width must be a length of 1.5 to 30 in",
        ),
        (["sweep", "frequencies", "-g", "n=10"], "ldpnb: a sweep needs a folder for its results"),
        (["sweep", "nothing", "-o", "build/out"], "ldpnb: no experiment nothing"),
        (["plan", "--epsilon", "0"], "epsilon must be"),
        (["plan", "nothing"], "unexpected extra argument (nothing)"),
        (["inspect", "nothing.csv"], "nothing.csv"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_wrong_usage_ends_with_one_clear_line_and_code_2(
    said, arguments: list[str], line: str
) -> None:
    message = said(*arguments)
    assert message.startswith("ldpnb: ")
    assert message.count("\n") == 1
    assert line in message


@pytest.mark.parametrize("name", cli.commands)
def test_the_help_of_a_command_says_what_each_option_is_if_it_is_left_out(name: str) -> None:
    command = cli.commands[name]
    for option in command.params:
        has_default = isinstance(option.default, str | int | float) and option.default
        if isinstance(option, click.Option) and not option.is_flag and has_default:
            _, words = option.get_help_record(click.Context(command))
            assert "[default: " in words, option.name


START_AND_PLAN = """
import sys
from ldpnb.cli import cli
print(*sys.modules)
plan = ["plan", "--epsilon", "1", "--error", "0.1", "--failure", "0.1"]
cli(plan, standalone_mode=False)
print(*sys.modules)
"""


def test_the_command_line_starts_and_plans_without_what_takes_long_to_import() -> None:
    command = [sys.executable, "-c", START_AND_PLAN]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = result.stdout.splitlines()

    heavy_to_plan = {"pandas", "pyarrow", "matplotlib", "scipy.stats"}
    heavy_to_start = {
        *("scipy", "pandas", "pyarrow", "matplotlib", "sympy"),
        *("IPython", "nbformat", "nbconvert", "jinja2", "dask"),
    }
    assert heavy_to_start.isdisjoint(lines[0].split())
    assert heavy_to_plan.isdisjoint(lines[-1].split())


def test_a_character_that_the_output_cannot_encode_is_escaped(ldpnb, checkout: Path) -> None:
    path = checkout / "notebooks/1_demo/01_line.ipynb"
    text = path.read_text(encoding="utf-8").replace("A demonstration", "√ε")
    path.write_text(text, encoding="utf-8")

    result = ldpnb("list", PYTHONIOENCODING="cp1252")
    assert result.returncode == 0, result.stderr
    assert "\\u221a\\u03b5" in result.stdout


def test_no_python_file_of_the_folder_it_is_called_in_is_imported(tmp_path: Path) -> None:
    for name in ("random", "click", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('mine')")

    script = Path(sys.executable).with_name("ldpnb")
    result = subprocess.run([script, "--version"], cwd=tmp_path, capture_output=True, check=True)
    assert result.stdout.startswith(b"ldpnb ")


def test_a_missing_checkout_is_named(said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(catalogue.HOME_VARIABLE, "/nowhere")
    catalogue.catalogue.cache_clear()
    assert "set LDPNB_HOME to the clone" in said("list")


@pytest.mark.parametrize(
    ("cell", "rule"),
    [
        ("x = 1.0  # budget", "needs a type among"),
        ("x: float = y  # budget", "the value of x must be a literal, got y"),
        ("x: float = 1.0", "needs a type among"),
        ("x: complex = 1.0  # budget", "needs a type among"),
    ],
    ids=["no type", "no literal", "no meaning", "a type that has no words"],
)
def test_parameters_must_be_literals_with_a_type_and_a_meaning(cell: str, rule: str) -> None:
    with pytest.raises(UsageError, match=rule):
        parameters.declared_parameters(cell, "example")


CONVERTED = [
    ("int", "1e6", 1_000_000),
    ("float", "2", 2.0),
    ("bool", "true", True),
    ("str", "7", "7"),
    ("list[float]", "[1, 2.5]", [1.0, 2.5]),
    ("list[int]", [1, 2], [1, 2]),
    ("list[str]", "k.A.", ["k.A."]),
    ("list[str]", "-9", ["-9"]),
    ("list[str]", "[97, 98]", ["97", "98"]),
    ("list[int]", "3", [3]),
]
REFUSED = [
    ("int", "1.5"),
    ("int", "inf"),
    ("int", True),
    ("float", "one"),
    ("float", "nan,"),
    ("bool", "1"),
    ("list[int]", "[1.5]"),
    ("str", 7),
]


@pytest.mark.parametrize(("kind", "text", "value"), CONVERTED, ids=str)
def test_text_converts_by_the_declared_type(kind: str, text, value) -> None:
    assert parameters.Parameter("x", kind, None, "").convert(text) == value


@pytest.mark.parametrize(("kind", "text"), REFUSED, ids=str)
def test_text_that_does_not_convert_is_refused(kind: str, text) -> None:
    with pytest.raises(UsageError, match="x must be of type"):
        parameters.Parameter("x", kind, None, "").convert(text)


@pytest.mark.parametrize("content", ['{"caption": "A li', ""], ids=["in a word", "at the start"])
def test_a_committed_file_that_was_cut_off_ends_in_one_line(
    checkout: Path, ldpnb, content: str
) -> None:
    figure = checkout / "figures/1_demo/01_line/figure_1.csv"
    figure.parent.mkdir(parents=True)
    figure.write_text("x,y\n0,0\n")
    figure.with_suffix(".json").write_text(content)

    result = ldpnb("export", "figure_1")
    damaged = "ldpnb: a file of the clone is damaged, `git status` shows which: .*\n"
    assert result.returncode == 1
    assert re.fullmatch(damaged, result.stderr)
