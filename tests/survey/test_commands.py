"""`ldpnb plan` and `ldpnb estimate` as they are typed.

The command that a plan prints at its end estimates from its reports; what is printed is what was
asked; and wrong usage ends in one line that says what to change.
"""

import csv
import io
import itertools
import os
import shlex

import numpy as np
import pytest
from click.testing import CliRunner
from readable import stated

from ldpnb.checks import UsageError
from ldpnb.rng import stream
from ldpnb.survey import tables
from ldpnb.survey.command import estimate, plan
from ldpnb.survey.device import MECHANISMS, device
from ldpnb.survey.words import privacy

ASKED = ["--error", "0.05", "--failure", "0.05"]
UNIX = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes and devices are files on Unix")


def run(command, *words):
    return CliRunner().invoke(command, list(words))


def refused(command, *words):
    """The one line that is said of wrong usage."""
    result = run(command, *words)
    assert result.exit_code != 0

    if isinstance(result.exception, UsageError):
        said = str(result.exception)
    else:
        assert result.exit_code == 2, result.exception
        said = result.output.strip().splitlines()[-1]

    assert "\n" not in said
    return said


@pytest.fixture
def file(tmp_path):
    def written(text, name="reports.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return written


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("command", [plan, estimate], ids=["plan", "estimate"])
def test_every_mechanism_that_a_device_knows_is_an_option(command, mechanism):
    (option,) = [param for param in command.params if param.name == "mechanism"]
    assert mechanism in option.type.choices


def test_a_plan_says_all_and_ends_in_the_command_that_estimates():
    said = run(plan, "--epsilon", "1", *ASKED, "--population", "10000").output
    assert "Warner      1,774  exact" in said
    assert "An error of 0.05 or more has probability at most 0.05." in said
    assert "assumes that every respondent followed the device" in said

    last = said.strip().splitlines()[-1]
    assert last == (
        "ldpnb estimate REPORTS.csv --mechanism Warner --epsilon 1.0 --population 10000"
    )


STRATA = "stratum,size,response,sd\nNorth,600,0.6,0.1\nNA,300,0.9,0.3\n"


@pytest.mark.parametrize(
    "words",
    [
        ["--epsilon", "2", "--population", "2000"],
        ["--epsilon", "2", "--population", "everyone", "--failure", "0.01"],
        ["--p", "5/6", "--q", "1/6", "--population", "2000"],
        ["--epsilon", "2", "--values", "A,None of these,it's NA"],
        ["--epsilon", "2", "--values", 'A,"B, or C",D'],
        ["--epsilon", "2", "--range", "0", "12345678.5", "--error", "2e6"],
        ["--epsilon", "3", "--values", "A,B,C", "--mechanism", "OUE", "--simultaneous"],
        ["--p", "1/2", "--q", "1/8", "--values", "3", "--mechanism", "unary"],
        ["--epsilon", "2", "--range", "-1.5", "24", "--error", "2"],
        ["--epsilon", "2", "--range", "0", "24", "--error", "2", "--mechanism", "laplace"],
        ["--epsilon", "2", "--strata", "STRATA", "--response", "0.5"],
        ["--epsilon", "2", "--strata", "STRATA", "--neyman", "--range", "0", "1"],
        ["--epsilon", "2", "--clusters", "60", "--cluster-size", "20", "--take", "10"],
    ],
    ids=stated,
)
def test_the_printed_command_estimates_from_the_reports_of_the_plan(words, file):
    table = STRATA if "--response" not in words else "stratum,size\nNorth,600\nNA,300\n"
    words = [file(table, "strata.csv") if word == "STRATA" else word for word in words]
    for option, value in {"--error": "0.1", "--failure": "0.05"}.items():
        if option not in words:
            words += [option, value]

    said = run(plan, *words)
    assert said.exit_code == 0, said.output

    command = shlex.split(said.output.strip().splitlines()[-1])
    assert command[:3] == ["ldpnb", "estimate", "REPORTS.csv"]

    found = run(estimate, file(made_reports(command)), *command[3:])
    assert found.exit_code == 0, found.output
    assert "Methods: 400 reports" in found.output
    assert ("99% interval" in found.output) == ("0.01" in words)


def made_reports(command):
    """A table of 400 reports of the device that a command states, as the text of a CSV file."""
    rng = stream("reports", seed=14)
    options = dict(itertools.pairwise(command))
    columns = {}

    if "--range" in options:
        low = float(options["--range"])
        high = float(command[command.index("--range") + 2])
        if options["--mechanism"] == "Laplace":
            columns["report"] = (low + high) / 2 + (high - low) * rng.laplace(0, 0.5, 400)
        else:
            columns["report"] = rng.integers(0, 2, 400)
    elif "--values" in options and options.get("--mechanism") in ("OUE", "SUE", "unary"):
        made = device(mechanism="unary", p=1 / 2, q=1 / 10, values=3)
        own = rng.integers(0, 3, 400)[:, None] == np.arange(3)
        bits = rng.random((400, 3)) < np.where(own, made.p, made.q)
        columns["report"] = ["".join(row) for row in bits.astype(int).astype(str)]
    elif "--values" in options:
        (answers,) = csv.reader([options["--values"]])
        columns["report"] = rng.choice(answers, 400)
    else:
        columns["report"] = rng.choice(["Yes", "no"], 400)

    if "--strata" in options:
        columns["stratum"] = rng.choice(["North", "NA"], 400, p=[0.7, 0.3])
    if "--clusters" in options:
        columns["cluster"] = np.repeat(np.arange(40), 10)
        columns["cluster_size"] = np.full(400, 20)

    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def test_tallies_are_estimated_and_printed_as_a_table(file):
    path = file("value,count\nyes,213\nno,287\n")
    words = [path, "--p", "5/6", "--q", "1/6", "--population", "10000"]
    said = run(estimate, *words).output

    assert "share of  reports  estimate  std. error" in said
    assert "0.324 to 0.4552  exact" in said
    assert "epsilon = ln(5) = 1.60943791243" in said

    rows = list(csv.DictReader(io.StringIO(run(estimate, *words, "--csv").output)))
    assert rows[0]["of"] == "yes"
    assert float(rows[0]["estimate"]) == pytest.approx(0.389)


def test_what_lies_unused_in_a_file_is_named(file):
    path = file("report,wgt,sex\nyes,1.5,f\nno,1,m\nyes,2,f\n")
    said = run(estimate, path, "--epsilon", "1").output
    assert "not used: wgt, sex." in said

    by_sex = run(estimate, path, "--epsilon", "1", "--by", "sex").output
    assert "not used: wgt." in " ".join(by_sex.split())


def test_groups_and_their_difference_are_printed(file):
    path = file("report,sex\n" + "yes,f\nno,f\n" * 30 + "no,m\nyes,m\nno,m\n" * 20)
    said = run(estimate, path, "--epsilon", "2", "--by", "sex", "--difference", "m,f").output
    assert "sex m minus f" in said


def test_an_infinite_epsilon_is_said():
    assert "epsilon = inf" in privacy(device(p=1, q=0.25))
    assert "epsilon = inf" in run(plan, "--p", "1", "--q", "0.25", *ASKED).output


def test_texts_of_a_file_cannot_write_to_the_terminal(file):
    path = file('report,g\nyes,"\x1b[2J"\nno,"a\nb"\nyes,"\x1b[2J"\nno,"a\nb"\n')
    said = run(estimate, path, "--epsilon", "1", "--by", "g").output
    assert "\x1b" not in said
    assert "a\nb" not in said

    table = run(estimate, path, "--epsilon", "1", "--by", "g", "--csv").output
    assert "\x1b" not in table
    groups = [row["group"] for row in csv.DictReader(io.StringIO(table))]
    assert groups[1:3] == ["g \\x1b[2J", "g a\\nb"]


def test_numbers_that_are_typed_or_compared_are_printed_exactly(file):
    asked = ["--epsilon", "1", "--range", "0", "12345678.5"]
    said = run(plan, *asked, "--error", "2e6", "--failure", "0.05").output
    assert "a number from 0 to 12345678.5" in said
    assert "--range 0 12345678.5" in said

    path = file("report\n1.5\n1e300\n")
    message = refused(estimate, path, *asked, "--mechanism", "Laplace")
    assert "e+" not in message.partition("because")[0]

    answers = file("report\nyes\nno\nno\nyes\n")
    assert "99.95% interval" in run(estimate, answers, "--epsilon", "1", "--level", "0.9995").output


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("a pipe", marks=UNIX),
        pytest.param("a device", marks=UNIX),
        "too many bytes",
    ],
)
def test_only_regular_files_of_bounded_size_are_read(kind, tmp_path, monkeypatch):
    path = tmp_path / "reports.csv"
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a device":
        path.symlink_to("/dev/zero")
    else:
        path.write_text("report\nyes\nno\n")
        monkeypatch.setattr(tables, "MOST_BYTES", 10)

    rule = "at most 10 bytes" if kind == "too many bytes" else "from a regular file"
    assert rule in refused(estimate, str(path), "--epsilon", "1")
    assert rule in refused(plan, "--epsilon", "1", *ASKED, "--strata", str(path))


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("report\nyes\nno\n", [], "the device must be given by p and q, or by epsilon"),
        ("report\nyes\nmaybe\n", ["--epsilon", "1"], "report must be one of yes, no"),
        ("report\nA\n\nno\n", ["--epsilon", "1", "--values", "A,B,C"], "got 'no' in row 2"),
        ("", ["--epsilon", "1"], "it is empty"),
        ("report\n", ["--epsilon", "1"], "it is empty"),
        ("a,b\n1,2,3\n", ["--epsilon", "1"], "row 1 must have an entry for each of 2 columns"),
        ("answer\nyes\n", ["--epsilon", "1"], "must be called report, got answer"),
        (
            "report\nyes\nno\n",
            ["--epsilon", "1", "--population", "many"],
            "a whole number or everyone",
        ),
        (
            "report\nyes\nno\n",
            ["--epsilon", "1", "--clusters", "9"],
            "need a column called cluster",
        ),
        ("report\nyes\nno\n", ["--epsilon", "1", "--level", "95"], "level must lie in"),
        ("report\nyes\n", ["--p", "1e-15", "--q", "0"], "p and q must differ by 1e-12 or more"),
        ("report\nyes\n", ["--p", "1e-400", "--q", "1/2"], "p must be a number that a float"),
        (
            "report\n1\n2\n",
            ["--epsilon", "1", "--range", "-1e308", "1e308"],
            "high - low must be finite",
        ),
        (
            "report\n1\n2\n",
            ["--epsilon", "1", "--range", "0", "1e-300", "--mechanism", "Laplace"],
            "because this device hardly ever sends any other number",
        ),
        ("report\nyes\nno\n", ["--epsilon", "1", "--mechanism", "RR"], "is not one of"),
        ("report\nyes\nno\n", ["--epsilon", "1", "--counts", "n"], "No such option"),
        (
            "report\n12,5\n13\n",
            ["--epsilon", "1", "--mechanism", "Laplace", "--range", "0", "24"],
            "row 1 must have an entry for each of 1 columns",
        ),
        (
            'report\n"12,5"\n13\n',
            ["--epsilon", "1", "--mechanism", "Laplace", "--range", "0", "24"],
            "report must be a number, got '12,5' in row 1",
        ),
    ],
    ids=stated,
)
def test_wrong_usage_of_estimate_is_one_line(text, words, said, file):
    assert said in refused(estimate, file(text), *words)


