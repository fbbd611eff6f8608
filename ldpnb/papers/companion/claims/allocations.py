"""Allocations of a stratified sample under privacy."""

import numpy as np

from ldpnb.accuracy import allocation, best_allocation
from ldpnb.claims import Evidence, claim
from ldpnb.papers.companion import proofs
from ldpnb.privacy import subsampling


@claim(
    "A secret lottery over allocations",
    allocation.Outcomes.noise_scale,
    allocation.Outcomes.variances,
    subsampling.srs_budget,
    subsampling.srs_loss,
    kind="certified",
    example=True,
    over="two strata of three records that hold 0 or 1, three draws, one at least from each, at five budgets; in the "
    "tail of the outputs, where the loss is largest there, for every epsilon > 0",
    argument="a fixed allocation's least noise is in closed form; by symmetry the lottery's sampling variance is "
    "largest where that of its parts is. An output that reveals the allocation loses as much as the part that loses "
    "most",
)
def secret_lottery(e: Evidence) -> str:
    """a secret fair lottery of two allocations can need less noise, and have a smaller largest variance at equal
    privacy, than every fixed allocation; if the output reveals which one was drawn, it has the variance of its parts
    """
    e.proven(proofs.lottery_needs_less_noise())
    family, parts, budgets = allocation.Family((3, 3), (1.0, 1.0)), ((1, 2), (2, 1)), (0.1, 0.3, 1.0, 1.5, 3.0)
    fixed = [allocation.outcomes(family, allocation.fixed(part)) for part in parts]
    drawn = allocation.outcomes(family, allocation.lottery(*parts, 0.5))
    sampling = [float(found.variances().max()) for found in (*fixed, drawn)]
    e.same(sampling, [(1 - 1 / 3 + 1 / 2 - 1 / 3) / 12] * 3)
    known = [[found.noise_scale(b) for b in budgets] for found in fixed]
    e.same(known, [[0.5 / subsampling.srs_budget(b, 1 / 3) for b in budgets]] * 2)
    secret = [drawn.noise_scale(b) for b in budgets]
    e.same(secret, [_tail_scale(b) for b in budgets])
    totals = [sampling[0] + 2 * np.square(scales) for scales in (known[0], secret)]
    e.needs((totals[1] < totals[0]).all())
    return (
        f"at epsilon 0.3 the largest variance is {totals[1][1]:.4f} by the lottery of (1, 2) and (2, 1) against "
        f"{totals[0][1]:.4f} by either, and by a lottery that is revealed; at 3 it is {totals[1][4]:.4f} against "
        f"{totals[0][4]:.4f} (all populations, neighbours and outputs enumerated; the tail's closed form agrees)"
    )


@claim(
    "The best rule looks at the data, at random",
    best_allocation.best_rule,
    allocation.Outcomes.noise_scale,
    allocation.Outcomes.variances,
    best_allocation.best_fixed_variance,
    kind="certified",
    example=True,
    over="strata of two or three records that hold 0 or 1, three draws, epsilon .1 and 1.5; all rules, "
    "data-dependent or not, with Laplace noise on the weighted mean; deterministic ones also with four draws, strata "
    "of up to four",
    argument="at a noise scale the best rule is a linear program; its value falls with the scale, which bounds what "
    "lies between two scales. A deterministic rule is a choice per population, which only neighbours constrain",
)
def best_rule_looks(e: Evidence) -> str:
    """in general only a randomised allocation rule that looks at the data is best under privacy: its largest variance
    is smaller than that of every data-independent lottery at epsilon 1.5, and hardly smaller at .1; of the
    deterministic rules that look at the data none beats the best fixed allocation
    """
    ratios, searched = {}, 0.0
    for sizes in ((2, 2), (3, 2), (3, 3)):
        family = allocation.Family(sizes, (1.0, 1.0))
        for epsilon in (0.1, 1.5):
            blind, looks = (best_allocation.best_rule(family, 3, epsilon, looks=look) for look in (False, True))
            for best in (blind, looks):
                found = allocation.outcomes(family, best.rule(family))
                off = (found.values - (found.chances @ found.values)[:, None]) ** 2
                e.same(found.variances(), (found.chances * off).sum(axis=1))
                e.same(found.variances().max() + 2 * found.noise_scale(epsilon) ** 2, best.variance, rel=1e-7)
                e.sure(best.variance * 0.998 < best.lower_bound <= best.variance)
            ratios[sizes, epsilon] = looks.variance / blind.lower_bound, looks.lower_bound / blind.variance
            if sizes == (3, 3) and epsilon == 1.5:
                shown = f"{looks.variance:.4f} against {blind.variance:.4f} of the best lottery, strata (3, 3)"
    for family, total in _families():
        for epsilon in (0.1, 0.3, 1.5, 5.0):
            least = best_allocation.best_fixed_variance(family, total, epsilon)
            e.sure(best_allocation.deterministic_rule_below(family, total, epsilon, least * (1 + 1e-6)))
            e.needs(not best_allocation.deterministic_rule_below(family, total, epsilon, least * (1 - 1e-6)))
        searched += float(min(total - 1, *family.sizes)) ** len(family.populations)
    e.needs(all(high < 0.99 for (_, epsilon), (high, _) in ratios.items() if epsilon == 1.5))
    e.needs(all(low > 0.99 for (_, epsilon), (_, low) in ratios.items() if epsilon == 0.1))
    some = ", ".join(f"{ratios[sizes, 1.5][0]:.4f} {sizes}" for sizes in ((2, 2), (3, 2), (3, 3)))
    return (
        f"at epsilon 1.5 {shown}; ratios of at most {some} (linear programs bracket both to a thousandth); of the "
        f"{searched / 1e9:.1f} billion deterministic rules in {len(_families())} families none is better at four "
        "budgets than the best that is fixed, and the search finds that one"
    )


def _families() -> list[tuple[allocation.Family, int]]:
    sizes = (((2, 2), 3), ((3, 2), 3), ((3, 3), 3), ((3, 3), 4), ((4, 3), 3), ((4, 3), 4))
    return [(allocation.Family(each, heights), total) for each, total in sizes for heights in ((1.0, 1.0), (1.0, 2.0))]


def _tail_scale(epsilon: float) -> float:
    """Return the scale at which the mean of both parts' tails loses `epsilon`: a square in ``x = e^(1/(4 b))``."""
    x = np.sqrt(6 * np.expm1(epsilon) + 4) - 1
    return float(1 / (4 * np.log(x)))
