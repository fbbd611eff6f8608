"""What a random sample hides: rounded sizes, independent samples, several releases."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ldpnb.claims import Evidence, claim
from ldpnb.designs import laws
from ldpnb.designs.sizes import binomial_size, fixed_size
from ldpnb.papers.bun2022 import section_4, shared
from ldpnb.papers.companion import proofs
from ldpnb.privacy import clusters, lemmas, optimiser, random_size, releases, rounding, subsampling

result = partial(claim, kind="proof", reach="all parameters")


@result(
    "When rounding amplifies",
    rounding.rounding_threshold,
    rounding.random_rounding_loss_supremum,
    subsampling.srs_loss,
    rounding.nearest_rounding_loss,
    lemmas.coupled_loss,
    lemmas.inserted_record_loss,
    optimiser.largest_loss,
    rounding.event_terms,
    over="epsilon > 0, 0 < r < 1, every number of records; deletion privacy of mechanism and whole",
    argument="the supremum over population sizes is that of bun2022/theorem-4.3; where a rounded size stays m the loss "
    "is that of the share m/(n+1), which tends to r, from below if rounded down; where it jumps it is epsilon",
)
def rounding_amplifies(e: Evidence) -> str:
    """a proportional allocation loses more than epsilon at some population size, rounded at random or down, if and
    only if its rate r exceeds 1/(1 + e^epsilon); rounded to the nearest, it does so at arbitrarily large sizes if r
    exceeds that, and at no size beyond a certain one if r is below
    """
    e.proven(section_4.supremum_approached() and section_4.nearest_rounding())
    e.proven(section_4.rounding_amplifies() and proofs.threshold_of_the_nearest())
    epsilon, small = 1.0, (2, 0.25)
    edge = rounding.rounding_threshold(epsilon)
    e.same(rounding.random_rounding_loss_supremum(edge, epsilon), epsilon)
    e.same(subsampling.srs_loss(2 * epsilon, edge), epsilon)
    lost = rounding.nearest_rounding_loss(*small, epsilon)
    e.same(lost, section_4.nearest_optimum(*small, epsilon))
    e.needs(lost > epsilon and small[1] < edge)
    last = (0.5 - small[1]) / (edge - small[1])
    return (
        f"rates up to {edge:.4f} lose at most epsilon = {epsilon:g}, and exactly that where a size rounded down "
        "jumps; rounded to the nearest lower rates do so from (1/2 - r)/(1/(1 + e^epsilon) - r) records on: before, "
        f"{small[0]} and {small[0] + 1} records at r = {small[1]} draw 1 each and lose {lost:.4f} (linear program), "
        f"from {last:.1f} records on at most epsilon"
    )


@result(
    "Poisson against fixed size",
    subsampling.poisson_loss,
    subsampling.srs_loss,
    random_size.random_size_loss,
    optimiser.largest_loss,
    over="epsilon > 0, 0 < q < 1, every population and any rates of the others; epsilon-deletion-DP mechanisms, "
    "replacement of one record",
    argument="the bound holds given who else is drawn, hence on average; Laplace noise on a sum of +1 and -1 attains "
    "it in its tail",
)
def poisson_against_fixed_size(e: Evidence) -> str:
    """an independent (Poisson) sample at rate q loses exactly ln[(1 + q(e^epsilon - 1))/(1 + q(e^-epsilon - 1))], less
    than a sample of fixed size at the same rate, ln(1 + q(e^(2 epsilon) - 1)), at every budget; both are 2 q epsilon to
    first order in epsilon
    """
    e.proven(proofs.poisson_from_above() and proofs.poisson_attained() and proofs.poisson_below_fixed_size())
    epsilon, rates = 1.0, (0.2, 0.05)
    free = [subsampling.poisson_loss(epsilon, q) for q in rates]
    fixed = [subsampling.srs_loss(2 * epsilon, q) for q in rates]
    e.same(free, [random_size.random_size_loss(binomial_size(20, q), epsilon) for q in rates])
    e.same(fixed, [random_size.random_size_loss(fixed_size(int(20 * q), 20), epsilon) for q in rates])
    both = [laws.poisson([changed, 0, 0], [rates[0]] * 3) for changed in (1, 2)]
    e.same(free[0], optimiser.largest_loss(*both, epsilon=epsilon).loss)
    e.same(epsilon, optimiser.largest_loss(*both, epsilon=epsilon, mechanism="replacement").loss)
    e.needs(np.less(free, fixed).all())
    shown = [f"{one:.6f} against {other:.4f} at q = {q:g}" for one, other, q in zip(free, fixed, rates, strict=True)]
    return (
        f"{shown[0]} and {shown[1]}, epsilon {epsilon:g} (size recursion and linear program agree): a fixed size lets "
        "a record that leaves the sample bring another in, one step more; a mechanism that is private under "
        f"replacement only loses the whole epsilon on an independent sample (linear program: {epsilon:g})"
    )


@result(
    "Samples drawn with replacement",
    subsampling.with_replacement_loss,
    optimiser.largest_loss,
    subsampling.srs_loss,
    over="epsilon > 0, every number of draws, two or more records; replacement or removal of one record",
    argument="the loss of an event is a mean over multiplicities; if the record is removed instead, v_j is the mean at "
    "J = 0, and the other direction gains less, 1/E t^-J (Jensen)",
)
def drawn_with_replacement(e: Evidence) -> str:
    """samples of m of n records, drawn with replacement, lose exactly m ln(1 + (e^epsilon - 1)/n), as a record
    costs epsilon each time it is drawn: more than m > 1 of n drawn without replacement (Bernoulli's inequality)
    """
    e.proven(proofs.with_replacement())
    for records, draws, epsilon in ((4, 2, 0.5), (2, 2, 1.0), (3, 3, 0.5)):
        first, second, none = (_multisets([*changed, *range(records - 1)], draws) for changed in ("x", "y", ""))
        lost = subsampling.with_replacement_loss(epsilon, draws, records)
        for other in (second, none):
            e.same(lost, optimiser.largest_loss(first, other, epsilon=epsilon, mechanism="replacement").loss)
        fixed = shared.optimum(partial(laws.subsets, size=draws), records, epsilon, mechanism="replacement")
        e.same(subsampling.srs_loss(epsilon, draws / records), fixed)
    one, other = subsampling.with_replacement_loss(1.0, 10, 100), subsampling.srs_loss(1.0, 0.1)
    e.needs(one > other)
    return f"10 of 100 records at epsilon 1: {one:.6f} against {other:.6f} (linear programs agree in six small cases)"


def _multisets(records: Sequence[Any], draws: int) -> laws.Law:
    share = len(records) ** -draws
    names = [str(record) for record in records]
    return laws.mixture((share, {tuple(sorted(sample)): 1.0}) for sample in product(names, repeat=draws))


@result(
    "Several releases from one sample",
    releases.releases_loss,
    subsampling.srs_loss,
    subsampling.poisson_loss,
    clusters.cluster_loss_at,
    clusters.ClusterSample.upper_bound,
    optimiser.largest_loss,
    over="all budgets, 0 < q < 1; simple random and stratified samples, independent samples, clusters of one size, "
    "replacement and deletion",
    argument="releases of budgets e_i are one mechanism of budget sum e_i; its worst event, of chance a, is a product "
    "of events of chances c a^(e_i / sum e), which are e_i-private for small c. For k releases by induction, fresh "
    "losses adding up; strata lose what the largest rate does",
)
def several_releases(e: Evidence) -> str:
    """releases from one secret sample lose exactly what one release of the summed budget does; that is more than fresh
    samples lose for simple random, stratified and cluster samples, and for independent ones under deletion; for
    independent ones under replacement if and only if the rate is below 1/2
    """
    e.proven(proofs.one_sample_or_fresh() and proofs.one_cluster_sample_or_fresh())
    epsilons, rate = [1.0, 1.0], 0.1
    tenth = partial(subsampling.srs_loss, sampling_rate=rate)
    one, fresh = (releases.releases_loss(epsilons, tenth, fresh=new) for new in (False, True))
    drawn = partial(shared.optimum, partial(laws.subsets, size=1), 10, mechanism="replacement")
    e.same([one, fresh], [drawn(sum(epsilons)), 2 * drawn(1.0)])
    design = clusters.ClusterSample([5] * 10, 1)
    e.same(releases.releases_loss(epsilons, design.loss), design.upper_bound(2.0))
    often = partial(subsampling.poisson_loss, sampling_rate=0.8)
    kept, anew = (releases.releases_loss(epsilons, often, fresh=new) for new in (False, True))
    e.needs(one > fresh and kept < anew)
    return (
        f"two releases of epsilon 1 on one sample of a tenth lose {one:.3f}, on fresh samples {fresh:.3f} (linear "
        f"programs agree); independent samples at rate 0.8 under replacement lose {kept:.3f} and {anew:.3f}"
    )
