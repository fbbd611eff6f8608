"""Check the claims of Section 4 of Bun and others (2022), on sizes that depend on the data."""

from itertools import product
from typing import Any

import numpy as np
import sympy

from ldpnb.arithmetic import Floats, Symbol
from ldpnb.claims import Evidence, Numbers, agree
from ldpnb.deciders import derivative, identity, oo, positive, replaced, symbols
from ldpnb.designs import laws, strata
from ldpnb.papers.bun2022.formulas import data_dependent, rounding
from ldpnb.papers.bun2022.shared import BUDGET, EVERY, SHARE, eps, p, ratio, small, t, x
from ldpnb.privacy import lemmas, optimiser, subsampling
from ldpnb.rng import stream

ROUNDED = ((3, 0.4, 0.5), (4, 0.3, 1.0), (4, 0.7, 0.8), (4, 0.75, 0.5), (3, 0.4, 1.0))
"""Cases of a size that is rounded at random: the number of records, the rate, and epsilon."""


def rounded_sizes(population: int, rate: float) -> Floats:
    """Return the law of the sample's size ``rate x population``, rounded at random."""
    return np.maximum(1 - np.abs(np.arange(population + 1) - rate * population), 0)


def rounded_sample(records: list[Any], rate: float) -> laws.Law:
    """Return the law of a simple random sample of that share, its size rounded at random."""
    return laws.subsets_of_random_size(records, rounded_sizes(len(records), rate))


def nearest_sample(records: int, rate: float) -> laws.Law:
    """Return the law of a simple random sample of that share, its size rounded to the nearest."""
    size = int(np.floor(rate * records + 0.5))
    return laws.subsets(range(records), size)


def told_by_size() -> bool:
    """Show that a noisy count loses ``eps`` for every record by which the sizes differ."""
    (gap,) = symbols("gap")
    one = np.exp(data_dependent.size_count_loss(1, eps))
    many = np.exp(data_dependent.size_count_loss(gap, eps))
    more = np.exp(data_dependent.size_count_loss(gap + 1, eps))
    return identity(one, t) and identity(more, t * many)


def random_rounding() -> bool | None:
    """Show that no population size loses more than the supremum of Theorem 4.3.

    This is shown in either direction, and whether or not the floor of the size moves. `event_terms`
    are the probabilities of the best event. Let ``a_k`` and ``c_k`` be its mean probabilities over
    samples of ``k`` records without and with the new one. Couplings give ``c_k <= t a_(k-1)``,
    ``c_k <= t^2 a_k``, ``a_(k+1) <= t a_k`` and their mirror images, and the ratio is
    linear-fractional in ``a_(m+1)``, so extreme at its ends. What has to be positive is linear in
    ``1/(n+1)``: its ends are ``n = infinity`` and the least ``n``, where ``m = 0``.
    """
    supremum = np.exp(rounding.random_rounding_loss_supremum(p, eps))
    if not identity(supremum, 1 + p * (1 - p) * (t**2 - 1) + p * (t - 1)):
        return False
    return all(
        is_below_supremum(floor_moves=floor_moves, least_population=least, up=up, end=end)
        for floor_moves, least, up, end in product((True, False), (True, False), (1, -1), (1, -1))
    )


def is_below_supremum(*, floor_moves: bool, least_population: bool, up: int, end: int) -> bool:
    """Show that the best event loses at most the supremum, in one case of `random_rounding`.

    Parameters
    ----------
    floor_moves : bool
        Whether the whole part of the size grows with the new record.
    least_population : bool
        Whether ``n`` is the least population (``m = 0``) rather than infinite.
    up : {1, -1}
        The direction: whether the new record makes the event more or less likely.
    end : {1, -1}
        The end at which ``a_(m+1)`` is: ``t^end a_m``.
    """
    part = 1 - p * x if floor_moves else (1 - p) * x
    share = p / (part + p) if least_population else Symbol(0)  # 1/(n+1), where n = (m + part)/p
    mu = p - (part + p) * share
    nu = p + (1 - part - p) * share
    weights, logs, gains, steps = rounding.event_terms(
        part, p, mu, nu, up * eps, end * eps, moves=floor_moves
    )

    here = 1 - part + part * np.exp(end * eps)
    there = sum(w * ratio(log) for w, log in zip(weights, logs, strict=True))
    gain = sum(w * (ratio(log) - 1) for w, log in zip(gains, steps, strict=True))
    if not identity(gain, there - here):
        return False

    supremum = np.exp(rounding.random_rounding_loss_supremum(p, eps))
    room = supremum * here - there if up > 0 else supremum * there - here
    return positive(room, BUDGET | {p: SHARE, x: SHARE}) is True


