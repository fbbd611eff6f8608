"""Appendix D of juarez2022 up to the mechanisms: a global classifier of lying, and every client's rates under it.

Needs scikit-learn, the optional extra ``learning``.
"""

import inspect
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.papers.juarez2022.clients import GROUPS
from ldpnb.papers.juarez2022.sessions import Sessions
from ldpnb.rng import stream


def split(sessions: Sessions, training_share: float, *, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return which readings train the model, ``(n,)``: a random share of those of each session and label."""
    share = checks.open_probability(training_share=training_share)
    cell = 2 * sessions.session + sessions.lying
    order = np.lexsort((rng.random(cell.size), cell))
    sizes = np.bincount(cell, minlength=2 * sessions.groups.size)
    rank = np.arange(cell.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    training = np.empty(cell.size, dtype=bool)
    training[order] = rank < np.rint(share * sizes)[cell[order]]
    return training


def fit(features: NDArray[np.float64], lying: NDArray[np.bool_], *, l1_ratio: float, seed: int) -> Any:
    """Return the source's classifier, fitted to standardised features.

    It is logistic regression with elastic net by SAGA and balanced class weights.
    """
    with checks.needed_for("the source's classifier"):
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

    options: dict[str, Any] = {"solver": "saga", "l1_ratio": l1_ratio, "class_weight": "balanced", "tol": 1e-3}
    if inspect.signature(LogisticRegression).parameters["penalty"].default == "l2":
        options["penalty"] = "elasticnet"
    model = make_pipeline(StandardScaler(), LogisticRegression(**options, max_iter=200, random_state=seed))
    return model.fit(features, lying)


def client_rates(sessions: Sessions, *, runs: int, training_share: float, l1_ratio: float, seed: int) -> pd.DataFrame:
    """Train the global model on a split, with that weight of the L1 part of the elastic net, and test it; `runs` times.

    A row per run and client holds ``run, client, group, tp, positives, fp, negatives`` on the client's test readings.
    """
    clients, parts = sessions.groups.size, []
    group = np.array(GROUPS)[sessions.groups]
    for run in range(checks.whole(runs=runs, at_least=1)):
        training = split(sessions, training_share, rng=stream("split", run, seed=seed))
        model = fit(sessions.features[training], sessions.lying[training], l1_ratio=l1_ratio, seed=seed)
        test = ~training
        guess, truth, client = model.predict(sessions.features[test]), sessions.lying[test], sessions.session[test]
        chosen = {"tp": guess & truth, "positives": truth, "fp": guess & ~truth, "negatives": ~truth}
        tally = {name: np.bincount(client[which], minlength=clients) for name, which in chosen.items()}
        parts.append(pd.DataFrame({"run": run, "client": np.arange(clients), "group": group} | tally))
    return pd.concat(parts, ignore_index=True)


def hold_out_scores(table: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy, true- and false-positive rate over all test readings: columns ``run, metric, value``."""
    total = table.groupby("run")[["tp", "positives", "fp", "negatives"]].sum()
    scores = {
        "accuracy": (total["tp"] + total["negatives"] - total["fp"]) / (total["positives"] + total["negatives"]),
        "true-positive rate": total["tp"] / total["positives"],
        "false-positive rate": total["fp"] / total["negatives"],
    }
    return pd.DataFrame(scores).reset_index().melt("run", var_name="metric", value_name="value")


def rates_by_client(table: pd.DataFrame) -> pd.DataFrame:
    """Return every client's rates over all runs, ``metric, group, client, rate, share``.

    `share` is that of the group's clients with at most this rate. A client without readings of a kind has no such rate.
    """
    total, parts = table.groupby(["group", "client"])[["tp", "positives", "fp", "negatives"]].sum(), []
    for metric, hits, of in (("true-positive rate", "tp", "positives"), ("false-positive rate", "fp", "negatives")):
        counted = total[total[of] > 0]
        parts.append((counted[hits] / counted[of]).rename("rate").reset_index().assign(metric=metric))
    rates = pd.concat(parts, ignore_index=True)[["metric", "group", "client", "rate"]]
    return rates.assign(share=rates.groupby(["metric", "group"])["rate"].rank(method="first", pct=True))
