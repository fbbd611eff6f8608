"""Second routes to formulas under the claims of companion, Implementations."""

import itertools
import random

import numpy as np
from compared import Pairs, compared

import ldpnb as ldp
from ldpnb.papers.companion.formulas import fake_data


def report_of(person: tuple[int, ...], sizes: list[int], epsilon: float) -> list[int]:
    """A client as one would write it: draw an attribute, randomise it, and fake the others."""
    report = [random.randrange(size) for size in sizes]
    drawn = random.randrange(len(sizes))
    growth = len(sizes) * (np.exp(epsilon) - 1) + 1
    report[drawn] = person[drawn]
    if random.random() >= growth / (growth + sizes[drawn] - 1):
        report[drawn] = random.randrange(sizes[drawn] - 1)
        report[drawn] += report[drawn] >= person[drawn]
    return report


def differ_in(chosen: tuple[int, ...]):
    def are_neighbours(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        return chosen == tuple(i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)

    return are_neighbours


@compared
def test_the_loss_is_that_of_an_audited_client() -> Pairs:
    for sizes, epsilon in (([2, 2], 1.0), ([4, 2], 0.5), ([2, 3, 2], 1.5)):
        people = itertools.product(*map(range, sizes))
        audited = ldp.exact_channel(
            lambda person, sizes=sizes, epsilon=epsilon: report_of(person, sizes, epsilon), people
        )
        yield audited.probabilities, fake_data.channel(epsilon, sizes)
        for count in range(1, len(sizes) + 1):
            for chosen in itertools.combinations(range(len(sizes)), count):
                loss = audited.loss(differ_in(chosen)).epsilon
                yield fake_data.loss(epsilon, sizes, chosen), loss
        yield fake_data.amplified_budget(epsilon, len(sizes)), audited.epsilon


@compared
def test_the_weight_is_a_ratio_of_an_honest_and_a_fake_value() -> Pairs:
    for size, attributes, epsilon in ((2, 2, 1.0), (7, 3, 0.2)):
        grown = attributes * (np.exp(epsilon) - 1) + 1
        lie = 1 / (grown + size - 1)
        yield fake_data.weight(epsilon, attributes, size), lie / (1 / size)
        total = 3 * fake_data.weight(epsilon, attributes, size)
        loss = fake_data.loss_of_weights(epsilon, attributes, differing=total / 3, total=total)
        yield np.exp(loss), 1 + (grown - 1) / 3


@compared
def test_variances_are_those_of_all_reports() -> Pairs:
    formulas = (fake_data.variance_with_fakes, fake_data.variance_without_fakes)
    for formula, has_fakes in zip(formulas, (True, False), strict=True):
        for share, budget, size, attributes in (
            (0.3, 0.4, 3, 5),
            (0.0, 1.0, 10, 2),
            (0.5, 3.0, 1000, 40),
        ):
            truthful = np.exp(budget) / (np.exp(budget) + size - 1)
            lie = (1 - truthful) / (size - 1)
            faked = (1 - 1 / attributes) / size if has_fakes else 0
            own = truthful / attributes + faked
            other = lie / attributes + faked
            per_user = (share * own * (1 - own) + (1 - share) * other * (1 - other)) / (
                own - other
            ) ** 2
            settings = {"budget": budget, "domain_size": size, "attributes": attributes}
            yield formula(share, **settings), per_user
