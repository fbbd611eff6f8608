"""Estimates, bias and distance on the data of Section 4, if only some users report.

The section is that of Biswas, Cormode and Maple (2022).
"""

from collections.abc import Sequence
from itertools import product

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
RAW = "raw estimate"
PROJECTED = "projected onto the simplex"
DISTANCE = "total variation distance"


# Data


def distributions() -> dict[str, Floats]:
    """Return the two distributions of Section 4, on the values 0 to 100.

    The plus sign of the second is read as a mixture: a sum would hardly differ from Bin(100, .5).
    """
    given = published()
    largest = int(given["first_trials"])
    first = synthetic.binomial(largest, given["first_probability"])
    second = synthetic.binomial(
        int(given["second_trials"]),
        given["second_probability_high"],
        given["second_probability_low"],
        largest=largest,
    )
    return {"Bin(100, .5)": first, BOTH: second}


def data_sets(users: int, *, seed: int) -> dict[str, Ints]:
    """Draw a data set from each of `distributions`, as users per value.

    The source has 50,000 users.
    """
    drawn = {}
    for name, distribution in distributions().items():
        rng = stream("data set", name, seed=seed)
        drawn[name] = synthetic.sample_counts(distribution, users, rng=rng)
    return drawn


# Estimates


def estimates(
    counts: Ints, sampling_rates: Sequence[float], mechanism: KaryRandomisedResponse, *, seed: int
) -> pd.DataFrame:
    """Estimate a histogram by c_DE, g_DE and c-hat, with the exact mean and deviation.

    All three see the same reports. There is a row for each sampling rate, estimator and value.
    """
    users = int(counts.sum())
    parts = []
    for rate in sampling_rates:
        survey = SampledCounts(users, rate, mechanism)
        rng = stream("estimates", rate, mechanism.epsilon, seed=seed)
        tallies = sampled_tallies(counts, rate, mechanism, rng=rng)

        unadjusted = estimators.unadjusted(tallies, users=users, mechanism=mechanism)
        rescaled = estimators.rescaled(
            tallies, users=users, sampling_rate=rate, mechanism=mechanism
        )
        realised = estimators.realised_size(tallies, sampling_rate=rate, mechanism=mechanism)
        mean = survey.mean_unadjusted(counts)

        for name, estimate, expected, variance in (
            ("c_DE", unadjusted, mean, survey.variance_unadjusted(counts)),
            ("g_DE", rescaled, counts, survey.variance_rescaled(counts)),
            ("c-hat", realised, counts, survey.variance_realised_size(counts)),
        ):
            columns = {
                "sampling_rate": rate,
                "sampling": f"π = {rate:g}",
                "value": np.arange(counts.size),
                "truth": counts,
                "estimator": name,
                "expected": expected,
                "standard_deviation": np.sqrt(variance),
                "estimate": estimate,
            }
            parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def _collections(counts: Ints, survey: SampledCounts, runs: int, rng: np.random.Generator) -> Ints:
    """Draw the tallies of several surveys, a row each."""
    drawn = []
    for _ in range(runs):
        drawn.append(sampled_tallies(counts, survey.rate, survey.mechanism, rng=rng))
    return np.array(drawn)


# Bias and variance


@table
def bias_curve(
    counts: Ints,
    epsilons: Sequence[float],
    sampling_rates: Sequence[float],
    runs: int,
    *,
    seed: int,
) -> Rows:
    """Tabulate the bias of c_DE at the most frequent value.

    The exact bias has no standard error, the simulated one has.
    """
    users = int(counts.sum())
    top = int(counts.argmax())

    for epsilon, rate in product(epsilons, sampling_rates):
        survey = SampledCounts(users, rate, KaryRandomisedResponse(epsilon, counts.size))
        tallies = _collections(counts, survey, runs, stream("bias", epsilon, rate, seed=seed))
        estimate = estimators.unadjusted(tallies, users=users, mechanism=survey.mechanism)
        drawn = estimate[:, top] - counts[top]

        exact = (survey.bias_unadjusted(counts[top]), np.nan)
        simulated = (drawn.mean(), drawn.std(ddof=1) / np.sqrt(runs))

        for bias, error in (exact, simulated):
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
    """Tabulate exact standard deviations, in users, at two values.

    One is held by nobody, the other is the most frequent one. ``gain`` is the share by which c-hat
    lowers the variance of g_DE.
    """
    users = int(counts.sum())

    for epsilon, rate, holders in product(epsilons, sampling_rates, (0, int(counts.max()))):
        survey = SampledCounts(users, rate, KaryRandomisedResponse(epsilon, counts.size))
        rescaled = survey.variance_rescaled(holders)
        realised = survey.variance_realised_size(holders)

        yield {
            "epsilon": epsilon,
            "sampling_rate": rate,
            "holders": holders,
            "g_DE": np.sqrt(rescaled),
            "c-hat": np.sqrt(realised),
            "ratio": np.sqrt(survey.variance_ratio(holders)),
            "gain": 1 - realised / rescaled,
        }


