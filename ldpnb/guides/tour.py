"""Experiments of the tour: what observers learn of a sample, and the variances behind a theorem."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.designs.reporters import poisson
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.notebook import short, table, where_less
from ldpnb.privacy.participation import participation_loss
from ldpnb.privacy.shuffling import ShuffledReports
from ldpnb.privacy.subsampling import poisson_loss, srs_loss
from ldpnb.rng import stream

Rows = Iterator[dict[str, Any]]
RATE, VARIANCE = "sampling rate π", "variance of the count (people²)"


def winner(table: pd.DataFrame) -> dict[str, str]:
    """Title a contest by where the variance of ``c-hat`` is below that of ``g_DE``."""
    exact = table[table["standard_error"].isna()]
    wide = exact.pivot_table(index=RATE, columns="estimator", values=VARIANCE)
    where = where_less(wide.index, wide["c-hat"] * (1 + 1e-9), wide["g_DE"], "π")
    return {"title": f"ĉ has the smaller variance {where}"}


@table
def observer_losses(rates: Sequence[float], *, people: int, epsilon: float, delta: float) -> Rows:
    """Tabulate what each observer of a sample learns of one person, a column per sampling rate.

    Given that ``s`` of ``n`` people report they are a simple random sample, and the tallies of their reports lose
    ``ln(1 + (s/n)(e^epsilon - 1))``: no more, as tallies lose epsilon as a function of the sample, and that much where
    nobody else holds the person's answer and all reports give it. If everybody is asked by chance, ``s`` may be ``n``.

    Sampling rates are in ``(0, 1]``; a sample of fixed size has the nearest whole number of people, at least 1. The
    budget `epsilon` is of one randomised response, and of what a curator releases, in nats up to 690, and `delta` of a
    shuffler's promise. Losses, in nats, are between populations that differ in the answer of one person (replacement)
    or in one person (deletion). A curator's are the largest of all mechanisms of that budget.
    """
    mechanism = KaryRandomisedResponse(epsilon, 2)

    def drawn(rate: float) -> float:
        return float(srs_loss(epsilon, max(1, round(rate * people)) / people))

    def shuffled(rate: float) -> float:
        return ShuffledReports(people, rate, mechanism).epsilon_upper(delta)

    def named(rate: float) -> float:
        return participation_loss(epsilon, lowest_rate=rate, highest_rate=rate)

    def counted(rate: float) -> float:
        return float(srs_loss(epsilon, 1.0))  # all may answer, at any rate

    def removed(rate: float) -> float:
        return float(poisson_loss(epsilon, rate, neighbours="deletion"))

    counts, mixed, release = "how many said yes and no", "reports in random order", f"a release, ε = {epsilon:g}"
    for observer, sees, sample, changed, loss, kind in (
        ("server", "who answered, and what", "by chance", "one answer", named, "exactly"),
        ("server", counts, "by chance", "one answer", counted, "exactly"),
        (f"server, shuffler, δ = {short(delta)}", mixed, "by chance", "one answer", shuffled, "at most"),
        ("server, shuffler", mixed, "fixed size", "one answer", drawn, "exactly"),
        ("reader of a curator", release, "fixed size", "one answer", drawn, "exactly"),
        ("reader of a curator", release, "by chance", "one person", removed, "exactly"),
    ):
        row = {"observer": observer, "sees": sees, "sample": sample, "what changes": changed, "loss": kind}
        yield row | {f"π = {rate:g}": loss(rate) for rate in rates}


@table
def variance_contest(
    rates: Sequence[float], *, holders: int, people: int, epsilon: float, runs: int, seed: int
) -> Rows:
    """Compare two unbiased counts under sampling, exactly and by simulation: those of Theorem 3.5 of biswas2022.

    Rows are of ``g_DE``, which uses the number of people, and ``c-hat``, which uses the number of reports: exact,
    without a standard error, and from simulated surveys, `runs` for each sampling rate.
    """
    mechanism = KaryRandomisedResponse(epsilon, 2)
    for rate in rates:
        survey = SampledCounts(people, rate, mechanism)
        known: dict[str, Any] = {"sampling_rate": rate, "mechanism": mechanism}
        rng = stream("contest", rate, epsilon, seed=seed)
        reporting = poisson(np.tile([people - holders, holders], (runs, 1)), rate, rng=rng)
        yes = rng.binomial(reporting, [mechanism.q, mechanism.p]).sum(axis=1)
        tallies = np.column_stack([reporting.sum(axis=1) - yes, yes])
        for name, exact, estimates in (
            ("g_DE", survey.variance_rescaled(holders), estimators.rescaled(tallies, users=people, **known)),
            ("c-hat", survey.variance_realised_size(holders), estimators.realised_size(tallies, **known)),
        ):
            row, squared = {"estimator": name, RATE: rate}, (estimates[:, 1] - holders) ** 2
            yield row | {VARIANCE: float(exact), "standard_error": np.nan}
            yield row | {VARIANCE: squared.mean(), "standard_error": squared.std(ddof=1) / np.sqrt(runs)}
