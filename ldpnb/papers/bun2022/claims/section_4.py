"""Section 4 and Appendix F of bun2022: sample sizes that depend on the data."""

from functools import partial

import numpy as np
from scipy import integrate

from ldpnb.claims import Evidence, claim
from ldpnb.deciders import ball
from ldpnb.papers.bun2022 import routes
from ldpnb.papers.bun2022.proofs import sections_2_to_4 as proofs
from ldpnb.privacy import data_dependent, lemmas, optimiser, rounding, subsampling

section_4 = partial(claim, kind="proof", reach="all parameters")


def _rounding_optimum(population: int, rate: float, epsilon: float) -> float:
    """Return the largest deletion loss over all mechanisms between `population` records and one more."""
    return routes.optimum(partial(routes.rounded_sample, rate=rate), population, epsilon, neighbours="deletion")


@section_4(
    "Section 4.1",
    data_dependent.size_count_loss,
    data_dependent.size_test_advantage,
    optimiser.largest_loss,
    optimiser.largest_size_test_advantage,
    over="epsilon > 0, every two sizes",
    reading="reconstructed",
    assumption="the formula of the loss is lost in the text; this is the loss of the noisy count it describes",
    argument="beyond both counts the Laplace densities have the ratio e^(epsilon |m - m'|), the largest that "
    "epsilon-deletion-DP allows (Lemma A.3)",
)
def section_4_1(e: Evidence) -> str:
    """if neighbours are given samples of sizes m and m', a noisy count of the sample loses epsilon |m - m'|"""
    e.proven(proofs.told_by_size() and proofs.best_size_test())
    first, second, epsilon = 5, 9, 0.5
    loss = data_dependent.size_count_loss(second - first, epsilon)
    e.same(loss, optimiser.largest_loss({(0,) * first: 1.0}, {(0,) * second: 1.0}, epsilon=epsilon).loss)
    advantages = [data_dependent.size_test_advantage(gap, epsilon) for gap in (4, 7)]
    programs = [optimiser.largest_size_test_advantage(*np.eye(gap + 1)[[gap, 0]], epsilon=epsilon) for gap in (4, 7)]
    e.same(advantages, programs, rel=1e-8)
    e.needs(loss > epsilon)
    return (
        f"every record by which the sizes differ costs epsilon more: {first} and {second} at epsilon {epsilon} lose "
        f"{loss:g}, the largest over all mechanisms; the best private test on the size has advantage "
        f"{advantages[0]:.4f} there (linear program; proven for every difference)"
    )


@section_4(
    "Proposition 4.1",
    data_dependent.advantage_bound,
    data_dependent.weak_advantage_bound,
    rounding.random_rounding_loss,
    optimiser.largest_loss,
    optimiser.largest_size_test_advantage,
    over="epsilon' > 0, every random size and every two neighbours",
    reading="reconstructed",
    assumption="the printed bound is not recoverable; e^epsilon' - 1 is weaker and holds too",
    argument="a test on the size of the sample is a mechanism on the sample, so its answer is epsilon'-DP",
)
def proposition_4_1(e: Evidence) -> str:
    """if sampling leaves every mechanism epsilon'-DP, no epsilon-DP test on the size has an advantage above
    (e^epsilon' - 1)/(e^epsilon' + 1)
    """
    e.proven(proofs.two_point_test())
    population, rate, epsilon = 3, 0.4, 1.0
    larger, smaller = (routes.rounded_sizes(n, rate) for n in (population + 1, population))
    loss = rounding.random_rounding_loss(population, rate, epsilon)
    e.same(loss, _rounding_optimum(population, rate, epsilon))
    advantage = optimiser.largest_size_test_advantage(larger, smaller, epsilon=epsilon)
    bound = data_dependent.advantage_bound(abs(loss))
    e.needs(advantage <= bound)
    attained = optimiser.largest_size_test_advantage([0, 1], [1, 0], epsilon=0.7)
    e.same(data_dependent.advantage_bound(0.7), attained, rel=1e-8)
    return (
        f"multipliers prove the bound, which sizes one apart attain ({attained:.4f} at epsilon 0.7, linear program); a "
        f"rounded size: {advantage:.4f} <= {bound:.4f}; necessary, not sufficient, since sizes ignore content"
    )