def rounding_bounds() -> bool | None:
    """Show that the supremum is below the bound by the tight lemma, and that below Theorem 4.3's.

    For small epsilon they are ``3 - 2r``, ``6 - 4r`` and 6 times ``r eps``.
    """
    slopes_at_zero = {
        rounding.random_rounding_loss_supremum: 3 - 2 * p,
        rounding.random_rounding_chain_bound: 6 - 4 * p,
        rounding.random_rounding_bound: 6,
    }
    for form, factor in slopes_at_zero.items():
        slope = replaced(derivative(form(p, small), small), small, 0)
        if not identity(slope, p * factor):
            return False

    supremum = np.exp(rounding.random_rounding_loss_supremum(p, eps))
    chained = np.exp(rounding.random_rounding_chain_bound(p, eps))
    printed = np.exp(rounding.random_rounding_bound(p, eps))
    box = BUDGET | {p: SHARE}
    return (
        identity(chained, 1 + p * (3 - 2 * p) * (t**2 - 1))
        and positive(chained - supremum, box)
        and positive(printed - chained, box)
    )


def section_4_1(e: Evidence) -> Numbers:
    e.proven(told_by_size())

    # Probabilities first, low, high, last of a yes with first >= low/power and 1 - last >= (1 -
    # high)/power. Here high = low if the gap is even, and high - low <= (t-1)/(t+1) if it is odd.
    first, last, low, high, power = symbols("first last low high power")
    slack = (first - low / power) + ((1 - last) - (1 - high) / power)
    even = 1 - 1 / power
    odd = 1 - 2 / (power * (t + 1))
    e.proven(identity(slack + (low - high) / power, even - (last - first)))
    e.proven(identity(slack + ((t - 1) / (t + 1) - (high - low)) / power, odd - (last - first)))

    # The closed form has these values.
    advantage = {gap: data_dependent.size_test_advantage(gap, eps) for gap in range(8)}
    e.proven(identity(advantage[0], 0))
    e.proven(identity(advantage[1], (t - 1) / (t + 1)))
    for gap in range(6):
        e.proven(identity(1 - advantage[gap + 2], (1 - advantage[gap]) / t))

    one = data_dependent.size_count_loss(1, 0.5)
    random = rounding.random_rounding_loss(20, 0.1, 0.5)
    e.needs(one >= 0.5)
    e.sure(random < 0.5)
    return {
        "one": one,
        "loss": data_dependent.size_count_loss(4, 0.5),
        "random": random,
        "advantage": data_dependent.size_test_advantage(4, 0.5),
    }


def proposition_4_1(e: Evidence) -> Numbers:
    # Probabilities g and h of an answer: the slack is that of g <= t h and 1 - h <= t (1 - g).
    g, h = symbols("g h")
    bound = data_dependent.advantage_bound(eps)
    weak = data_dependent.weak_advantage_bound(eps)
    slack = (t * h - g) + (t * (1 - g) - (1 - h))
    e.proven(identity(bound - (g - h), slack / (t + 1)))
    e.proven(identity(bound, t / (t + 1) - 1 / (t + 1)))
    e.proven(identity(weak, t - 1))
    e.proven(positive(weak - bound, BUDGET))

    # A share of three or four records, rounded at random.
    larger = rounded_sizes(4, 0.4)
    smaller = rounded_sizes(3, 0.4)
    advantage = optimiser.largest_size_test_advantage(larger, smaller, epsilon=1.0)
    loss = abs(rounding.random_rounding_loss(3, 0.4, 1.0))
    allowed = data_dependent.advantage_bound(loss)
    e.needs(advantage <= allowed)

    best = data_dependent.advantage_bound(1.0)
    first_bound = data_dependent.weak_advantage_bound(1.0)
    e.needs(best <= first_bound)
    return {"best": best, "weak": first_bound, "advantage": advantage, "bound": allowed}


