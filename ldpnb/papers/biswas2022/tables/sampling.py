"""Estimates, bias and distance on the data of Section 4 of biswas2022, when only some users report."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Floats, Ints
from ldpnb.data import synthetic
from ldpnb.estimators import sampling as estimators
from ldpnb.estimators.frequency import project_simplex
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.notebook import Rows, table
from ldpnb.papers.biswas2022.formulas.distances import expected_total_variation
from ldpnb.papers.biswas2022.formulas.reporters import expected_reports, sampled_tallies
from ldpnb.papers.biswas2022.written_out import published
from ldpnb.rng import stream

BOTH = "Bin(50, .6) | Bin(50, .4)"
RATE = "sampling rate π"
RAW, PROJECTED = "as it is", "projected onto the simplex"
DISTANCE = "total variation distance"


def distributions() -> dict[str, Floats]:
    """Return the two of Section 4, on ``0 .. 100``.

    The plus sign of the second is read as a mixture: a sum would hardly differ from Bin(100, .5).
    """
    given = published()
    largest, chances = (
        int(given["first_trials"]),
        (given[f"second_probability_{end}"] for end in ("high", "low")),
    )
    return {
        "Bin(100, .5)": synthetic.binomial(largest, given["first_probability"]),
        BOTH: synthetic.binomial(int(given["second_trials"]), *chances, largest=largest),
    }


def data_sets(users: int, *, seed: int) -> dict[str, Ints]:
    """Draw a data set from each of `distributions`, as users per value; the source has 50,000 users."""
    return {
        name: synthetic.sample_counts(distribution, users, rng=stream("data set", name, seed=seed))
        for name, distribution in distributions().items()
    }


def estimates(
    counts: Ints, sampling_rates: Sequence[float], mechanism: KaryRandomisedResponse, *, seed: int
) -> pd.DataFrame:
    """Estimate a histogram once per sampling rate by c_DE, g_DE and c-hat, beside the exact mean and deviation.

    All three see the same reports; a row per rate, estimator and value.
    """
    users, parts = int(counts.sum()), []
    for rate in sampling_rates:
        rng = stream("estimates", rate, mechanism.epsilon, seed=seed)
        seen, known = (
            sampled_tallies(counts, rate, mechanism, rng=rng),
            SampledCounts(users, rate, mechanism),
        )
        given: dict[str, Any] = {"sampling_rate": rate, "mechanism": mechanism}
        unadjusted = estimators.unadjusted(seen, users=users, mechanism=mechanism)
        rescaled, realised = (
            estimators.rescaled(seen, users=users, **given),
            estimators.realised_size(seen, **given),
        )
        for name, estimate, mean, variance in (
            ("c_DE", unadjusted, known.mean_unadjusted(counts), known.variance_unadjusted(counts)),
            ("g_DE", rescaled, counts, known.variance_rescaled(counts)),
            ("c-hat", realised, counts, known.variance_realised_size(counts)),
        ):
            shared = {
                "sampling_rate": rate,
                "value": np.arange(counts.size),
                "truth": counts,
                "estimator": name,
            }
            moments = {"expected": mean, "standard_deviation": np.sqrt(variance)}
            parts.append(pd.DataFrame(shared | moments | {"estimate": estimate}))
    return pd.concat(parts, ignore_index=True)


def _collections(counts: Ints, survey: SampledCounts, runs: int, rng: np.random.Generator) -> Ints:
    return np.array(
        [sampled_tallies(counts, survey.rate, survey.mechanism, rng=rng) for _ in range(runs)]
    )


@table
def bias_curve(
    counts: Ints,
    epsilons: Sequence[float],
    sampling_rates: Sequence[float],
    runs: int,
    *,
    seed: int,
) -> Rows:
    """Yield the bias of c_DE at the most frequent value, exactly and simulated (with a standard error)."""
    users, top = int(counts.sum()), int(counts.argmax())
    for epsilon, rate in product(epsilons, sampling_rates):
        survey = SampledCounts(users, rate, KaryRandomisedResponse(epsilon, counts.size))
        tallies = _collections(counts, survey, runs, stream("bias", epsilon, rate, seed=seed))
        drawn = (
            estimators.unadjusted(tallies, users=users, mechanism=survey.mechanism)[:, top]
            - counts[top]
        )
        exact = (survey.bias_unadjusted(counts[top]), np.nan)
        for bias, error in (exact, (drawn.mean(), drawn.std(ddof=1) / np.sqrt(runs))):
            yield {
                "budget": f"ε = {epsilon:g}",
                RATE: rate,
                "bias (users)": bias,
                "standard_error": error,
            }


@table
def standard_deviations(
    counts: Ints, epsilons: Sequence[float], sampling_rates: Sequence[float]
) -> Rows:
    """Yield exact standard deviations, in users, at a value nobody holds and at the most frequent one.

    ``gain`` is the share by which c-hat lowers the variance of g_DE.
    """
    for epsilon, rate, holders in product(epsilons, sampling_rates, (0, int(counts.max()))):
        survey = SampledCounts(
            int(counts.sum()), rate, KaryRandomisedResponse(epsilon, counts.size)
        )
        g, c = survey.variance_rescaled(holders), survey.variance_realised_size(holders)
        deviations = {
            "g_DE": np.sqrt(g),
            "c-hat": np.sqrt(c),
            "ratio": np.sqrt(survey.variance_ratio(holders)),
        }
        yield {
            "epsilon": epsilon,
            "sampling_rate": rate,
            "holders": holders,
            **deviations,
            "gain": 1 - c / g,
        }


@table
def distances(
    counts: Ints,
    epsilons: Sequence[float],
    sampling_rates: Sequence[float],
    runs: int,
    *,
    seed: int,
) -> Rows:
    """Yield the distance between c-hat and the data, in closed form and from simulated collections, and its cost.

    ``estimate`` is `RAW` or `PROJECTED`; the closed form, for the raw one, has no standard error.
    """
    users = int(counts.sum())
    for epsilon, rate in product(epsilons, sampling_rates):
        survey = SampledCounts(users, rate, KaryRandomisedResponse(epsilon, counts.size))
        tallies = _collections(counts, survey, runs, stream("distances", epsilon, rate, seed=seed))
        shares = (
            estimators.realised_size(tallies, sampling_rate=rate, mechanism=survey.mechanism)
            / users
        )
        closed = expected_total_variation(
            np.sqrt(survey.variance_realised_size(counts)), users=users
        )
        measured = [(RAW, closed, np.nan)]
        for name, estimate in ((RAW, shares), (PROJECTED, project_simplex(shares))):
            drawn = np.abs(estimate - counts / users).sum(axis=1) / 2
            measured.append((name, drawn.mean(), drawn.std(ddof=1) / np.sqrt(runs)))
        for name, distance, error in measured:
            setting = {
                "estimate": name,
                "budget": f"ε = {epsilon:g}",
                "epsilon": epsilon,
                RATE: rate,
            }
            cost = {"expected_reports": expected_reports(counts, rate)}
            yield setting | cost | {DISTANCE: distance, "standard_error": error}


def lowest_against_highest(table: pd.DataFrame) -> pd.DataFrame:
    """Compare the distances at the lowest and the highest sampling rate of `distances`, a row per epsilon.

    Raw distances are those of the closed form, projected ones simulated means.
    """
    ends = table[RATE].min(), table[RATE].max()
    closed, projected = table[table["standard_error"].isna()], table[table["estimate"] == PROJECTED]
    out = pd.DataFrame(index=pd.Index(dict.fromkeys(table["epsilon"]), name="epsilon"))
    for name, rows in (("raw", closed), ("projected", projected)):
        low, high = (rows[rows[RATE] == rate].set_index("epsilon")[DISTANCE] for rate in ends)
        out[f"{name} at {ends[0]:g}"], out[f"{name} at {ends[1]:g}"] = low, high
        out[f"{name} ratio"], out[f"{name} difference"] = low / high, low - high
    return out.reset_index()


@table
def rare_errors(users: Sequence[int], rate: float, mechanism: KaryRandomisedResponse) -> Rows:
    """Yield root mean squared errors of c_DE and g_DE at a value that nobody holds."""
    for number in users:
        survey = SampledCounts(int(number), rate, mechanism)
        biased = survey.bias_unadjusted(0) ** 2 + survey.variance_unadjusted(0)
        for name, square in (("c_DE", biased), ("g_DE", survey.rare_variance_rescaled)):
            yield {
                "users": number,
                "estimate": name,
                "root mean squared error (users)": np.sqrt(square),
            }