@table
def rare_errors(users: Sequence[int], rate: float, mechanism: KaryRandomisedResponse) -> Rows:
    """Tabulate root mean squared errors of c_DE and g_DE at a value that nobody holds."""
    for number in users:
        survey = SampledCounts(int(number), rate, mechanism)
        squares = {
            "c_DE": survey.bias_unadjusted(0) ** 2 + survey.variance_unadjusted(0),
            "g_DE": survey.rare_variance_rescaled,
        }
        for name, square in squares.items():
            yield {
                "users": number,
                "estimate": name,
                "root mean squared error (users)": np.sqrt(square),
            }


# Distance from the data


@table
def distances(
    counts: Ints,
    epsilons: Sequence[float],
    sampling_rates: Sequence[float],
    runs: int,
    *,
    seed: int,
) -> Rows:
    """Tabulate the distance between c-hat and the data, and the expected number of reports.

    The distance comes from simulated collections for the estimate as it is (`RAW`) and for the
    estimate that is `PROJECTED`. For the former it comes also in closed form, and then has no
    standard error.
    """
    users = int(counts.sum())

    for epsilon, rate in product(epsilons, sampling_rates):
        survey = SampledCounts(users, rate, KaryRandomisedResponse(epsilon, counts.size))
        tallies = _collections(counts, survey, runs, stream("distances", epsilon, rate, seed=seed))
        estimate = estimators.realised_size(tallies, sampling_rate=rate, mechanism=survey.mechanism)
        shares = estimate / users

        deviations = np.sqrt(survey.variance_realised_size(counts))
        closed_form = expected_total_variation(deviations, users=users)
        found = [(RAW, closed_form, np.nan)]

        for name, shown in ((RAW, shares), (PROJECTED, project_simplex(shares))):
            drawn = np.abs(shown - counts / users).sum(axis=1) / 2
            found.append((name, drawn.mean(), drawn.std(ddof=1) / np.sqrt(runs)))

        for name, distance, error in found:
            yield {
                "estimate": name,
                "budget": f"ε = {epsilon:g}",
                "epsilon": epsilon,
                RATE: rate,
                "expected_reports": expected_reports(counts, rate),
                DISTANCE: distance,
                "standard_error": error,
            }


def lowest_against_highest(table: pd.DataFrame) -> pd.DataFrame:
    """Compare the distances at the lowest and the highest sampling rate, a row per epsilon.

    The table is one of `distances`. Raw distances are those in closed form, projected ones are
    simulated means.
    """
    lowest = table[RATE].min()
    highest = table[RATE].max()
    closed_form = table[table["standard_error"].isna()]
    projected = table[table["estimate"] == PROJECTED]

    compared = pd.DataFrame(index=pd.Index(dict.fromkeys(table["epsilon"]), name="epsilon"))

    for name, rows in (("raw", closed_form), ("projected", projected)):
        low = rows[rows[RATE] == lowest].set_index("epsilon")[DISTANCE]
        high = rows[rows[RATE] == highest].set_index("epsilon")[DISTANCE]
        compared[f"{name} at {lowest:g}"] = low
        compared[f"{name} at {highest:g}"] = high
        compared[f"{name} ratio"] = low / high
        compared[f"{name} difference"] = low - high
    return compared.reset_index()
