"""Local reports: by hashing, made pure, shuffled, and shuffled against a curator's noise."""

from dataclasses import replace
from functools import partial, reduce
from itertools import product
from typing import Any

import numpy as np

from ldpnb.accuracy import histograms
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.claims import Evidence, agree, claim
from ldpnb.estimators import sampling as sampled
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.hashing import LocalHashing
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.papers.biswas2022.routes import all_reports, amplified_as_published, normal_delta
from ldpnb.papers.companion import proofs
from ldpnb.papers.lecture20 import proofs as lecture
from ldpnb.papers.lecture20.routes import central_delta
from ldpnb.papers.lopuhaa2020.routes import unary_channel
from ldpnb.privacy import blanket, hockey_stick, purify, shuffling
from ldpnb.privacy import channel as channels
from ldpnb.rng import stream

result = partial(claim, kind="proof", reach="all parameters")


@result(
    "Local hashing is unary encoding",
    LocalHashing.p,
    LocalHashing.q,
    LocalHashing.truthful_rate,
    LocalHashing.channel,
    histograms.pure_variance,
    UnaryEncoding.channel,
    UnaryEncoding.epsilon,
    UnaryEncoding.optimised,
    LocalHashing.optimised,
    LocalHashing.unary,
    channels.privacy_loss,
    over="epsilon > 0, two or more cells and values, hash functions whose values are independent and uniform",
    argument="given the function and the reported cell, only which values share the cell depends on the sender's "
    "value; their bits are independent, as the function's values are",
)
def hashing_is_unary(e: Evidence) -> str:
    """the values that a locally hashed report supports are the bits of a unary encoding of the same exact loss, with
    p = e^epsilon/(e^epsilon + g - 1) and 1/g; with g = e^epsilon + 1 cells these are the bits of OUE
    """
    e.proven(proofs.hashing_is_unary())
    mechanism = LocalHashing.optimised(1.0, 3)
    channel, functions, kept = mechanism.channel(), mechanism.functions(), np.e / (np.e + 3)
    cells = np.tile(np.arange(4), len(functions))
    supported = np.repeat(functions, 4, axis=0) == cells[:, None]
    law = np.zeros((8, 3))
    np.add.at(law, supported @ (1 << np.arange(3)), channel)
    e.same([mechanism.p, mechanism.q, mechanism.truthful_rate], [kept, 1 / 4, kept - 1 / 4])
    e.same(UnaryEncoding(mechanism.p, mechanism.q, 3).channel(), unary_channel(kept, 1 / 4, 3))
    e.needs(agree(law, unary_channel(kept, 1 / 4, 3)) and agree(channels.privacy_loss(channel).epsilon, 1.0))
    near, oue = (
        histograms.pure_variance(0, users=1, mechanism=LocalHashing.optimised(1.0, 100)),
        histograms.pure_variance(0, users=1, mechanism=UnaryEncoding.optimised(1.0, 100)),
    )
    bits = [(law, kept, 1 / 4), (unary_channel(0.5, 1 / (np.e + 1), 3), 0.5, 1 / (np.e + 1))]
    e.same([near, oue], [_rare_variance(*known) for known in bits])
    return (
        f"all {len(channel)} outputs of 4 cells for 3 values agree; with {mechanism.cells} cells at epsilon 1 the "
        f"variance at a rare value is {near / oue:.4f} times that of OUE, in 2 bits"
    )


def _rare_variance(law: np.ndarray, p: float, q: float) -> float:
    """Return the variance of the estimated count of the second value, from the bits of one sender of the first."""
    estimates = ((np.arange(len(law)) >> 1 & 1) - q) / (p - q)
    return float(law[:, 0] @ estimates**2 - (law[:, 0] @ estimates) ** 2)