def extension(channel: Floats, records: int, epsilon: float) -> dict[tuple[int, int], Floats]:
    """Return an estimate from any data set that is a given one if there are ``records`` records.

    Parameters
    ----------
    channel : numpy.ndarray, shape (answers, records + 1)
        The probability of each answer, by the number of records that are 1; the others are 0. The
        estimate is epsilon-replacement-DP.
    records : int
        The number of records.
    epsilon : float
        Its budget, in nats.

    Returns
    -------
    dict
        The probabilities of the answers, by the numbers of zeros and of ones, up to two records
        more. The logarithms change by at most ``epsilon / 2`` per record before they are
        normalised.
    """
    known = np.arange(records + 1)
    extended = {}
    for zeros, ones in product(range(records + 3), repeat=2):
        steps = np.abs(records - known - zeros) + np.abs(known - ones)
        least = (channel * np.exp(steps * epsilon / 2)).min(axis=1)
        extended[zeros, ones] = least / least.sum()
    return extended


def proposition_4_2(e: Evidence) -> Numbers:
    # The mean size and the mean square of Laplace noise.
    alpha, y = symbols("alpha y")
    size = y.expression
    density = (small * np.exp(-small * y)).expression
    mean = Symbol(sympy.integrate(size * density, (size, 0, oo)))
    square = Symbol(sympy.integrate(size**2 * density, (size, 0, oo)))
    e.decides(identity(data_dependent.size_error_lower_bound(alpha, small), alpha - mean))
    e.decides(identity(data_dependent.size_squared_error_lower_bound(alpha, small), alpha - square))

    # Two data sets whose intended sizes differ by gap: `across`, the mean distance from the second
    # size on the first data set's neighbour, is at most t times `here`, and across + there >= gap.
    gap, here, there, across = symbols("gap here there across")
    forced = data_dependent.two_point_error(gap, eps)
    slack = ((t * here - across) + (across + there - gap)) / (t + 1)
    e.proven(identity((t * here + there) / (t + 1) - forced, slack))
    further = data_dependent.two_point_error(gap + x, eps)
    e.decides(positive(further - forced, BUDGET | {x: EVERY, gap: EVERY}))

    # An estimate from three records that is private under replacement, and its extension.
    epsilon = 0.5
    weights = stream("an estimate", seed=4).dirichlet(np.ones(6))
    away = np.abs(np.subtract.outer(np.arange(6), np.arange(4)))
    channel = weights[:, None] * np.exp(-epsilon / 2 * away)
    channel /= channel.sum(axis=0)
    e.sure(np.abs(np.diff(np.log(channel))).max() <= epsilon)

    extended = extension(channel, 3, epsilon)
    for ones in range(4):
        e.same(extended[3 - ones, ones], channel[:, ones])
    for (zeros, ones), chances in extended.items():
        for larger in ((zeros + 1, ones), (zeros, ones + 1)):
            if larger in extended:
                e.sure(np.abs(np.log(extended[larger] / chances)).max() <= epsilon + 1e-12)

    # Replacement neighbours are two deletions apart.
    error = data_dependent.two_point_error(10, 2 * 0.5)
    sharper = data_dependent.two_point_error(10, 0.5)
    mixed = data_dependent.two_point_error(100, 1.0)
    e.sure(error < sharper)
    return {
        "alpha": error,
        "bound": data_dependent.size_error_lower_bound(error, 1.0),
        "sharper": data_dependent.size_error_lower_bound(sharper, 1.0),
        "mixed": data_dependent.size_error_lower_bound(mixed, 0.5),
    }


