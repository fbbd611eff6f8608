"""`ldpnb audit` prints the exact loss of a channel or of a client, and never a traceback."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from readable import stated

from ldpnb import cli

WARNER = ["answer,no,yes", "no,0.75,0.25", "yes,0.25,0.75"]
CLIENT = """
import random
from helper import RATE

def respond(answer):
    return answer if random.random() < RATE else 1 - answer

def loops(answer):
    while random.random() < 2:
        pass

def fails(answer):
    raise ValueError("no such\\nanswer")
"""


@pytest.fixture
def audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """The command, in a folder of its own; returns exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey_client.py").write_text(CLIENT)
    (tmp_path / "helper.py").write_text("RATE = 0.75")
    (tmp_path / "broken.py").write_text("import sys; sys.exit('not today')")

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ldpnb", "audit", *arguments])
        path = list(sys.path)

        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert sys.path == path

        # The next call imports the client anew.
        for name in ("survey_client", "helper", "broken"):
            sys.modules.pop(name, None)

        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return call


def saved(*rows: str) -> str:
    Path("channel.csv").write_text("\n".join(rows) + "\n")
    return "channel.csv"


def test_a_saved_channel_is_printed_in_four_lines(audit):
    code, out, _ = audit(saved("# of Warner, 1965", *WARNER))
    assert code == 0
    assert out.splitlines() == [
        "2 inputs, 2 outputs",
        "epsilon is 1.09861228867, where any two inputs are neighbours",
        "output 'no' has probability 0.75 from input 'no' and 0.25 from input 'yes'",
        "a pure protocol with p = 0.75 and q = 0.25",
    ]


def test_a_client_is_printed_in_the_same_four_lines(audit):
    code, out, _ = audit("survey_client:respond", "--inputs", "0:2")
    assert code == 0
    assert out.splitlines() == [
        "2 inputs, 2 outputs, 4 paths",
        "epsilon is 1.09861228867, where any two inputs are neighbours",
        "output 0 has probability 0.75 from input 0 and 0.25 from input 1",
        "a pure protocol with p = 0.75 and q = 0.25",
    ]


@pytest.mark.parametrize(("epsilon", "code", "word"), [("1.2", 0, "within"), ("1", 1, "more than")])
def test_the_exit_code_says_whether_a_stated_epsilon_is_kept(audit, epsilon, code, word):
    for arguments in (["survey_client:respond", "--inputs", "0:2"], [saved(*WARNER)]):
        ended, out, _ = audit(*arguments, "--epsilon", epsilon)
        assert ended == code
        assert f"the loss is {word} the stated epsilon of {epsilon} (up to 1e-0" in out


@pytest.mark.parametrize(
    ("rows", "first", "second"),
    [
        (["0.5,0.25", "0.5,0.75"], "2 inputs, 2 outputs", "epsilon is 0.69314718056"),
        (["x,y", "0.5,0.5", "0.5,0.5"], "2 inputs, 2 outputs", "epsilon is 0,"),
        ([",a,b", "r,1,0", "s,0,1"], "2 inputs, 2 outputs", "epsilon is infinite"),
        (["1,1,1"], "3 inputs, 1 outputs", "epsilon is 0,"),
        (["\ufeff0.5,0.5", "", "0.5,0.5"], "2 inputs, 2 outputs", "epsilon is 0,"),
    ],
    ids=["a bare matrix", "names of inputs only", "rank 2", "one output", "mark and blank line"],
)
def test_channels_of_any_shape_and_rank_are_read(audit, rows, first, second):
    code, out, _ = audit(saved(*rows))
    assert code == 0
    assert out.splitlines()[0] == first
    assert out.splitlines()[1].startswith(second)


def test_a_channel_rounded_to_32_bits_is_read(audit):
    matrix = np.random.default_rng(1).dirichlet(np.ones(50), size=4).T.astype(np.float32)
    exact = np.log(matrix.max(axis=1) / matrix.min(axis=1)).max()
    np.savetxt("channel.csv", matrix, delimiter=",", fmt="%.9g")

    code, out, _ = audit("channel.csv")
    found = float(out.split("epsilon is ")[1].split(",")[0])
    assert code == 0
    assert found == pytest.approx(exact, rel=1e-6)
    assert audit("channel.csv", "--epsilon", str(found - 1e-7))[0] == 0
    assert audit("channel.csv", "--epsilon", str(found - 1e-5))[0] == 1


