"""Section 3 of bun2022: random, data-independent sample sizes."""

from functools import partial

import numpy as np

from ldpnb.claims import WORDS, Evidence, claim, within
from ldpnb.deciders import zeros
from ldpnb.designs import laws, sizes
from ldpnb.papers.bun2022 import routes
from ldpnb.papers.bun2022.proofs import sections_2_to_4 as proofs
from ldpnb.privacy import lemmas, optimiser, random_size, subsampling
from ldpnb.rng import stream

EVERY_LAW = f"epsilon > 0, every n, every law of the size but 0 for sure; {routes.BOTH}"
SYMMETRY = (
    "averaged over the order of the unchanged records, an event's chance depends on how many of them are drawn and on "
    "whether the changed one is"
)

section_3 = partial(claim, kind="proof", reach="all parameters", over=EVERY_LAW)


def _random_laws() -> list[tuple[sizes.SizeLaw, float]]:
    """Return laws on the sizes of a sample from three or four records, nearly fixed to spread, each with a budget."""
    rng = stream("laws of sample sizes", seed=3)
    listed = [rng.dirichlet(np.full(n + 1, spread)) for n in (3, 4) for spread in (0.2, 1.0, 5.0)]
    return [(sizes.size_law(law), epsilon) for law, epsilon in zip(listed, (0.1, 0.5, 1.5) * 2, strict=True)]


def _optimum(law: sizes.SizeLaw, epsilon: float) -> float:
    """Return the largest loss over all mechanisms when one of distinct records is replaced."""
    return routes.optimum(partial(laws.subsets_of_random_size, size_law=law.probabilities), law.population, epsilon)


def _tilted_mean(law: sizes.SizeLaw, epsilon: float) -> float:
    """Return ``E~`` by summing the definition."""
    m = np.arange(law.population + 1)
    weights = law.probabilities * np.exp(epsilon * m)
    return float(weights @ m / weights.sum() / law.population)


def _tail_loss(law: sizes.SizeLaw, epsilon: float, step: int) -> float:
    """Return the loss of a noisy sum's tail when one of ``n`` ones falls by `step`: from means of exponentials."""
    m, n = np.arange(law.population + 1), law.population
    whole = np.exp(epsilon * m)
    fallen = (1 - m / n) * whole + m / n * np.exp(epsilon * (m - step))
    return float(np.log(law.probabilities @ whole / (law.probabilities @ fallen)))


@section_3(
    "Section 1.1 characterisation",
    random_size.random_size_upper_bound,
    random_size.random_size_lower_bound,
    random_size.random_size_lower_bound_pm1,
    random_size.random_size_loss,
    optimiser.largest_loss,
    random_size.tilted_rate,
    otherwise="corrected",
    corrected="E~ determines the loss up to the factor e^(2 epsilon), so only for small epsilon; what always "
    "determines it is the effective rate, which a recursion over the sizes finds for every law",
    argument=SYMMETRY,
)
def characterisation(e: Evidence) -> str:
    """Theorem 3.1 characterises essentially completely, by the reweighted mean rate E~ of the size's law, what
    amplification is possible
    """
    e.proven(proofs.bounds_of_a_rate() and proofs.widest_gap() and proofs.one_rate_two_losses())
    near, most = WORDS["near"], float(np.log((np.sqrt(1 + 4 * WORDS["near"]) - 1) / 2))
    rare = sizes.size_law([1 - 1e-9, 1e-9]), most
    e.same(random_size.random_size_upper_bound(*rare) / random_size.random_size_lower_bound(*rare), near, rel=1e-6)
    (apart,) = zeros(lambda x: np.log1p(np.expm1(2 * x) / 2) - near * np.log(2 / (1 + np.exp(-2 * x))), "0.01", 10)
    shares = np.exp([4.0, -np.inf, 0.0])
    pair = (sizes.fixed_size(1, 2), 2.0), (sizes.size_law(shares / shares.sum()), 2.0)
    bounds = random_size.random_size_upper_bound(*pair[0]), random_size.random_size_lower_bound_pm1(*pair[1])
    one, other = (random_size.random_size_loss(*case) for case in pair)
    e.same([(one, other), bounds], [[_optimum(*case) for case in pair]] * 2)
    e.needs(within("near", one, other))
    return (
        f"the source's bounds are near for every law exactly up to epsilon {most:.4f}, their ratio between 2 and "
        f"e^epsilon (e^epsilon + 1); one of two records, and none or both, with E~ = 1/2, lose {one:.4f} and "
        f"{other:.4f} at epsilon 2, are not near beyond {float(apart.mid()):.4f}, and tend to 2 epsilon - ln 2 and ln 2"
    )


