"""Second routes to formulas under the claims of Bun et al. (2022), Section 2.

Losses of samples are compared with those of the worst mechanism, found by optimisation over all
mechanisms on the samples of a few records.
"""

from functools import partial

import numpy as np
from compared import Pairs, compared

from ldpnb.designs import laws
from ldpnb.papers.bun2022.section_2 import FIVE, SAMPLES
from ldpnb.papers.bun2022.shared import optimum
from ldpnb.privacy import lemmas, optimiser, subsampling


@compared
def test_a_simple_random_sample_loses_what_the_worst_mechanism_loses() -> Pairs:
    for records, drawn, epsilon in SAMPLES:
        design = partial(laws.subsets, size=drawn)
        most = optimum(design, records, epsilon, mechanism="replacement")
        yield subsampling.srs_loss(epsilon, drawn / records), most


@compared
def test_samples_some_steps_apart_lose_what_the_worst_mechanism_loses() -> Pairs:
    for first, second in ((("x",), ("y",)), ((1, 2), (3, 4, 5)), ((1, 1, 2), (2, 2))):
        steps = optimiser.lcs_distance(first, second)
        worst = optimiser.largest_loss({first: 1.0}, {second: 1.0}, epsilon=0.3)
        yield lemmas.coupled_loss(steps, 0.3), worst.loss


@compared
def test_the_largest_tilted_mean_is_that_of_a_linear_program() -> Pairs:
    chances, values, epsilon = FIVE
    law = np.array(chances)
    sizes = np.arange(law.size)
    mean = law @ values
    budgets = epsilon * np.abs(sizes[:, None] - sizes)

    log_ratio, _ = optimiser.largest_log_ratio(law * values / mean, law, budgets)
    yield lemmas.largest_tilted_mean(*FIVE), mean * np.exp(log_ratio)


@compared
def test_the_worst_mechanism_accepts_as_its_loss_says() -> Pairs:
    for first, second, epsilon in (((0,), (1,), 0.3), ((0, 0, 1), (1, 1, 1), 0.8)):
        worst = optimiser.largest_loss({first: 1.0}, {second: 1.0}, epsilon=epsilon)
        ends = [worst.acceptance(first), worst.acceptance(second)]
        yield abs(np.log(ends[0] / ends[1])), worst.loss
        yield max(ends), 1 / (1 + np.exp(-epsilon))

        # Samples between the two are accepted with chances that privacy allows.
        between = first[:-1]
        for sample, accepted in zip((first, second), ends, strict=True):
            log_ratio = np.log(worst.acceptance(between) / accepted)
            steps = optimiser.lcs_distance(between, sample)
            yield log_ratio <= epsilon * steps + 1e-12, True


@compared
def test_a_thinned_loss_keeps_its_digits() -> Pairs:
    for weight, exponent in ((0.1, 0.2), (0.5, 1.0), (0.999, 3.0), (0.9999999, 20.0)):
        yield lemmas.log_thinned(weight, exponent), np.log(1 - weight + weight * np.exp(-exponent))