@pytest.mark.parametrize("name", [5000 * "9", " ", "nan", "²", 99 * "("])
def test_an_input_may_have_any_name(audit, name):
    code, out, err = audit(saved(f"output,{name},other", "x,0.5,0.25", "y,0.5,0.75"))
    assert code == 0
    assert err == ""
    assert out.startswith("2 inputs, 2 outputs\nepsilon is 0.69314718056,")


def test_words_that_python_reads_as_numbers_are_words(audit):
    Path("survey_client.py").write_text("def respond(answer):\n    return answer.upper()\n")
    code, out, _ = audit("survey_client:respond", "--inputs", "nan,inf,1_0")
    assert code == 0
    assert out.startswith("3 inputs, 3 outputs")


ECHO = "def respond(answer):\n    return repr(answer)\n"


@pytest.mark.parametrize(
    ("inputs", "values"),
    [
        ("0:3", [0, 1, 2]),
        ("-1:2", [-1, 0, 1]),
        ("yes, no", ["no", "yes"]),
        ("1,2.5", [1, 2.5]),
        ("1e1,-2.5E-1,+3", [-0.25, 10.0, 3]),
        ("1.2.3,.", [".", "1.2.3"]),
        (f"{9 * '1'},{30 * '1'}", [int(9 * "1"), 30 * "1"]),
    ],
)
def test_inputs_are_a_range_or_a_list_of_numbers_and_words(audit, inputs, values):
    Path("survey_client.py").write_text(ECHO)
    code, out, _ = audit("survey_client:respond", f"--inputs={inputs}", "--epsilon=1")
    assert code == 1
    assert out.splitlines()[0].startswith(f"{len(values)} inputs, {len(values)} outputs")

    def names(answer):
        return repr(answer)

    first = min(values, key=names)
    assert f"output {repr(first)!r} has probability 1 from input {first!r} " in out


def test_a_range_may_have_as_many_inputs_as_the_limit(audit):
    Path("survey_client.py").write_text(ECHO)
    client = ("survey_client:respond", "--limit", "5")
    assert audit(*client, "--inputs", "1:6")[0] == 0
    code, _, err = audit(*client, "--inputs", "1:7")
    assert code == 2
    assert "inputs must have at most 5 values, got 1:7" in err


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (WARNER, "output 'no' has probability 0.75 from input 'no' and 0.25 from input 'yes'"),
        (
            ["output,4,7", "4,0.75,0.25", "7,0.25,0.75"],
            "output 4 has probability 0.75 from input 4",
        ),
        (
            [",0 1,1 a", "1 0,0.75,0.25", "x y,0.25,0.75"],
            "output (1, 0) has probability 0.75 from input (0, 1) and 0.25 from input (1, 'a')",
        ),
        (["0.75,0.25", "0.25,0.75"], "output 0 has probability 0.75 from input 0 and 0.25"),
        (
            ["a, b", "# 1,1", "0.75, 0.25", "0.25,0.75"],
            "output 0 has probability 0.75 from input 'a'",
        ),
    ],
    ids=["words", "numbers", "tuples", "no names", "a comment"],
)
def test_inputs_and_outputs_have_the_names_that_the_file_gives_them(audit, rows, line):
    code, out, _ = audit(saved(*rows))
    assert code == 0
    assert out.splitlines()[2].startswith(line)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["a,b", "0.5,0.5", "0.5,0.5,0"], "line 3: every row must have 2 cells, got 3"),
        (["a,b", "# x", "0.5,0.5", "0.5"], "line 4: every row must have 2 cells, got 1"),
        (["a,b", "0.5,0.4999", "0.5,0.5"], "got 0.9999 for input b"),
        (["a,b", "0.50001,0.5", "0.5,0.5"], "got 1.00001 for input a"),
        (["a,b", "1.00001,1"], "line 2: every row must hold probabilities, got '1.00001'"),
        (["a,b", "0,1e-400", "1,1"], "line 2: every row must hold numbers that a float can hold"),
    ],
)
def test_the_line_or_the_input_that_is_wrong_is_named(audit, rows, message):
    code, _, err = audit(saved(*rows))
    assert code == 2
    assert message in err