@section_4(
    "Proposition 4.2",
    data_dependent.size_error_lower_bound,
    data_dependent.size_squared_error_lower_bound,
    data_dependent.two_point_error,
    otherwise="corrected",
    corrected="alpha has to be the error of epsilon'-replacement-DP estimates, the privacy that the whole is supposed "
    "to have and that the proof uses, not of epsilon'-deletion-DP ones",
    over="epsilon and epsilon' > 0, every intended size and every random size that controls privacy; as worded it "
    "fails for every epsilon, with epsilon' = 2 epsilon",
    reading="reconstructed",
    assumption="which error is printed, mean absolute or squared, is not recoverable; both hold",
    argument="the noisy count of the sample is a private estimate of the intended size, so it errs by alpha somewhere; "
    "the triangle inequality, or for squares the independence of noise of mean 0, splits its error. As worded: a size "
    "that depends on the number of records alone is the same for replacement neighbours, hence 2 "
    "epsilon-replacement-DP",
)
def proposition_4_2(e: Evidence) -> str:
    """if epsilon-deletion-DP mechanisms become epsilon'-replacement-DP by a random size, and epsilon'-deletion-DP
    estimates of the intended size err by alpha, the random size is alpha - 1/epsilon away from it on some data set
    """
    e.proven(proofs.noise_of_the_count() and proofs.two_point_estimate())
    epsilon, after, gap = 1.0, 0.5, 10
    noise = [2 * integrate.quad(lambda y, k=k: y**k * epsilon * np.exp(-epsilon * y) / 2, 0, np.inf)[0] for k in (1, 2)]
    alpha = data_dependent.two_point_error(gap, after)
    bound = data_dependent.size_error_lower_bound(abs(alpha), epsilon)
    e.same(bound, gap / (1 + np.exp(after)) - noise[0])
    e.same(data_dependent.size_squared_error_lower_bound(20.0, epsilon), 20.0 - noise[1])
    sizes = np.arange(gap + 1)
    least = _least_error(np.exp(-epsilon * np.abs(sizes[:, None] - sizes[None, :])), after)
    e.sure(least >= bound - 1e-9)
    half = ball("0.5")
    missed = data_dependent.size_error_lower_bound(data_dependent.two_point_error(100, 2 * half), half)
    e.needs(not missed > 0)
    return (
        "as worded it fails: 100 of at least 100 records if their number is even, else none, is fixed by replacement, "
        f"2 epsilon-private and 0 from intended, where at epsilon 0.5 alpha - 1/epsilon is {float(missed.mid()):.4f}. "
        f"Corrected: intended sizes {gap} apart, epsilon 1, epsilon' 0.5: no pair of size laws whose noisy counts stay "
        f"within epsilon' errs by less than {least:.4f}, and the bound is {bound:.4f}"
    )


@section_4(
    "Appendix F",
    data_dependent.two_point_error,
    over="epsilon > 0, every gap between the values of two neighbours",
    assumption="the appendix's own bound is missing from the text; this is the two-point bound its sentence describes",
    argument="a mean over the estimate's law at one neighbour is at most e^epsilon times that at the other",
)
def appendix_f(e: Evidence) -> str:
    """how well a function can be estimated privately depends on its sensitivity: two neighbours already force an
    error
    """
    e.proven(proofs.two_point_estimate())
    cases = ((10, 0.5), (3, 0.5), (3, 1.0))
    closed = [data_dependent.two_point_error(*case) for case in cases]
    least = [_least_error(np.eye(gap + 1), epsilon) for gap, epsilon in cases]
    e.same(closed, least, rel=1e-8)
    e.needs(least[0] > least[1] > least[2] > 0)
    return (
        "multipliers prove that the worse error is at least gap/(1 + e^epsilon), and randomised response attains it; "
        f"linear programs agree (gap 10, epsilon 0.5: {closed[0]:.6f})"
    )


