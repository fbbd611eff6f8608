"""Second routes to formulas under the claims of bun2022, Section 2."""

from functools import partial

import numpy as np
from compared import Pairs, compared

from ldpnb.designs import laws
from ldpnb.papers.bun2022.section_2 import FIVE, SAMPLES
from ldpnb.papers.bun2022.shared import optimum
from ldpnb.privacy import lemmas, optimiser, subsampling


@compared
def test_a_simple_random_sample_loses_what_the_worst_mechanism_loses() -> Pairs:
    for n, m, epsilon in SAMPLES:
        most = optimum(partial(laws.subsets, size=m), n, epsilon, mechanism="replacement")
        yield subsampling.srs_loss(epsilon, m / n), most


@compared
def test_samples_some_steps_apart_lose_what_the_worst_mechanism_loses() -> Pairs:
    for first, second in ((("x",), ("y",)), ((1, 2), (3, 4, 5)), ((1, 1, 2), (2, 2))):
        steps = optimiser.lcs_distance(first, second)
        yield (
            lemmas.coupled_loss(steps, 0.3),
            optimiser.largest_loss({first: 1.0}, {second: 1.0}, epsilon=0.3).loss,
        )


@compared
def test_the_largest_tilted_mean_is_that_of_a_linear_program() -> Pairs:
    law, values, epsilon = (np.array(part) for part in FIVE)
    sizes, mean = np.arange(law.size), law @ values
    apart = epsilon * np.abs(sizes[:, None] - sizes)
    most, _ = optimiser.largest_log_ratio(law * values / mean, law, apart)
    yield lemmas.largest_tilted_mean(*FIVE), mean * np.exp(most)


@compared
def test_the_worst_mechanism_accepts_as_its_loss_says() -> Pairs:
    for first, second, epsilon in (((0,), (1,), 0.3), ((0, 0, 1), (1, 1, 1), 0.8)):
        worst = optimiser.largest_loss({first: 1.0}, {second: 1.0}, epsilon=epsilon)
        one, other = worst.acceptance(first), worst.acceptance(second)
        yield abs(np.log(one / other)), worst.loss
        yield max(one, other), 1 / (1 + np.exp(-epsilon))
        between = worst.acceptance(first[:-1])
        farthest = [np.log(between / end) for end in (one, other)]
        steps = [optimiser.lcs_distance(first[:-1], end) for end in (first, second)]
        near = np.abs(farthest) <= epsilon * np.array(steps) + 1e-12
        yield near, [True, True]


@compared
def test_a_thinned_loss_keeps_its_digits() -> Pairs:
    for weight, exponent in ((0.1, 0.2), (0.5, 1.0), (0.999, 3.0), (0.9999999, 20.0)):
        yield lemmas.log_thinned(weight, exponent), np.log(1 - weight + weight * np.exp(-exponent))
