"""Sessions of a wearable sensor, and every client's rates: Appendix D up to the mechanisms.

Juarez and Korolova use "Activity recognition with healthy older people using a batteryless wearable
sensor" (Shinmoto Torres et al. 2016, UCI Machine Learning Repository): 87 recorded sessions, 25 of
men and 62 of women, 864 readings on average.

- `read_sessions` reads those files, if a path is given.
- `simulate_sessions` makes sessions of that shape. In them women's trunks lean further when they
  sit and less when they lie, so that a common classifier of lying serves them worse. This is a real
  difference between the groups, and a stand-in, not data.
- `client_rates` trains the source's classifier of lying, which needs scikit-learn (the extra
  ``learning``), and tests every client.

Sessions are a table with a row for each reading: `FEATURES`, the ``activity`` from 1 to 4, and
``client`` and ``group``.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ldpnb.papers.juarez2022.clients import GROUPS
from ldpnb.rng import stream

FEATURES = ("time", "frontal", "vertical", "lateral", "antenna", "rssi", "phase", "frequency")
"""Columns of a reading.

They are seconds; acceleration in g along three axes; antenna; signal strength; phase; MHz.
"""

LYING = 3
"""Activity of lying in the files; 1 is sitting on the bed, 2 on the chair, 4 ambulating."""

_SCRIPT = (4, 2, 4, 1, 3, 1, 4)
"""The activities of a simulated session, in order."""

_SHARES = np.array([1.0, 3.0, 0.7, 3.0, 9.0, 2.0, 0.8])
"""How long they last, as weights of a Dirichlet distribution."""

_PITCH = np.array([np.nan, 27.0, 22.0, 74.0, 9.0])
"""Mean pitch of the trunk in each activity, in degrees."""

_POSTURE = {"male": ((6.0, -4.0), (13.0, 19.0)), "female": ((13.0, -17.0), (14.0, 25.0))}
"""Means and standard deviations of what a wearer adds to the pitch, sitting and lying."""

_FILE = re.compile(r"d\dp\d+([MF])(\.csv|\.txt)?", re.IGNORECASE)


def simulate_sessions(
    male: int = 25, female: int = 62, *, readings: int = 864, rng: np.random.Generator
) -> pd.DataFrame:
    """Simulate sessions of the source's shape.

    All wearers sit, lie and walk by one script, in different postures.
    """
    groups = np.repeat(GROUPS, (male, female)).tolist()
    weights = rng.gamma(4.0, size=len(groups))
    lengths = np.maximum(np.rint(weights / weights.mean() * readings).astype(int), 30).tolist()

    parts = []
    for group, length in zip(groups, lengths, strict=True):
        parts.append(_simulate_one(group, length, rng))
    return _together(parts, groups)


def _together(parts: Iterable[pd.DataFrame], groups: Iterable[str]) -> pd.DataFrame:
    """Put sessions into one table, each as a client of a group."""
    sessions = []
    for client, (part, group) in enumerate(zip(parts, groups, strict=True)):
        sessions.append(part.assign(client=client, group=group))
    return pd.concat(sessions, ignore_index=True)


def _simulate_one(group: str, length: int, rng: np.random.Generator) -> pd.DataFrame:
    """Simulate the readings of one session."""
    ends = np.cumsum(rng.dirichlet(_SHARES))
    place = np.sort(rng.random(length))
    activity = np.array(_SCRIPT)[np.minimum(np.searchsorted(ends, place), len(_SCRIPT) - 1)]

    sitting, lying = rng.normal(*_POSTURE[group])
    posture = np.select([activity == LYING, activity == 4], [lying, 0.3 * sitting], sitting)
    pitch = np.radians(_PITCH[activity] + posture + rng.normal(0, 9, length))
    roll = np.radians(rng.normal(0, 8) + rng.normal(0, 12, length))

    seconds = place * length * rng.uniform(0.6, 1.6)
    antenna = rng.integers(1, 5, length)
    strength = -58 - 3 * (activity == LYING) + rng.normal(0, 3, length)
    columns = {
        "time": seconds,
        "frontal": np.sin(pitch) * np.cos(roll) + rng.normal(0, 0.05, length),
        "vertical": np.cos(pitch) * np.cos(roll) + rng.normal(0, 0.05, length),
        "lateral": np.sin(roll) + rng.normal(0, 0.05, length),
        "antenna": antenna.astype(float),
        "rssi": np.round(strength * 2) / 2,
        "phase": rng.uniform(0, 2 * np.pi, length),
        "frequency": rng.choice(np.arange(920.25, 926, 0.5), length),
        "activity": activity,
    }
    return pd.DataFrame(columns)


def read_sessions(path: str | Path) -> pd.DataFrame:
    """Read the real sessions from the folder of the UCI files, with its subfolders.

    A session is a file with a name such as ``d1p01M``: room, participant, and ``M`` or ``F``. Its
    lines are nine numbers separated by commas: the columns of `FEATURES` and the activity.
    """
    groups = {}
    for file in sorted(Path(path).rglob("*")):
        name = _FILE.fullmatch(file.name)
        if name is not None:
            groups[file] = "female" if name[1].upper() == "F" else "male"

    if set(groups.values()) != set(GROUPS):
        raise ValueError(
            f"path must be a folder with files like d1p01M of both groups, got path={str(path)!r}"
        )
    return _together(map(_read_one, groups), groups.values())


def _read_one(file: Path) -> pd.DataFrame:
    try:
        rows = pd.read_csv(file, header=None, dtype=float).to_numpy()
    except ValueError as error:
        raise ValueError(f"{file.name}: {error}") from error

    are_readings = (
        rows.shape[1] == len(FEATURES) + 1
        and np.isfinite(rows).all()
        and np.isin(rows[:, -1], (1, 2, 3, 4)).all()
    )
    if not are_readings:
        raise ValueError(f"{file.name}: every line must be 8 numbers and a label 1 to 4")
    return pd.DataFrame(rows, columns=[*FEATURES, "activity"])


def client_rates(
    sessions: pd.DataFrame, *, runs: int, training_share: float, l1_ratio: float, seed: int
) -> pd.DataFrame:
    """Train the global model on a share of each session's readings, and test it on the others.

    The source's classifier is logistic regression of standardised features with elastic net, by
    SAGA and with balanced class weights.

    Parameters
    ----------
    sessions : pandas.DataFrame
        What `read_sessions` or `simulate_sessions` returns.
    runs : int
        How often to draw the training readings.
    training_share : float
        Share of each session's readings on which the model is trained, in ``(0, 1)``.
    l1_ratio : float
        Weight of the L1 part of the elastic net, in ``[0, 1]``.
    seed : int
        Seed of the random streams.

    Returns
    -------
    pandas.DataFrame
        A row for each run and client, with columns ``run, client, group, tp, positives, fp,
        negatives``, counted on the client's test readings.
    """
    features = sessions[[*FEATURES]].to_numpy()
    lying = (sessions["activity"] == LYING).to_numpy()
    model = _classifier(l1_ratio, seed)

    parts = []
    for run in range(runs):
        draws = pd.Series(stream("split", run, seed=seed).random(lying.size))
        keys = draws.groupby([sessions["client"], lying])
        training = (keys.rank() <= np.rint(training_share * keys.transform("size"))).to_numpy()

        guess = model.fit(features[training], lying[training]).predict(features[~training])
        truth = lying[~training]
        tested = sessions.loc[~training, ["client", "group"]].assign(
            run=run,
            tp=guess & truth,
            positives=truth,
            fp=guess & ~truth,
            negatives=~truth,
        )
        parts.append(tested)
    return pd.concat(parts).groupby(["run", "client", "group"], as_index=False).sum()


def _classifier(l1_ratio: float, seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    options: dict[str, Any] = {}
    if LogisticRegression().penalty == "l2":  # before scikit-learn 1.8
        options["penalty"] = "elasticnet"
    regression = LogisticRegression(
        solver="saga",
        l1_ratio=l1_ratio,
        class_weight="balanced",
        tol=1e-3,
        max_iter=200,
        random_state=seed,
        **options,
    )
    return make_pipeline(StandardScaler(), regression)


def rates_by_client(table: pd.DataFrame) -> pd.DataFrame:
    """Return every client's rates over all runs, from a table of `client_rates`.

    The columns are ``metric, group, client, rate, share``, where `share` is the share of the
    group's clients with at most this rate. A client without readings of a kind has no such rate.
    """
    total = table.groupby(["group", "client"])[["tp", "positives", "fp", "negatives"]].sum()
    by_metric = {
        "true-positive rate": total["tp"] / total["positives"],
        "false-positive rate": total["fp"] / total["negatives"],
    }
    rates = pd.concat(by_metric, names=["metric"]).dropna()
    shares = rates.groupby(["metric", "group"]).rank(method="first", pct=True)
    return pd.DataFrame({"rate": rates, "share": shares}).reset_index()