def test_sums_and_probabilities_may_be_off_by_a_millionth(audit):
    assert audit(saved("0.5000009,0.5", "0.5,0.4999991"))[0] == 0
    assert audit(saved("1.0000009,1"))[0] == 0
    assert audit(saved("0.0,1", "0e9,0", "1,0.00"))[0] == 0


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_only_a_regular_file_is_read(audit, kind):
    if kind == "pipe":
        os.mkfifo("channel.csv")
    else:
        Path("channel.csv").symlink_to("/dev/zero")

    code, _, err = audit("channel.csv")
    assert code == 2
    assert err == "ldpnb: channel.csv must be a regular file\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "channel.csv must hold a table of probabilities, but it is empty"),
        ("0.5,0.5\n0.5\n", "line 2: every row must have 2 cells, got 1"),
        ("0.5,0.5\n0.5,0.4\n", "must sum to 1 up to 1e-06, got 0.9 for input 1"),
        ("0.5,nan\n0.5,1\n", "line 1: every row must hold probabilities, got 'nan'"),
        ("1.5,1\n-0.5,0\n", "line 1: every row must hold probabilities, got '1.5'"),
        ("0.5,1\n0.5,1e-999\n", "line 2: every row must hold numbers that a float can hold"),
        ("a,b\n", "must hold a table of probabilities"),
        ("1\n", "must have two or more inputs, but it has 1"),
        ("output,a,a\nr,1,1\n", "must give every input a different name"),
        ("(" * 1_000_000, "channel.csv"),
        ("0.5,0.5\n" * 2_000_000, "must have at most 10,000,000 characters"),
        ('0.5,"0.5\n', "line 1: every row must be comma-separated values"),
        (b"\xff\xfe0\x00", "must be UTF-8 text"),
        (b"\x00" * 100, "must hold a table of probabilities"),
    ],
    ids=[
        "empty",
        "ragged",
        "sum",
        "nan",
        "above one",
        "underflow",
        "names only",
        "one input",
        "a name twice",
        "deep",
        "huge",
        "open quote",
        "UTF-16",
        "zeros",
    ],
)
def test_a_file_that_holds_no_channel_ends_in_one_line(audit, content, message):
    Path("channel.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = audit("channel.csv")

    assert code == 2
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1
    assert len(err) < 500


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["none.csv"], 2, "none.csv cannot be read: No such file"),
        (["none"], 2, "none cannot be read: No such file"),
        (["."], 2, ". cannot be read: Is a directory"),
        (["survey_client:respond"], 2, "--inputs must be given for survey_client:respond"),
        (["survey_client:other", "--inputs", "0:2"], 2, "has no attribute 'other'"),
        (["nowhere:other", "--inputs", "0:2"], 2, "No module named 'nowhere'"),
        (["broken:other", "--inputs", "0:2"], 1, "cannot be imported: SystemExit: not today"),
        (["helper:RATE", "--inputs", "0:2"], 2, "client must be callable, got client=0.75"),
        (["survey_client:respond", "--inputs", "4:4"], 2, "two or more values, got 0"),
        (["survey_client:respond", "--inputs", "0:x"], 2, "low:high in whole numbers"),
        (["survey_client:respond", "--inputs", "0:9999999"], 2, "at most 100,000 values"),
        (["survey_client:respond", "--inputs", f"0:{10**20}"], 2, "at most 100,000 values"),
        (["survey_client:respond", "--inputs", "0,0"], 2, "must be different, got 0 twice"),
        (["survey_client:respond", "--inputs", "0,1", "--cut", "2"], 2, "cut must lie in [0, 1]"),
        (["survey_client:respond", "--inputs", "0,1", "--limit", "0"], 2, "--limit"),
        (["survey_client:respond", "--inputs", "0,1", "--epsilon", "nan"], 2, "epsilon must be >"),
        (["survey_client:respond", "--inputs", "0,1", "--limit", "3"], 1, "more than 3 paths"),
        (["survey_client:respond", "--inputs", "no,yes"], 1, "raises TypeError"),
        (
            ["survey_client:loops", "--inputs", "0,1", "--patience", "0.2"],
            1,
            "ran for 0.2 s without",
        ),
        (["survey_client:fails", "--inputs", "0:2"], 1, "raises ValueError: no such answer"),
    ],
    ids=stated,
)
def test_wrong_use_ends_with_2_and_a_client_that_cannot_be_followed_with_1(
    audit, arguments, code, message
):
    ended, out, err = audit(*arguments)
    assert ended == code
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("option", ["--inputs=0:2", "--limit=5", "--cut=0.1", "--patience=1"])
def test_an_option_of_clients_is_refused_for_a_file(audit, option):
    code, _, err = audit(saved(*WARNER), option)
    assert code == 2
    assert f"{option.partition('=')[0]} is for MODULE:FUNCTION" in err