@pytest.mark.parametrize(
    ("row", "is_from_r"), [("1,yes,f", True), ("yes", False), ("1,yes,f,x", False)]
)
def test_a_row_with_one_entry_more_than_the_header_may_come_from_r(row, is_from_r, file):
    said = refused(estimate, file(f"report,sex\nno,m\n{row}\n"), "--epsilon", "1")
    assert "row 2 must have an entry for each of 2 columns" in said
    assert ("in R: row.names = FALSE" in said) == is_from_r


def test_a_file_that_is_no_csv_in_utf8_is_refused_with_what_to_do(tmp_path):
    workbook = tmp_path / "reports.xlsx"
    workbook.write_bytes(b"PK\x03\x04")
    said = refused(estimate, str(workbook), "--epsilon", "1")
    assert "save it as one, or read it with pandas" in said

    latin = tmp_path / "reports.csv"
    latin.write_bytes("report\nSí\n".encode("latin-1"))
    assert "must be text in UTF-8" in refused(estimate, str(latin), "--epsilon", "1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--epsilon", "1"], "leave out exactly one of count, epsilon, error and failure"),
        (["--epsilon", "1", *ASKED, "--take", "3"], "needs clusters"),
        (["--epsilon", "1", *ASKED, "--neyman"], "need strata"),
        (["--epsilon", "1", *ASKED, "--range", "5", "2"], "low must be < high"),
        (
            ["--epsilon", "1", *ASKED, "--strata", "STRATA", "--population", "9"],
            "must not be given with",
        ),
        (["--epsilon", "1", *ASKED, "--strata", "STRATA", "--response", "0.5"], "given only once"),
        (["--epsilon", "one", *ASKED], "is not a valid float"),
    ],
    ids=stated,
)
def test_wrong_usage_of_plan_is_one_line(words, said, file):
    words = [file(STRATA, "strata.csv") if word == "STRATA" else word for word in words]
    assert said in refused(plan, *words)