@section_3(
    "Section 3 maximum",
    random_size.random_size_upper_bound,
    random_size.random_size_loss,
    subsampling.srs_loss,
    optimiser.largest_loss,
    argument="term by term M/n - E~ is a mean of (M - m)/n; " + SYMMETRY,
)
def largest_size(e: Evidence) -> str:
    """a sample of random size loses no more than one of fixed size, the largest that its law allows"""
    e.proven(proofs.largest_size_decides() and proofs.random_size_from_above())
    law, epsilon = sizes.size_law([0.3, 0.2, 0.5, 0.0, 0.0]), 0.8
    fixed = (sizes.fixed_size(2, 4), epsilon)
    e.same(random_size.random_size_loss(law, epsilon), _optimum(law, epsilon))
    e.same([random_size.random_size_loss(*fixed), subsampling.srs_loss(2 * epsilon, 0.5)], [_optimum(*fixed)] * 2)
    e.needs(random_size.random_size_loss(law, epsilon) <= random_size.random_size_loss(*fixed))
    return (
        f"E~ <= M/n, at which the bound is that of the fixed size M; 0 to 2 of 4 records at epsilon 0.8 lose "
        f"{random_size.random_size_loss(law, epsilon):.4f}, 2 of 4 {random_size.random_size_loss(*fixed):.4f}"
    )


@section_3(
    "Theorem 3.1 upper bound",
    random_size.random_size_upper_bound,
    random_size.random_size_loss,
    random_size.tilted_rate,
    lemmas.largest_tilted_mean,
    optimiser.largest_loss,
    reading="reconstructed",
    assumption=routes.NOT_PRINTED,
    argument=SYMMETRY + "; one more unchanged record costs e^epsilon at most, and Lemma B.3 does the rest",
)
def theorem_3_1_upper(e: Evidence) -> str:
    """a sample of random size loses at most ln(1 + (e^(2 epsilon) - 1) E~), E~ the mean rate reweighted by e^(epsilon
    m)
    """
    e.proven(proofs.reweighted_rate() and proofs.tilting() and proofs.random_size_from_above())
    cases, fixed = _random_laws(), (sizes.fixed_size(2, 4), 0.5)
    exact = [random_size.random_size_loss(*case) for case in cases]
    e.same(exact, [_optimum(*case) for case in cases])
    e.same([random_size.tilted_rate(*case) for case in cases], [_tilted_mean(*case) for case in cases])
    e.same(random_size.random_size_upper_bound(*fixed), _optimum(*fixed))
    slack = np.array([random_size.random_size_upper_bound(*case) for case in cases]) - exact
    e.needs((slack >= -1e-12).all())
    return (
        f"optimum over all mechanisms (linear program = O(n) recursion) below the bound by {slack.min():.4f} to "
        f"{slack.max():.4f} for {len(cases)} random laws, equal to it for a fixed size"
    )


@section_3(
    "Theorem 3.1 lower bound",
    random_size.random_size_lower_bound,
    random_size.random_size_lower_bound_pm1,
    optimiser.largest_loss,
    random_size.random_size_loss,
    reading="reconstructed",
    assumption=routes.NOT_PRINTED,
    argument="the tail of a Laplace noisy sum, beyond all sums, has a chance proportional to e^(epsilon s) if the "
    "sum is s",
)
def theorem_3_1_lower(e: Evidence) -> str:
    """some mechanism and populations reach -ln(1 - (1 - e^-epsilon) E~)"""
    e.proven(proofs.random_size_from_below())
    cases = [*_random_laws(), (sizes.truncated_gaussian_size(20, 5.0, 2.0), 0.5)]
    lower = np.array([random_size.random_size_lower_bound(*case) for case in cases])
    improved = np.array([random_size.random_size_lower_bound_pm1(*case) for case in cases])
    e.same(lower, [_tail_loss(*case, 1) for case in cases])  # the proof's noisy sum: ones against a zero
    e.same(improved, [_tail_loss(*case, 2) for case in cases])  # ones against a minus one
    optima = [_optimum(*case) for case in cases[:6]]
    e.same([random_size.random_size_loss(*case) for case in cases[:6]], optima)
    e.needs((improved[:6] <= np.array(optima) + 1e-12).all())
    return (
        f"the noisy sum's tail loses exactly the bound ({lower[6]:.6f} at n = 20); with a record +1 that turns -1 the "
        f"same sum loses {improved[6]:.6f}, always more and at most the optimum over all mechanisms"
    )


