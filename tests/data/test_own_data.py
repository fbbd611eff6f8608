"""What people bring: a saved channel, a column of a table, and the result notebooks run on it."""

import io
import json
import os
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ldpnb.data import files
from ldpnb.data.reading import Reading
from ldpnb.estimators import linear
from ldpnb.guides import own_data as own
from ldpnb.mechanisms.frequency import UnaryEncoding
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.notebook import publishing
from ldpnb.notebook.environment import FIGURES_FOLDER, HEADLESS
from ldpnb.run.catalogue import find

CHANNEL = SignRandomiser.as_printed(0.5, 3).channel()
SHARES = np.array([0.5, 0.3, 0.2])
RANGE: dict = {"low": 0, "high": 100, "bins": 0, "reading": Reading()}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng, users = np.random.default_rng(5), 3000
    sex = rng.choice(["female", "male"], users, p=[0.4, 0.6])
    age = rng.integers(18, 60, users) + 5 * (sex == "male")
    path = tmp_path_factory.mktemp("own") / "people.csv"
    pd.DataFrame({"age": age, "sex": sex, "share": (age - 18) / 50}).to_csv(path, index=False)
    return path


def test_a_channel_that_mixes_up_inputs_has_no_unbiased_estimate() -> None:
    with pytest.raises(ValueError, match=r"channel must tell its 3 inputs apart, got rank 2"):
        linear.best_weights([[0.5, 0.5, 0.2], [0.5, 0.5, 0.8]])
    assert own.audit([[0.5, 0.5, 0.2], [0.5, 0.5, 0.8]])["value"].iloc[-1] == "no, rank 2"


def test_a_channel_is_audited() -> None:
    audited = own.audit(CHANNEL).set_index("what")["value"]
    assert audited["exact privacy loss, nats"] == f"{np.log(3):.6g}"
    assert audited["reports determine the distribution"] == "yes"
    with pytest.raises(ValueError, match="channel must have columns that sum to 1"):
        own.audit([[0.5, 0.5], [0.1, 0.8]])


def test_estimates_of_a_channels_inputs_lie_within_their_errors() -> None:
    channel = UnaryEncoding.optimised(3.0, 4).channel()
    table = own.channel_estimates(channel, [30_000, 20_000, 10_000, 40_000], seed=3)
    for name in ("least squares", "best linear"):
        assert (np.abs(table[name] - table["truth"]) < 5.5 * table[f"sd, {name}"]).all()
    assert table["MLE"].sum() == pytest.approx(1)
    assert (np.abs(table["MLE"] - table["best linear"]) < table["sd, best linear"]).all()


@pytest.mark.parametrize("mechanism", list(own.FREQUENCY))
def test_shares_of_a_column_lie_within_their_errors(people: Path, mechanism: str) -> None:
    column = files.load_counts(str(people), "age", low=18, high=64, bins=0)
    table = own.shares(column, [mechanism], 2.0, seed=3)
    assert (np.abs(table["unbiased"] - table["truth"]) < 5.5 * table["standard_deviation"]).all()
    assert table["Norm-Sub"].sum() == pytest.approx(1)


def test_means_and_gaps_of_a_column_lie_within_their_errors(people: Path) -> None:
    column = files.load_counts(str(people), "age", low=0, high=100, bins=0)
    grouped = own.groups(str(people), "age", column, "sex", **RANGE)
    frame = pd.read_csv(people)
    by_group = frame.groupby("sex")["age"].mean()
    means, gap = own.mean_estimates(column, 2.0, seed=3), own.gap_estimates(grouped, 2.0, seed=3)
    assert means["truth"].to_numpy() == pytest.approx(frame["age"].mean())
    assert gap["truth"].to_numpy() == pytest.approx(by_group["male"] - by_group["female"])
    for table in (means, gap):
        assert (
            np.abs(table["estimate"] - table["truth"]) < 5.5 * table["standard_deviation"]
        ).all()


