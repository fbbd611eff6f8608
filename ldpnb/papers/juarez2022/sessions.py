"""Appendix D of juarez2022 up to the mechanisms: sessions of a wearable sensor, and every client's rates.

The source uses "Activity recognition with healthy older people using a batteryless wearable sensor" (Shinmoto Torres et
al. 2016, UCI Machine Learning Repository): 87 recorded sessions, 25 of men and 62 of women, 864 readings on average.
`read_sessions` reads those files where a path is given. `simulate_sessions` makes sessions of that shape in which
women's trunks lean further when they sit and less when they lie, so that a common classifier of lying serves them
worse: a real difference between the groups, and a stand-in, not data. `client_rates` trains the source's classifier of
lying, which needs scikit-learn (the extra ``learning``), and tests every client.

Sessions are a table with a row per reading: `FEATURES`, the ``activity`` from 1 to 4, and ``client`` and ``group``.
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
"""Columns of a reading: seconds; acceleration in g along three axes; antenna; signal strength; phase; MHz."""

LYING = 3
"""Activity of lying in the files; 1 is sitting on the bed, 2 on the chair, 4 ambulating."""

_SCRIPT = (4, 2, 4, 1, 3, 1, 4)
_SHARES = np.array([1.0, 3.0, 0.7, 3.0, 9.0, 2.0, 0.8])
_PITCH = np.array([np.nan, 27.0, 22.0, 74.0, 9.0])
_POSTURE = {"male": ((6.0, -4.0), (13.0, 19.0)), "female": ((13.0, -17.0), (14.0, 25.0))}
_FILE = re.compile(r"d\dp\d+([MF])(\.csv|\.txt)?", re.IGNORECASE)


def simulate_sessions(
    male: int = 25, female: int = 62, *, readings: int = 864, rng: np.random.Generator
) -> pd.DataFrame:
    """Simulate sessions of the source's shape: everyone sits, lies and walks by one script, in different postures."""
    groups = np.repeat(GROUPS, (male, female)).tolist()
    weights = rng.gamma(4.0, size=len(groups))
    lengths = np.maximum(np.rint(weights / weights.mean() * readings).astype(int), 30).tolist()
    return _together(
        (_simulate_one(group, length, rng) for group, length in zip(groups, lengths, strict=True)),
        groups,
    )


def _together(parts: Iterable[pd.DataFrame], groups: Iterable[str]) -> pd.DataFrame:
    pairs = enumerate(zip(parts, groups, strict=True))
    return pd.concat(
        [part.assign(client=i, group=group) for i, (part, group) in pairs], ignore_index=True
    )


def _simulate_one(group: str, length: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return the readings of one session: the script's activities, pitch and roll about the wearer's posture."""
    ends = np.cumsum(rng.dirichlet(_SHARES))
    place = np.sort(rng.random(length))
    activity = np.array(_SCRIPT)[np.minimum(np.searchsorted(ends, place), len(_SCRIPT) - 1)]
    sitting, lying = rng.normal(*_POSTURE[group])
    own = np.select([activity == LYING, activity == 4], [lying, 0.3 * sitting], sitting)
    pitch = _PITCH[activity] + own + rng.normal(0, 9, length)
    roll = rng.normal(0, 8) + rng.normal(0, 12, length)
    angle, lean = np.radians(pitch), np.radians(roll)
    seconds = place * length * rng.uniform(0.6, 1.6)
    antenna = rng.integers(1, 5, length)
    strength = -58 - 3 * (activity == LYING) + rng.normal(0, 3, length)
    columns = (
        seconds,
        np.sin(angle) * np.cos(lean) + rng.normal(0, 0.05, length),
        np.cos(angle) * np.cos(lean) + rng.normal(0, 0.05, length),
        np.sin(lean) + rng.normal(0, 0.05, length),
        antenna.astype(float),
        np.round(strength * 2) / 2,
        rng.uniform(0, 2 * np.pi, length),
        rng.choice(np.arange(920.25, 926, 0.5), length),
    )
    return pd.DataFrame(dict(zip(FEATURES, columns, strict=True))).assign(activity=activity)


def read_sessions(path: str | Path) -> pd.DataFrame:
    """Read the real sessions from the folder of the UCI files, with its subfolders.

    A session is a file named like ``d1p01M``: room, participant, and ``M`` or ``F``. Its lines are nine numbers
    separated by commas: the columns of `FEATURES` and the activity.
    """
    files = sorted(Path(path).rglob("*"))
    groups = {
        file: GROUPS[name[1].upper() == "F"]
        for file in files
        if (name := _FILE.fullmatch(file.name))
    }
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
    if rows.shape[1] != len(FEATURES) + 1 or not (
        np.isfinite(rows).all() and np.isin(rows[:, -1], (1, 2, 3, 4)).all()
    ):
        raise ValueError(f"{file.name}: every line must be 8 numbers and a label 1 to 4")
    return pd.DataFrame(rows, columns=[*FEATURES, "activity"])


def client_rates(
    sessions: pd.DataFrame, *, runs: int, training_share: float, l1_ratio: float, seed: int
) -> pd.DataFrame:
    """Train the global model on a share of each session's readings, and test it on the others; `runs` times.

    The source's classifier is logistic regression of standardised features with elastic net, with that weight of its
    L1 part, by SAGA and balanced class weights. A row per run and client holds ``run, client, group, tp, positives, fp,
    negatives`` on the client's test readings.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    options: dict[str, Any] = {
        "solver": "saga",
        "l1_ratio": l1_ratio,
        "class_weight": "balanced",
        "tol": 1e-3,
    }
    if LogisticRegression().penalty == "l2":  # before scikit-learn 1.8
        options["penalty"] = "elasticnet"
    model = make_pipeline(
        StandardScaler(), LogisticRegression(**options, max_iter=200, random_state=seed)
    )
    features, lying, parts = (
        sessions[[*FEATURES]].to_numpy(),
        (sessions["activity"] == LYING).to_numpy(),
        [],
    )
    for run in range(runs):
        keys = pd.Series(stream("split", run, seed=seed).random(lying.size)).groupby(
            [sessions["client"], lying]
        )
        training = (keys.rank() <= np.rint(training_share * keys.transform("size"))).to_numpy()
        guess = model.fit(features[training], lying[training]).predict(features[~training])
        truth = lying[~training]
        chosen = {
            "tp": guess & truth,
            "positives": truth,
            "fp": guess & ~truth,
            "negatives": ~truth,
        }
        parts.append(sessions.loc[~training, ["client", "group"]].assign(run=run, **chosen))
    return pd.concat(parts).groupby(["run", "client", "group"], as_index=False).sum()


def rates_by_client(table: pd.DataFrame) -> pd.DataFrame:
    """Return every client's rates over all runs, ``metric, group, client, rate, share``.

    `share` is that of the group's clients with at most this rate. A client without readings of a kind has no such rate.
    """
    total = table.groupby(["group", "client"])[["tp", "positives", "fp", "negatives"]].sum()
    true, false = total["tp"] / total["positives"], total["fp"] / total["negatives"]
    rates = pd.concat(
        {"true-positive rate": true, "false-positive rate": false}, names=["metric"]
    ).dropna()
    shares = rates.groupby(["metric", "group"]).rank(method="first", pct=True)
    return pd.DataFrame({"rate": rates, "share": shares}).reset_index()