@section_3(
    "Theorem 3.1 small epsilon",
    random_size.random_size_upper_bound,
    random_size.random_size_lower_bound,
    random_size.random_size_lower_bound_pm1,
    reading="reconstructed",
    assumption="what both bounds come to is lost in the text; it is read as an order of magnitude, since as an "
    "equation it would be off by a factor of 2",
)
def theorem_3_1_small_epsilon(e: Evidence) -> str:
    """for small epsilon the upper and the lower bound are of the same order, epsilon E~"""
    e.proven(proofs.bounds_of_a_rate())
    law, tiny = sizes.truncated_gaussian_size(100, 20.0, 4.0), 1e-7
    scale = tiny * _tilted_mean(law, tiny)
    upper = random_size.random_size_upper_bound(law, tiny) / scale
    lower = random_size.random_size_lower_bound(law, tiny) / scale
    improved = random_size.random_size_lower_bound_pm1(law, tiny) / scale
    tails = [_tail_loss(law, 1e-4, step) / (1e-4 * _tilted_mean(law, 1e-4)) for step in (1, 2)]
    e.same([upper, lower, improved], [2, 1, 2], rel=1e-5)
    e.same(tails, [1, 2], rel=1e-3)
    e.needs(within("near", upper, lower))
    return (
        "2 epsilon E~ <= upper <= (e^(2 epsilon) - 1) E~ and (1 - e^-epsilon) E~ <= lower <= epsilon E~ for every law, "
        "so the upper is always at least twice the lower bound; in units of epsilon E~, as epsilon -> 0: "
        f"{upper:.5f} and {lower:.5f}, and {improved:.5f} for the improved lower bound -ln(1 - (1 - e^(-2 epsilon)) "
        "E~), from a record +1 that turns -1, which closes the gap"
    )


@section_3(
    "Section 3 tails",
    random_size.random_size_upper_bound,
    random_size.random_size_lower_bound_pm1,
    random_size.random_size_loss,
    random_size.tilted_rate,
    optimiser.largest_log_ratio,
    over="epsilon > 0, every chance p > 0 of the whole data set beside any smaller size; every law with ln E e^(s (m - "
    "mu)) <= s^2 v/2 for all s, positive and negative, so that mu is its mean, and mu + 2 epsilon v < n; "
    f"{routes.BOTH}",
    argument="n E~ is the slope at epsilon of ln E e^(s m), which is convex and at least s mu",
)
def tails(e: Evidence) -> str:
    """a small chance of the whole data set can be enough to rule amplification out; a light-tailed (subgaussian) law
    concentrated far below n allows it
    """
    e.proven(proofs.heavy_tail() and proofs.short_of_the_whole() and proofs.light_tail())
    epsilon, chance, n, m = 1.5, 1e-3, 12, 2
    heavy = sizes.size_law({m: 1 - chance, n: chance})
    missing = float(np.log1p(np.expm1(2 * epsilon) * (1 - chance) / chance * np.exp((m - n) * epsilon)))
    loss = random_size.random_size_loss(heavy, epsilon)
    e.same(loss, _reduced_program(heavy, epsilon))
    e.needs(2 * epsilon - missing <= random_size.random_size_lower_bound_pm1(heavy, epsilon) <= loss + 1e-12)
    light, mild = sizes.binomial_size(50, 0.1), 0.5  # v is at most n/4
    rate, most = random_size.tilted_rate(light, mild), (5 + 2 * mild * 50 / 4) / 50
    e.same(rate, _tilted_mean(light, mild))
    e.needs(rate <= most < 1)
    return (
        "loss >= 2 epsilon - ln(1 + (e^(2 epsilon) - 1)(1 - p)/(p e^(epsilon (n - m)))): "
        f"{loss:.4f} of {2 * epsilon:g} for {m} of {n} records, or all of them with chance {chance:g}, at epsilon "
        f"{epsilon:g}; n E~ <= mu + 2 epsilon v: binomial sizes of mean 5 of 50 have E~ {rate:.4f} <= {most:.4f} at "
        f"epsilon {mild:g}"
    )