@pytest.mark.parametrize(
    ("option", "last", "beyond", "said"),
    [
        ("--population", "9" * 15, "9" * 16, "population must be a whole number or everyone"),
        ("--population", "2", "1", "there are only 1"),
        ("--population", "2", "2.0", "population must be a whole number or everyone"),
        ("--values", "2", "1", "values must be an integer from 2 to 100000"),
        ("--values", "2", "9" * 10, "values must be words or their number"),
        ("--level", "0.999", "1", "level must lie in (0, 1)"),
    ],
)
def test_a_number_on_the_command_line_has_an_end(option, last, beyond, said, file):
    path = file("report\n1\n2\n" if option == "--values" else "report\nyes\nno\n")
    result = run(estimate, path, "--epsilon", "1", option, last)
    assert result.exit_code == 0, result.output
    assert said in refused(estimate, path, "--epsilon", "1", option, beyond)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("stratum,size\na,9\na,8\n", "must name each stratum once"),
        ("stratum,size\na,9\n,8\n", "must name each stratum once"),
        ("name,size\na,9\n", "must have a column called stratum"),
        ("stratum,people\na,9\n", "must have a column size with the number of people"),
        ("stratum,size\na,many\n", "size must be a number >= 0, got 'many' in row 1"),
        ("stratum,size\na,9.5\n", "size of stratum a must be an integer"),
        ("stratum,size,sd\na,9,-1\n", "sd must be a number >= 0"),
    ],
    ids=stated,
)
def test_a_table_of_strata_that_cannot_be_is_refused(table, said, file):
    assert said in refused(plan, "--epsilon", "1", *ASKED, "--strata", file(table, "strata.csv"))


@pytest.mark.parametrize("column", ["size", "clusters"])
def test_a_table_of_strata_has_the_numbers_of_people_or_of_clusters(column, file):
    rows = "yes,a,1\nno,a,2\nyes,b,3\nno,b,4\nno,b,5\n"
    reports = file(f"report,stratum,cluster\n{rows}")
    if column == "size":
        reports = file(f"report,stratum,id\n{rows}")

    table = file(f"stratum,{column}\na,40\nb,60\n", "strata.csv")
    said = run(estimate, reports, "--epsilon", "1", "--strata", table).output
    assert ("2 strata, for" in " ".join(said.split())) or "in 2 strata." in said

    both = refused(estimate, reports, "--epsilon", "1", "--strata", table, "--population", "9")
    assert "must not be given with --strata" in both
    both = refused(estimate, reports, "--epsilon", "1", "--strata", table, "--clusters", "9")
    assert "must not be given with --strata" in both


def test_a_plan_that_no_mechanism_can_do_ends_with_exit_code_1():
    result = run(plan, "--epsilon", "0.1", *ASKED, "--population", "50")
    assert result.exit_code == 1
    assert "No mechanism can meet this plan." in result.output
