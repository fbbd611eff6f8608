"""Second routes to formulas under the companion's own results, Implementations.

Losses of fake data are compared with those of a client that is written as one would write it and
audited over all its random choices. Variances are those of the law of one report.
"""

import random
from collections.abc import Callable
from itertools import combinations, product

import numpy as np
from compared import Pairs, compared

import ldpnb as ldp
from ldpnb.audit.channel import ExactChannel
from ldpnb.papers.companion.formulas import fake_data

Person = tuple[int, ...]


def report_of(person: Person, sizes: list[int], epsilon: float) -> list[int]:
    """A client as one would write it: draw an attribute, randomise it, and fake the others."""
    report = [random.randrange(size) for size in sizes]
    drawn = random.randrange(len(sizes))
    growth = len(sizes) * (np.exp(epsilon) - 1) + 1
    report[drawn] = person[drawn]
    if random.random() >= growth / (growth + sizes[drawn] - 1):
        report[drawn] = random.randrange(sizes[drawn] - 1)
        report[drawn] += report[drawn] >= person[drawn]
    return report


def audited_client(sizes: list[int], epsilon: float) -> ExactChannel:
    """Return the exact channel of the client, over all people."""
    people = product(*(range(size) for size in sizes))
    return ldp.exact_channel(lambda person: report_of(person, sizes, epsilon), people)


def differ_in_just(attributes: Person) -> Callable[[Person, Person], bool]:
    """Return the relation of two people who differ in those attributes and in no others."""

    def are_neighbours(one: Person, other: Person) -> bool:
        values = enumerate(zip(one, other, strict=True))
        return attributes == tuple(attribute for attribute, (a, b) in values if a != b)

    return are_neighbours


def some_attributes(number: int) -> list[Person]:
    """Return every choice of one or more of that many attributes."""
    choices: list[Person] = []
    for count in range(1, number + 1):
        choices += combinations(range(number), count)
    return choices


@compared
def test_the_loss_is_that_of_an_audited_client() -> Pairs:
    for sizes, epsilon in (([2, 2], 1.0), ([4, 2], 0.5), ([2, 3, 2], 1.5)):
        audited = audited_client(sizes, epsilon)
        yield audited.probabilities, fake_data.channel(epsilon, sizes)
        yield fake_data.amplified_budget(epsilon, len(sizes)), audited.epsilon

        for attributes in some_attributes(len(sizes)):
            loss = audited.loss(differ_in_just(attributes)).epsilon
            yield fake_data.loss(epsilon, sizes, attributes), loss


@compared
def test_the_weight_is_a_ratio_of_an_honest_and_a_fake_value() -> Pairs:
    for size, attributes, epsilon in ((2, 2, 1.0), (7, 3, 0.2)):
        growth = attributes * (np.exp(epsilon) - 1) + 1
        lie = 1 / (growth + size - 1)
        fake = 1 / size
        weight = fake_data.weight(epsilon, attributes, size)
        yield weight, lie / fake

        loss = fake_data.loss_of_weights(epsilon, attributes, differing=weight, total=3 * weight)
        yield np.exp(loss), 1 + (growth - 1) / 3


@compared
def test_variances_are_those_of_all_reports() -> Pairs:
    formulas = {
        True: fake_data.variance_with_fakes,
        False: fake_data.variance_without_fakes,
    }
    settings = ((0.3, 0.4, 3, 5), (0.0, 1.0, 10, 2), (0.5, 3.0, 1000, 40))
    for has_fakes, (share, budget, size, attributes) in product(formulas, settings):
        truthful = np.exp(budget) / (np.exp(budget) + size - 1)
        lie = (1 - truthful) / (size - 1)
        faked = (1 - 1 / attributes) / size if has_fakes else 0.0
        own = truthful / attributes + faked
        other = lie / attributes + faked

        of_reports = share * own * (1 - own) + (1 - share) * other * (1 - other)
        found = formulas[has_fakes](share, budget=budget, domain_size=size, attributes=attributes)
        yield found, of_reports / (own - other) ** 2