@result(
    "Approximate to pure",
    purify.purified,
    purify.refill,
    channels.privacy_loss,
    hockey_stick.channel_delta,
    over="every epsilon > 0, every delta, every channel; protocols with one report per user",
    argument="laws are integrated over outputs, and n reports are within n delta by the triangle inequality",
)
def approximate_to_pure(e: Evidence) -> str:
    """clipping the law of every report to the band between e^-epsilon and e^epsilon times one of them, and refilling it
    inside the band, makes an (epsilon, delta)-LDP randomiser 2 epsilon-LDP and moves no report by more than delta
    """
    e.proven(lecture.purification())
    rng, tried, nearest, largest = stream("channels", "band", seed=2), 60, 0.0, 0.0
    for epsilon in np.geomspace(0.02, 3.0, tried):
        laws = rng.dirichlet(np.full(6, 0.4), 4).T
        pure, delta = purify.purified(laws, epsilon), hockey_stick.channel_delta(laws, epsilon)
        cut = np.maximum(laws - np.exp(epsilon) * laws[:, [0]], 0).sum(axis=0)
        filled = np.maximum(laws[:, [0]] * np.exp(-epsilon) - laws, 0).sum(axis=0)
        moved = np.abs(pure - laws).sum(axis=0) / 2
        e.same(moved, np.maximum(cut, filled))
        e.same(pure.sum(axis=0), np.ones(4))
        e.same(delta, central_delta(laws, np.exp(epsilon)))
        e.needs(moved.max() <= delta + 1e-12)
        lost = channels.privacy_loss(pure).epsilon
        e.same(lost, np.log(pure.max(axis=1) / pure.min(axis=1)).max())
        nearest, largest = max(nearest, float(moved.max())), max(largest, lost / epsilon)
    e.needs(largest <= 2 + 1e-9)
    return (
        f"in {tried} random channels of 4 values, epsilon .02 to 3, reports move by up to {nearest:.3f}, never "
        f"more than delta, and the loss is at most {largest:.3f} epsilon; known with other constants since "
        "Bun, Nelson and Stemmer (2018)"
    )


@claim(
    "Shuffled reports of any randomizer",
    blanket.Blanket.delta_upper,
    blanket.Blanket.of_channel,
    blanket.Blanket.of,
    KaryRandomisedResponse.channel,
    UnaryEncoding.channel,
    UnaryEncoding.epsilon,
    UnaryEncoding.symmetric,
    LocalHashing.channel,
    LocalHashing.optimised,
    SubsetSelection.channel,
    SubsetSelection.optimal,
    blanket.Blanket.epsilon_upper,
    blanket.Blanket.sampled,
    shuffling.ShuffledReports.delta_upper,
    shuffling.ShuffledReports.epsilon_upper,
    shuffling.closed_form,
    kind="certified",
    example=True,
    over="k-ary randomised response, both unary encodings, subset selection and local hashing; small domains and few "
    "users enumerated, others against the account of k-ary randomised response",
    argument="Balle, Bell, Gascon and Nissim (2019) prove the bound of the blanket; splitting its values between their "
    "neighbours on a grid keeps the mean, and so only raises the mean of a convex function (Jensen)",
)
def shuffled_blankets(e: Evidence) -> str:
    """the blanket's bound can be computed to a thousandth for any finite channel and from five classes of outputs for
    any number of values; it is several times smaller than the published closed form for any randomiser
    """
    made: dict[str, Any] = {
        "k-RR": KaryRandomisedResponse(1.5, 3),
        "SUE": UnaryEncoding.symmetric(1.5, 3),
        "OLH": LocalHashing(1.5, 3, 3),
        "subset selection": SubsetSelection(1.5, 4, 2),
    }
    for mechanism in made.values():
        law = mechanism.channel()
        e.same(law.sum(axis=0), np.ones(law.shape[1]))
        whole, few = blanket.Blanket.of_channel(law), blanket.Blanket.of(mechanism)
        e.same(few.delta_upper(0.4, users=60), whole.delta_upper(0.4, users=60), rel=1e-9)
        exact = _enumerated(few, 0.7, 4)
        e.sure(exact <= few.delta_upper(0.7, users=4) <= exact * 1.01)
    account = shuffling.ShuffledReports(5000, 0.5, KaryRandomisedResponse(3.0, 20))
    general = blanket.Blanket.of(account.mechanism).sampled(0.5)
    e.same(general.epsilon_upper(1e-6, users=5000), account.epsilon_upper(1e-6), rel=2e-3)
    e.sure(general.delta_upper(0.2, users=5000) > account.delta_upper(0.2) * (1 - 1e-6))
    e.same(replace(account, users=4).delta_upper(0.7), _enumerated(general, 0.7, 4))
    delta, users = 1e-6, 100_000
    published = shuffling.closed_form(delta, users=users, epsilon=2.0)
    e.same(published, amplified_as_published(2.0, users, delta))
    names: dict[str, Any] = {"k-RR": KaryRandomisedResponse(2.0, 16), "SUE": UnaryEncoding.symmetric(2.0, 16)}
    names |= {"OLH": LocalHashing.optimised(2.0, 16), "subset selection": SubsetSelection.optimal(2.0, 16)}
    e.same([m.epsilon for m in names.values()], np.full(4, 2.0))
    found = {name: blanket.Blanket.of(m).epsilon_upper(delta, users=users) for name, m in names.items()}
    e.needs(max(found.values()) < published / 5)
    shown = ", ".join(f"{value:.4f} ({name})" for name, value in found.items())
    return (
        f"local epsilon 2, 16 values, {users:,} users, delta {delta:g}: {shown}; the published form has {published:.4f}"
    )