@section_3(
    "Figure 2",
    random_size.random_size_loss,
    random_size.random_size_lower_bound_pm1,
    random_size.tilted_rate,
    optimiser.largest_log_ratio,
    subsampling.srs_loss,
    over="epsilon > 0, every n, mean mu <= n/2 before truncation and deviation sigma with n (e^s - 1) >= (e^(2 "
    "epsilon) - 1)/(e^(2 epsilon/11) - 1), s = epsilon - (n - mu)/sigma^2 > 0",
    reading="reconstructed",
    assumption="the figure's parameters and its limit are lost in the text; the limit is read as the mechanism's own "
    "loss under replacement, 2 epsilon (epsilon is the limit for the proof's ones and zeros only)",
    argument="weights that fall at least geometrically from size n downwards have at most the geometric law's mean of "
    "n - m, by Lemma B.3's exchange of pairs; of m and n - m the smaller is at least as likely if mu <= n/2",
)
def figure_2(e: Evidence) -> str:
    """for a truncated Gaussian size the loss comes close to the mechanism's own as the deviation grows, while the mean
    rate is still far from 1
    """
    e.proven(proofs.shrinking_weights() and proofs.short_of_the_whole() and proofs.about_the_whole())
    n, mean, epsilon = 40, 8.0, 0.5
    deviations = np.array([1.0, 2.0, 10.0, 15.0, 20.0])
    listed = [sizes.truncated_gaussian_size(n, mean, deviation) for deviation in deviations]
    exact = np.array([random_size.random_size_loss(law, epsilon) for law in listed])
    e.same(exact, [_reduced_program(law, epsilon) for law in listed])
    e.same([random_size.tilted_rate(law, epsilon) for law in listed], [_tilted_mean(law, epsilon) for law in listed])
    fixed = random_size.random_size_loss(sizes.truncated_gaussian_size(n, mean, 0.1), epsilon)
    e.same(fixed, subsampling.srs_loss(2 * epsilon, mean / n))
    steep = epsilon - (n - mean) / deviations[2:] ** 2
    falls = [np.diff(law.log_probabilities).min() + epsilon for law in listed[2:]]  # per record less, reweighted
    e.sure((np.array(falls) >= steep).all())
    floors = 2 * epsilon - np.log1p(np.expm1(2 * epsilon) / (n * np.expm1(steep)))
    rates = [law.probabilities @ np.arange(n + 1) / n for law in listed[2:]]
    e.needs((exact[2:] >= floors).all())
    e.sure(n * np.expm1(steep[2]) >= np.expm1(2 * epsilon) / np.expm1(2 * epsilon / 11))
    e.needs(within("about", exact[3:], 2 * epsilon) and max(rates) < 0.5)
    coins = [sizes.truncated_gaussian_size(1, 0.5, deviation) for deviation in (1.0, 100.0)]
    e.same([random_size.random_size_loss(coin, epsilon) for coin in coins], [epsilon] * 2)
    e.sure(exact[1] < exact[0] < fixed)
    return (
        "with s = epsilon - (n - mu)/sigma^2 > 0 the loss is at least 2 epsilon - ln(1 + (e^(2 epsilon) - 1)/(n (e^s - "
        "1))), so about 2 epsilon, at a mean rate of at most 1/2, where n is that large; never 2 epsilon itself, and "
        f"one record of mean 1/2 loses epsilon at any deviation; n = {n}, mean {mean:g}, epsilon {epsilon}: exact loss "
        f"{fixed:.4f}, "
        f"{', '.join(f'{loss:.4f}' for loss in exact)} at deviations "
        f"0.1, {', '.join(f'{d:g}' for d in deviations)}, the last three at a mean rate of "
        f"{', '.join(f'{rate:.2f}' for rate in rates)}; a little randomness in the size lowers the loss first"
    )


def _reduced_program(law: sizes.SizeLaw, epsilon: float) -> float:
    """Return the largest loss by a linear program over an event's chances given the unchanged records in the sample."""
    n, t = law.population, law.probabilities
    m = np.arange(n)
    alone, joined = t[:-1] * (1 - m / n), t[1:] * (m + 1) / n
    first, second = alone + np.exp(epsilon) * joined, alone + np.exp(-epsilon) * joined
    apart = np.abs(m[:, None] - m[None, :])
    near = np.where(apart <= 1, epsilon * apart, np.inf)
    loss, _ = optimiser.largest_log_ratio(first / first.sum(), second / second.sum(), near)
    return float(loss + np.log(first.sum() / second.sum()))