def section_4_3_deterministic_rounding(e: Evidence) -> Numbers:
    # m of n records and m + 1 of n + 1 couple within one step, and a count attains eps.
    e.proven(identity(np.exp(lemmas.coupled_loss(1, eps)), t))

    # Where the size stays m, the loss exceeds eps exactly if m/(n + 1) > 1/(1 + t).
    m, n = symbols("m n")
    factor = np.exp(lemmas.inserted_record_loss(m, n, eps))
    e.proven(identity(factor - t, (t - 1) * (m / (n + 1) * (t + 1) - 1)))

    # From 7 records to 8 the size jumps from 1 to 2; from 4 to 5 it stays 2.
    cases = {
        "jump": (7, 0.2, 0.5),
        "half": (4, 0.45, 0.5),
        "one": (4, 0.45, 1.0),
        "two": (4, 0.45, 2.0),
    }
    losses = {}
    for name, (records, rate, epsilon) in cases.items():
        losses[name] = rounding.nearest_rounding_loss(records, rate, epsilon)
        worst = optimiser.largest_loss(
            nearest_sample(records, rate), nearest_sample(records + 1, rate), epsilon=epsilon
        )
        e.same(losses[name], worst.loss)

    e.needs(agree(losses.pop("jump"), 0.5))
    e.needs(losses["half"] > 0.5)
    e.needs(losses["one"] > 1)
    e.needs(losses["two"] > 2)
    return losses


def section_4_3_randomised_rounding(e: Evidence) -> Numbers:
    most = np.exp(rounding.random_rounding_loss_supremum(p, eps))
    fixed = np.exp(subsampling.srs_loss(2 * eps, p))

    # Between 1/2 and 3/2 of the loss of a fixed size.
    e.proven(identity(most - 1, (1 - p + 1 / (t + 1)) * (fixed - 1)))
    e.decides(positive(most**2 - fixed, BUDGET | {p: SHARE}))
    e.decides(positive(fixed**3 - most**2, BUDGET | {p: SHARE}))

    # Either loses more than eps exactly where this is positive.
    excess = (t - 1) * (p * (t + 1) - 1)
    e.proven(identity(most - t, (1 - p) * excess))
    e.proven(identity(fixed - t, excess))

    # Of a share m + part: up to m + 1 records, and the nearest is at least m + part - 1/2.
    m, part = symbols("m part")
    e.decides(positive(2 - ((m + 1) - (m + part - Symbol("1/2"))), {m: EVERY, part: SHARE}))
    shares = np.arange(1, 97) / 8
    nearest = strata.rounded_shares(shares)
    e.same(nearest, np.floor(shares + 0.5))
    more = (np.ceil(shares) - nearest).max()
    e.needs(more <= 1)

    loss = rounding.random_rounding_loss(4, 0.75, 0.5)
    supremum = rounding.random_rounding_loss_supremum(0.75, 0.5)
    e.sure(0.5 < loss < supremum)
    return {"edge": 1 / (1 + np.exp(0.5)), "loss": loss, "most": supremum, "more": more}


def theorem_4_3(e: Evidence) -> Numbers:
    e.decides(random_rounding())
    e.decides(rounding_bounds())

    # If r n is whole and n grows, part = 0 and both shares tend to r: so does the loss to its
    # supremum.
    weights, logs, *_ = rounding.event_terms(0, p, p, p, eps, eps, moves=False)
    most = np.exp(rounding.random_rounding_loss_supremum(p, eps))
    tail = sum(w * ratio(log) for w, log in zip(weights, logs, strict=True))
    e.proven(identity(tail, most))

    for population, rate, epsilon in ROUNDED:
        exact = rounding.random_rounding_loss(population, rate, epsilon)
        e.needs(exact <= rounding.random_rounding_bound(rate, epsilon))

    unit = 0.1 * 1e-6
    return {
        "exact": rounding.random_rounding_loss_supremum(0.1, 1e-6) / unit,
        "bound": rounding.random_rounding_bound(0.1, 1e-6) / unit,
    }