def _least_error(outputs: np.ndarray, epsilon: float) -> float:
    """Return the least worst-case mean error of two laws on ``0 .. gap``, meant to be 0 and `gap`.

    Their outputs stay within `epsilon`: row ``i`` of `outputs` weighs the numbers behind output ``i``, the identity if
    they are seen themselves, Laplace densities if noise is added. Whole outputs suffice for these: between whole
    numbers the difference of two densities is ``a e^y + b e^-y``, which cannot change sign twice.
    """
    from scipy.optimize import linprog

    count, ratio = len(outputs), np.exp(epsilon)
    numbers, none = np.arange(count), np.zeros(count)
    private = np.block([[outputs, -ratio * outputs], [-ratio * outputs, outputs]])
    errors = np.array([[*numbers, *none, -1], [*none, *numbers[::-1], -1]])
    sides = np.vstack([np.hstack([private, np.zeros((2 * count, 1))]), errors])
    total = [[*(none + 1), *none, 0], [*none, *(none + 1), 0]]
    cost = np.eye(2 * count + 1)[-1]
    found = linprog(cost, A_ub=sides, b_ub=np.zeros(len(sides)), A_eq=total, b_eq=np.ones(2), method="highs")
    return float(np.asarray(found.x)[-1])


@section_4(
    "Section 4.3 deterministic rounding",
    rounding.nearest_rounding_loss,
    lemmas.inserted_record_loss,
    lemmas.coupled_loss,
    optimiser.largest_loss,
    over=f"epsilon > 0, 0 < r < 1, {routes.DELETION}; where the size stays m at n and n + 1 records the loss "
    "exceeds epsilon exactly if m/(n+1) > 1/(1 + e^epsilon), so for large n if r does",
    argument="the size jumps at some n for every r, and the loss there is exactly epsilon; m/(n+1) tends to r",
)
def deterministic_rounding(e: Evidence) -> str:
    """rounding the sample size to the nearest whole number can never amplify privacy and may degrade it"""
    e.proven(proofs.nearest_rounding())
    jumps = ((7, 0.2, 0.5), (3, 0.4, 0.1))
    stays = [(4, 0.45, epsilon) for epsilon in (0.5, 1.0, 2.0)]
    closed = [rounding.nearest_rounding_loss(*case) for case in (*jumps, *stays)]
    for found, (population, rate, epsilon) in zip(closed, (*jumps, *stays), strict=True):
        e.same(found, routes.nearest_optimum(population, rate, epsilon))
    ratios = np.array([loss / epsilon for loss, (_, _, epsilon) in zip(closed, (*jumps, *stays), strict=True)])
    e.same(ratios[:2], np.ones(2))
    e.needs((ratios[2:] > 1).all())
    return (
        "where the size jumps the largest loss over all mechanisms is epsilon, so that the supremum is never below it; "
        f"elsewhere it may be more: 2 of 4 and 2 of 5 records (r = 0.45) lose {closed[2]:.4f}, {closed[3]:.4f} and "
        f"{closed[4]:.4f} at epsilon 0.5, 1 and 2"
    )