def _enumerated(known: blanket.Blanket, epsilon: float, users: int) -> float:
    """Return the blanket's bound from all combinations of the users' values of ``Z``."""
    values = np.append(known.first[0] - np.exp(epsilon) * known.second[0], 0.0)
    chances = np.append(known.chances, 1 - known.chances.sum())
    sums = reduce(np.add.outer, [values] * users)
    weights = reduce(np.multiply.outer, [chances] * users)
    return float((weights * np.maximum(sums, 0)).sum() / users)


@claim(
    "Shuffled reports against central Gaussian noise",
    shuffling.local_budget,
    shuffling.gaussian_deviation,
    histograms.central_laplace_count_variance,
    SampledCounts.rare_variance_realised_size,
    sampled.realised_size,
    shuffling.ShuffledReports.delta_lower,
    shuffling.ShuffledReports.delta_upper,
    shuffling.gaussian_delta,
    kind="certified",
    example=True,
    over="50,000 users, 101 values, delta 1e-6, a value that nobody holds; central budgets .1, 1 and 2, rates .02, .2 "
    "and 1; a budget of 4 at rate .2; a curator who adds noise to every count; central budgets are under "
    "replacement of one user's value, to whoever sees the shuffled reports, or the curator's counts, only",
    argument="lower and upper bounds on delta meet at the local budgets found; the variance of c-hat is exact",
)
def shuffled_against_gaussian(e: Evidence) -> str:
    """at equal central (epsilon, delta) shuffled reports of sampled users have less variance at a rare value than
    Gaussian noise at moderate rates, ever less as the budget grows; at a rate of .02 they have more at these budgets,
    and if everybody reports they have more above about .2 nats; a curator's Laplace noise, which needs no delta, has
    less variance than either at all of these budgets and rates, and more than the reports at a budget of 4
    """
    users, size, delta, ratios, laplace = 50_000, 101, 1e-6, {}, {}
    deviation = shuffling.gaussian_deviation(1.0, delta)
    e.same([shuffling.gaussian_delta(1.0, deviation=deviation), normal_delta(1.0, deviation)], [delta, delta], abs=0)
    for central, rate in (*product((0.1, 1.0, 2.0), (0.02, 0.2, 1.0)), (4.0, 0.2)):
        local = shuffling.local_budget(central, delta, users=users, rate=rate, domain_size=size)
        reports = shuffling.ShuffledReports(users, rate, KaryRandomisedResponse(local, size))
        e.same(reports.delta_lower(central), delta, rel=5e-3)
        e.same(reports.delta_upper(central), delta, rel=5e-3)
        variance = SampledCounts(users, rate, reports.mechanism).rare_variance_realised_size
        noise = histograms.central_laplace_count_variance(central)
        e.same(noise, 2 * (2 / central) ** 2)
        ratios[central, rate] = float(variance) / shuffling.gaussian_deviation(central, delta) ** 2
        laplace[central, rate] = float(variance / noise)
    one = all_reports((0,), (rate,), local, size)  # a user who holds another value
    estimates = sampled.realised_size(one.totals, sampling_rate=rate, mechanism=reports.mechanism)
    e.same(variance, users * one.variance(estimates)[1])
    e.needs(all(ratios[central, 0.2] < 1 < ratios[central, 0.02] for central in (0.1, 1.0, 2.0)))
    e.needs(ratios[2.0, 0.2] < ratios[1.0, 0.2] < ratios[0.1, 0.2] and ratios[0.1, 1.0] < 1 < ratios[1.0, 1.0])
    larger = laplace.pop((4.0, 0.2))
    e.needs(larger < 1 < min(laplace.values()))
    shown = [f"{ratios[c, 0.02]:.3f}, {ratios[c, 0.2]:.3f} and {ratios[c, 1.0]:.3f} at {c:g}" for c in (0.1, 1.0, 2.0)]
    return (
        f"variance over that of Gaussian noise at rates .02, .2 and 1: {'; '.join(shown)} (both bounds on delta meet); "
        f"over that of Laplace noise at rate .2 {laplace[0.1, 0.2]:.2f}, {laplace[1.0, 0.2]:.2f} and "
        f"{laplace[2.0, 0.2]:.2f}, at least {min(laplace.values()):.2f} in all nine, but {larger:.2f} at 4"
    )