def test_categories_have_no_mean_and_a_table_without_groups_no_gap(people: Path) -> None:
    sex = files.load_counts(str(people), "sex", low=0, high=0, bins=0)
    assert own.mean_estimates(sex, 1.0, seed=1).empty
    for column, group in ((sex, "sex"), (own.ages(), "")):
        assert own.gap_estimates(
            own.groups(str(people), "age", column, group, **RANGE), 1.0, seed=1
        ).empty
    assert own.ages().users == 32_561
    published = own.gap_estimates(own.groups("", "", sex, "", **RANGE), 1.0, seed=1)
    assert published["truth"].iloc[0] == pytest.approx(0.1724, abs=1e-4)


def execute(identifier: str, monkeypatch: pytest.MonkeyPatch, **given: object) -> str:
    """Execute a notebook's code in this process with parameters of one's own, and return what it printed."""
    monkeypatch.setenv(HEADLESS, "1")
    monkeypatch.setenv(FIGURES_FOLDER, "")
    if identifier != "own_data":  # drawing takes three times as long as all else, whatever the data
        monkeypatch.setattr(publishing, "png", lambda chart: b"")
    notebook, said = find(identifier), io.StringIO()
    parameters = notebook.check(given)
    space: dict[str, object] = {"__name__": "notebook"}
    with redirect_stdout(said), redirect_stderr(said):
        for cell in json.loads(notebook.path.read_text(encoding="utf-8"))["cells"]:
            tags = cell["metadata"].get("tags", [])
            if cell["cell_type"] == "code" and "claims" not in tags:
                exec(compile("".join(cell["source"]), identifier, "exec"), space)
                space.update(parameters if "parameters" in tags else {})
    return said.getvalue()


AGE = {"column": "age", "low": 18, "high": 64}
AGES = "users, 47 values; 0 without an entry"
OWN = [
    ("own_data", AGE | {"group": "sex", "mechanisms": ["k-RR"]}, "male"),
    ("own_data", {"column": "sex"}, "2 values"),
    ("1_biswas2022/01_sampling_bias", AGE | {"runs": 2}, AGES),
    ("1_biswas2022/02_tv_vs_communication", AGE | {"runs": 2, "epsilons": [1.0, 8.0]}, AGES),
    ("3_lopuhaa2020/04_real_data", AGE | {"draws": 2, "epsilons": [1.0, 2.0]}, AGES),
    (
        "4_juarez2022/02_gap_error",
        {"column": "share,sex", "upper": 1.0, "repetitions": 200},
        "users (male",
    ),
    (
        "5_lecture20/01_means",
        {"column": "share", "upper": 1.0, "runs": 10},
        "users, 1,000 values; 0 without",
    ),
    ("5_lecture20/02_frequencies", AGE | {"runs": 2, "budgets": [1.0], "domain_size": 50}, AGES),
]


@pytest.mark.parametrize(("identifier", "given", "said"), OWN)
def test_notebooks_run_on_the_users_file(
    people: Path, monkeypatch: pytest.MonkeyPatch, identifier: str, given: dict, said: str
) -> None:
    monkeypatch.chdir(people.parent)
    assert said in execute(identifier, monkeypatch, data=people.name, **given)


def test_a_column_of_one_month_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "days.csv").write_text(
        "day,x\n" + "".join(f"2024-03-{1 + i % 28:02d},1\n" for i in range(60))
    )
    with pytest.raises(
        ValueError, match="column 'day' must have two values or more, got '2024-03' only"
    ):
        execute("own_data", monkeypatch, data=str(tmp_path / "days.csv"), column="day")


def test_a_notebook_does_not_take_a_range_from_the_users_file(
    people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match="low and high must be stated for numbers"):
        execute("own_data", monkeypatch, data=str(people), column="age")
    assert os.environ[HEADLESS] == "1"
    assert files.load_counts(people, "sex").notes


def test_the_title_of_an_own_run_names_the_best_and_the_worst_mechanism(people: Path) -> None:
    age = files.load_counts(str(people), "age", low=18, high=64)
    table = own.shares(age, ["k-RR", "OUE"], 1.0, seed=1)
    best, worst = own.rmse(table).index
    title = own.finding(table, age)
    assert title.startswith(f"Shares of age: {best} errs least, {worst} ")