@section_4(
    "Section 4.3 randomised rounding",
    rounding.random_rounding_loss_supremum,
    rounding.random_rounding_loss,
    subsampling.srs_loss,
    optimiser.largest_loss,
    otherwise="corrected",
    corrected="it is always comparable, but it amplifies only up to a certain rate: the loss is at most epsilon at "
    "every population size if and only if r <= 1/(1 + e^epsilon), and so is that of a fixed size",
    over="epsilon > 0, 0 < r < 1",
    assumption="both are taken as losses of one epsilon-deletion-DP mechanism: deletion privacy for a rounded size, "
    "and Lemma B.1 or Theorem 2.2 at 2 epsilon for a fixed one",
    argument="the supremum over population sizes is that of Theorem 4.3",
)
def randomised_rounding(e: Evidence) -> str:
    """rounding at random guarantees an amplification comparable to that of simple random sampling"""
    e.proven(proofs.rounding_amplifies() and proofs.rounding_against_fixed_size())
    population, rate, epsilon = 4, 0.75, 0.5
    loss, most = _rounding_optimum(population, rate, epsilon), rounding.random_rounding_loss_supremum(rate, epsilon)
    e.same(rounding.random_rounding_loss(population, rate, epsilon), loss)
    edge = 1 / (1 + np.exp(epsilon))
    e.same(rounding.random_rounding_loss_supremum(edge, epsilon), epsilon)
    e.same(subsampling.srs_loss(2 * epsilon, edge), epsilon)
    e.needs(loss <= epsilon)
    return (
        "between 1/2 and 3/2 of the loss of a fixed size, for every r and epsilon; e^supremum - e^epsilon = "
        f"(1-r)(e^epsilon - 1)(r e^epsilon + r - 1): at epsilon {epsilon} rates up to {edge:.4f} amplify, and r = "
        f"{rate} loses {loss:.4f} between {population} and {population + 1} records (linear program), up to {most:.4f}"
    )


@section_4(
    "Theorem 4.3",
    rounding.random_rounding_loss,
    rounding.random_rounding_loss_supremum,
    rounding.random_rounding_bound,
    rounding.random_rounding_chain_bound,
    rounding.random_rounding_budget,
    rounding.random_rounding_chain_budget,
    lemmas.mixture_loss,
    lemmas.mixture_loss_product_form,
    optimiser.largest_loss,
    rounding.event_terms,
    over=f"epsilon > 0, 0 < r < 1, every n; {routes.DELETION}",
    reading="reconstructed",
    assumption="the printed constant is not recoverable (6, 7 or 8 by how the proof couples); all hold, and |P| >= 1/r "
    "is not needed",
    argument="the best event's chances come from couplings and are linear-fractional in one unknown, so extreme at its "
    "ends",
)
def theorem_4_3(e: Evidence) -> str:
    """rounding the size up at random leaves a loss of at most ln(1 + 2r(e^(2 epsilon) - 1)) + ln(1 + r(e^(2 epsilon) -
    1)), about 6 r epsilon for small epsilon
    """
    e.proven(proofs.random_rounding() and proofs.supremum_approached() and proofs.rounding_bounds())
    cases = ((3, 0.4, 0.5), (4, 0.3, 1.0), (4, 0.7, 0.8))
    most = [_rounding_optimum(*c) for c in cases]
    e.same([rounding.random_rounding_loss(*c) for c in cases], most)
    growths = [(r, np.expm1(2 * epsilon)) for _, r, epsilon in cases]
    e.needs(all(loss <= np.log1p(2 * r * g) + np.log1p(r * g) for loss, (r, g) in zip(most, growths, strict=True)))
    rate, epsilon = 0.25, 0.4
    supremum = rounding.random_rounding_loss_supremum(rate, epsilon)
    e.same(supremum, rounding.random_rounding_loss(4 * 10**11, rate, epsilon))
    proof = {"common": float(np.log1p(2 * rate * np.expm1(2 * epsilon))), "other": 2 * epsilon}
    e.same(rounding.random_rounding_bound(rate, epsilon), lemmas.mixture_loss_product_form(rate, **proof))
    chain = rounding.random_rounding_chain_bound(rate, epsilon)
    e.same(chain, lemmas.mixture_loss(rate, **proof))
    e.same(rounding.random_rounding_budget(abs(supremum), rate), epsilon)
    e.same(rounding.random_rounding_chain_budget(abs(chain), rate), epsilon)
    slopes = [f(0.1, 1e-6) / 1e-7 for f in (rounding.random_rounding_loss_supremum, rounding.random_rounding_bound)]
    return (
        "the exact loss (closed form = linear program) has the supremum ln(1 + r(1-r)(e^(2 epsilon) - 1) + r(e^epsilon "
        "- 1)), below the theorem for every r, epsilon and n: (3 - 2r) r epsilon for small epsilon instead of 6 r "
        f"epsilon, at r = 0.1 {slopes[0]:.3f} and {slopes[1]:.3f}"
    )
