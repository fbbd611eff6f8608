"""A survey from pilot to estimate: synthetic populations, collections by a planned design, and their misses."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from ldpnb import checks
from ldpnb.mechanisms.means import OneBit
from ldpnb.notebook import Mark, listed, literal, short, table
from ldpnb.notebook.annotations import head, mark
from ldpnb.notebook.encoding import Encoding, keep
from ldpnb.notebook.figures import legend, look
from ldpnb.planning.survey_plan import SurveyPlan
from ldpnb.rng import stream
from ldpnb.surveys.open_designs import ClusterDesign
from ldpnb.surveys.pilots import Pilot, pilot_of

Floats = NDArray[np.float64]
Rows = Iterator[dict[str, Any]]

FALSE_ALARM = 1e-6
"""Probability with which a kept promise is reported as broken."""
_ROWS = 250
_MADE = {"mean": 0.4, "sd": 0.3}


def population(clusters: int, size: int, *, mean: float, sd: float, icc: float, seed: int) -> Floats:
    """Return synthetic values in ``[0, 1]``, ``(clusters, size)``: beta laws of cluster means, and around these.

    Parameters
    ----------
    clusters, size : int
    mean, sd : float
        Of the law of all values; the standard deviation is less than ``sqrt(mean (1 - mean))``.
    icc : float
        In ``(0, 1)``: the share of the variance that is between clusters.
    seed : int
    """
    rng, whole = stream("survey population", seed=seed), mean * (1 - mean)
    checks.open_probability(mean=mean)
    spread = min(checks.positive(sd=sd) ** 2, 0.999 * whole)
    share = float(np.clip(icc, 1e-6, 0.999))
    among, inside = whole / (share * spread) - 1, (whole - spread) / ((1 - share) * spread)
    centres = np.clip(rng.beta(among * mean, among * (1 - mean), (clusters, 1)), 1e-9, 1 - 1e-9)
    return rng.beta(inside * centres, inside * (1 - centres), (clusters, size))


def made_pilot(values: Floats, clusters: int, take: int, *, seed: int) -> pd.DataFrame:
    """Return what some people in each of some clusters answered, in the columns ``cluster`` and ``value``."""
    rng = stream("survey pilot", seed=seed)
    drawn = rng.choice(len(values), clusters, replace=False)
    answers = np.array([rng.choice(values[g], take, replace=False) for g in drawn]).round(3)
    return pd.DataFrame({"cluster": np.repeat(drawn, take), "value": answers.ravel()})


def first_answers(ends: tuple[float, float], clusters: int, size: int, icc: float, *, seed: int) -> Pilot:
    """Return what a made pilot of 20 clusters and up to 8 people in each tells of a population it is drawn from."""
    values = population(clusters, size, **_MADE, icc=icc, seed=seed)
    frame = made_pilot(ends[0] + (ends[1] - ends[0]) * values, min(20, clusters), min(8, size), seed=seed)
    return pilot_of(frame["value"], clusters=frame["cluster"])


def people(
    known: Pilot, ends: tuple[float, float], clusters: int, size: int, *, icc: float | None, seed: int
) -> Floats:
    """Return a population: that of `first_answers` for a given `icc`, or else one that fits the pilot."""
    low, span = ends[0], ends[1] - ends[0]
    about = _MADE if icc is not None else {"mean": (known.mean - low) / span, "sd": known.s2**0.5 / span}
    likeness = known.icc(size) if icc is None else icc
    return low + span * population(clusters, size, **about, icc=likeness, seed=seed)


@dataclass(frozen=True, slots=True)
class Collections:
    """Estimates of many collections, with a standard error from the reports of each: ``(repetitions,)``."""

    truth: float
    estimates: Floats
    standard_errors: Floats
    clusters: int

    def misses(self, error: float) -> int:
        """Return how many are off by an error or more."""
        return int(np.sum(np.abs(self.estimates - self.truth) >= error))

    def reach(self, failure: float) -> Floats:
        """Return the half-width of each one's interval by Student's t, at that chance to miss."""
        return np.asarray(stats.t.isf(failure / 2, self.clusters - 1) * self.standard_errors)

    def uncovered(self, failure: float) -> int:
        """Return how many of the intervals miss the truth."""
        return int(np.sum(np.abs(self.estimates - self.truth) > self.reach(failure)))


def collect(
    values: Floats, plan: SurveyPlan, *, repetitions: int = 1, seed: int, chosen: int | None = None
) -> Collections:
    """Carry out a planned cluster sample with one-bit reports, many times over.

    Clusters are drawn without replacement, people in each likewise; everybody drawn sends a bit; the estimate is the
    mean of the unbiased reports. Its variance is estimated from the spread of the clusters' means, which is right on
    average but for the share of clusters drawn, which it leaves out.

    Parameters
    ----------
    values : (clusters, size) float
        In the plan's range.
    plan : SurveyPlan
        Of a `ClusterDesign`.
    repetitions, seed : int
    chosen : int, optional
        Clusters drawn, if not as many as planned.
    """
    survey, design = plan.survey, plan.survey.design
    if not isinstance(design, ClusterDesign):
        raise TypeError(f"plan must be of a ClusterDesign, got {type(design).__name__}")
    number, take = chosen or plan.count, design.asked
    rng = stream("survey collections", number, take, seed=seed)
    channel = OneBit(plan.epsilon)
    shares = (values - survey.low) / survey.span
    means = np.empty((repetitions, number))
    for first in range(0, repetitions, _ROWS):
        block = means[first : first + _ROWS]
        drawn = shares[_some(rng, (len(block), len(values)), number)]
        asked = np.take_along_axis(drawn, _some(rng, drawn.shape, take), axis=2)
        bits = rng.random(asked.shape) < channel.q + asked * channel.slope
        block[:] = (bits.mean(axis=2) - channel.q) / channel.slope
    means = survey.low + survey.span * means
    deviation = means.std(axis=1, ddof=1) if number > 1 else np.full(repetitions, np.nan)
    return Collections(float(values.mean()), means.mean(axis=1), deviation / np.sqrt(number), number)


def _some(rng: np.random.Generator, shape: tuple[int, ...], number: int) -> NDArray[np.int64]:
    """Return the positions of `number` of the last axis, drawn without replacement in every row."""
    # sorted, for processors differ in the order within a part
    return np.sort(rng.random(shape).argpartition(number - 1, axis=-1)[..., :number])


@table
def coverage(found: dict[str, Collections], *, error: float, failure: float) -> Rows:
    """Say how often collections missed, beside the most that a kept promise allows but for `FALSE_ALARM`."""
    for name, each in found.items():
        number, missed = each.estimates.size, each.misses(error)
        yield {
            "plan": name,
            "clusters": each.clusters,
            "collections": number,
            "promised failures": failure,
            "failed": missed / number,
            "promise": "kept" if missed <= most_misses(number, failure) else "broken",
            "intervals that miss": each.uncovered(failure) / number,
        }


def most_misses(repetitions: int, failure: float) -> int:
    """Return the number of misses that a promise exceeds with a chance of `FALSE_ALARM` at most, if it is kept."""
    return int(stats.binom.isf(FALSE_ALARM, repetitions, failure))


@table
def errors(found: dict[str, Collections], *, error: float) -> Rows:
    """Yield the share of collections by their error, in bins of a quarter of the target."""
    furthest = max(float(np.abs(each.estimates - each.truth).max()) for each in found.values())
    most = min(max(8, int(np.ceil(4 * furthest / error))), 400)
    edges = error / 4 * np.arange(-most, most + 1)
    for name, each in found.items():
        shares = np.histogram(each.estimates - each.truth, edges)[0] / each.estimates.size
        for left, right, share in zip(edges[:-1], edges[1:], shares, strict=True):
            yield {"plan": name, "error": (left + right) / 2, "share of collections": float(share)}


def drawn_errors(
    rows: pd.DataFrame, found: dict[str, Collections], *, error: float, failure: float, setting: str = ""
) -> Figure:
    """Draw the errors of collections with the target; the title says which plans kept their promise."""
    figure, axis = plt.subplots(figsize=(7.0, 3.4))
    for name, part in rows.groupby("plan", sort=False):
        missed = found[str(name)].misses(error) / found[str(name)].estimates.size
        style = look(_LOOKS.get(str(name), str(name)))
        label = f"{name}: {missed:.1%} failed"
        axis.step(
            part["error"], part["share of collections"], where="mid", color=style.colour, ls=style.dash, label=label
        )
    marks = (Mark(x=-error), Mark(x=error, label=f"promised: {error:g}"))
    mark(axis, marks, "")
    axis.set(xlabel="error of the estimate", ylabel="share of collections", ylim=(0, None))
    legend(figure, [axis])
    head(figure, _finding(found, error, failure), setting)
    told: dict[str, Any] = {"by": "plan", "xlabel": "error of the estimate", "marks": marks}
    return keep(figure, rows, Encoding(x="error", y="share of collections", **told))


_LOOKS = {"icc of the pilot": "exact", "upper end": "upper bound", "clusters ignored": "lower bound"}


def _finding(found: dict[str, Collections], error: float, failure: float) -> str:
    """Return which plans kept their promise."""
    kept = [name for name, e in found.items() if e.misses(error) <= most_misses(e.estimates.size, failure)]
    broken = [name for name in found if name not in kept]
    if not broken or not kept:
        return f"{'No plan keeps' if broken else 'All plans keep'} the promised error"
    return f"Plans that keep the promised error: {listed(kept)}; that miss it too often: {listed(broken)}"


def of_pilot(known: Pilot, path: str, value: str) -> str:
    """Return whose answers a plan rests on."""
    whose = f"**{literal(value)}** of {literal(path)}" if path else "A made pilot"
    spread = f"mean {short(known.mean)} and standard deviation {short(known.s2**0.5)}"
    return f"{whose}: {known.answers:,} answers from {known.clusters:,} clusters, with {spread}."
