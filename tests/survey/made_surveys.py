"""Made surveys by every design: who is drawn, what they report, and what is true.

The tests of intervals hold one such survey after another, and look how often its intervals cover
what is true of the whole population.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ldpnb.survey.device import Device, device
from ldpnb.survey.estimation import Estimate, estimate

PEOPLE = 2000
RNG = np.random.default_rng(20)

# Where everybody lives, and what everybody would answer. Those in one cluster are alike.
CLUSTER = np.repeat(np.arange(100), 20)
LIKELY = np.repeat(0.2 + 0.4 * RNG.random(100), 20)
YES = (RNG.random(PEOPLE) < LIKELY).astype(float)
ANSWER = RNG.choice(4, PEOPLE, p=[0.4, 0.3, 0.2, 0.1])
NUMBER = RNG.beta(2, 3, PEOPLE)
SEX = RNG.choice(["f", "m"], PEOPLE)
STRATUM = np.repeat(["a", "b", "c"], [1200, 600, 200])
UNEQUAL_SIZES = RNG.multinomial(PEOPLE - 80 * 5, np.full(80, 1 / 80)) + 5
UNEQUAL_CLUSTER = np.repeat(np.arange(80), UNEQUAL_SIZES)

Drawn = tuple[Any, dict[str, Any], dict[str, Any]]
"""The people who are drawn, their columns, and what is stated of the population."""


@dataclass(frozen=True)
class Survey:
    """A design, a device and a population.

    Parameters
    ----------
    draw : callable
        Draws the people who take part.
    device : Device
        The mechanism that randomises their answers.
    values : array
        The true value of everybody in the population.
    stated : dict
        The arguments of `estimate` that state the device.
    by_sex : bool
        Whether each sex is estimated as well, and the difference between them.
    is_exact : bool
        Whether the intervals are exact, and so cover at least as often as they say.
    simultaneous : bool
        Whether the intervals cover all at once.
    excess : float
        By how much the mean of the variance estimates may be too large, as a fraction.
    """

    draw: Callable[[np.random.Generator], Drawn]
    device: Device
    values: Any = field(default_factory=lambda: YES)
    stated: dict[str, Any] = field(default_factory=dict)
    by_sex: bool = False
    is_exact: bool = False
    simultaneous: bool = False
    excess: float = 0.05

    @property
    def answers(self) -> tuple[str, ...]:
        return self.device.estimated

    @property
    def mean(self) -> float:
        """The true value of the first estimate."""
        return float(self.true_values(0).mean())

    def true_values(self, place: int) -> Any:
        """Everybody's true value, in the unit of the estimate at that place."""
        if self.device.is_of_numbers:
            return self.device.low + self.device.length * self.values
        if len(self.answers) > 1:
            return (self.values == place).astype(float)
        return self.values

    def truth(self, row: Estimate) -> float:
        """The true value of the quantity that a row estimates."""
        true = self.true_values(self.answers.index(row.of))
        if "minus" in row.group:
            return float(true[SEX == "f"].mean() - true[SEX == "m"].mean())

        if row.group:
            return float(true[row.group.removeprefix("sex ") == SEX].mean())

        return float(true.mean())

    def reports(self, people: Any, rng: np.random.Generator) -> list[Any]:
        """The randomised answers of these people."""
        made = self.device
        if made.is_noisy:
            noise = rng.laplace(0, made.scale, people.size)
            return (made.low + made.length * (self.values[people] + noise)).tolist()

        if made.is_unary:
            own = self.values[people][:, None] == np.arange(len(made.answers))
            bits = rng.random(own.shape) < np.where(own, made.p, made.q)
            return ["".join(word) for word in bits.astype(int).astype(str)]

        if made.mechanism == "k-RR":
            number = len(made.answers)
            is_true = rng.random(people.size) < (made.p - made.q)
            some = rng.integers(0, number, people.size)
            places = np.where(is_true, self.values[people], some).astype(int)
            return [made.answers[place] for place in places]

        rates = made.q + made.gap * self.values[people]
        return (rng.random(people.size) < rates).astype(int).tolist()

    def estimated(self, rng: np.random.Generator) -> tuple[Estimate, ...]:
        """The rows that `estimate` makes of one such survey."""
        people, columns, sizes = self.draw(rng)
        table = {"report": self.reports(people, rng), **columns}
        stated = self.stated | sizes | {"simultaneous": self.simultaneous}

        if self.by_sex:
            table["sex"] = SEX[people]
            stated["by"] = "sex"

        return estimate(table, **stated).rows


def simple(number: int) -> Callable[[np.random.Generator], Drawn]:
    """A simple random sample of so many people."""

    def draw(rng: np.random.Generator) -> Drawn:
        return rng.permutation(PEOPLE)[:number], {}, {"population": PEOPLE}

    return draw


def everyone(rng: np.random.Generator) -> Drawn:
    """All people, of whom nothing is random but the reports."""
    return np.arange(PEOPLE), {}, {"population": "everyone"}


def strata(rng: np.random.Generator) -> Drawn:
    """A sample of 100 in each stratum, of whom 90, 60 or 30 percent respond."""
    parts = []
    for name, rate in {"a": 0.9, "b": 0.6, "c": 0.3}.items():
        drawn = rng.permutation(np.flatnonzero(name == STRATUM))[:100]
        parts.append(drawn[rng.random(drawn.size) < rate])

    people = np.concatenate(parts)
    return people, {"stratum": STRATUM[people]}, {"population": {"a": 1200, "b": 600, "c": 200}}


def two_stages(response: float, *, sizes: bool) -> Callable[[np.random.Generator], Drawn]:
    """A sample of 25 clusters and of 8 people in each, of whom that fraction responds.

    `sizes` says whether the sizes of the clusters are known.
    """

    def draw(rng: np.random.Generator) -> Drawn:
        parts = []
        for cluster in rng.permutation(100)[:25]:
            members = 20 * cluster + rng.permutation(20)[:8]
            parts.append(members[rng.random(8) < response])

        people = np.concatenate(parts)
        columns = {"cluster": CLUSTER[people]}
        if not sizes:
            return people, columns, {}

        columns["cluster_size"] = np.full(people.size, 20)
        return people, columns, {"clusters": 100}

    return draw


def unequal_clusters(rng: np.random.Generator) -> Drawn:
    """A sample of 25 clusters of unequal size, with everybody in them."""
    drawn = rng.permutation(80)[:25]
    people = np.flatnonzero(np.isin(UNEQUAL_CLUSTER, drawn))
    columns = {
        "cluster": UNEQUAL_CLUSTER[people],
        "cluster_size": np.bincount(UNEQUAL_CLUSTER)[UNEQUAL_CLUSTER[people]],
    }
    return people, columns, {"clusters": 80}


RATES = np.where(YES == 1, 0.18, 0.09) * np.random.default_rng(21).uniform(0.5, 1.0, PEOPLE)
"""With what probability each person is drawn, where weights are unequal."""


def unequal_weights(rng: np.random.Generator) -> Drawn:
    """A sample in which each person is drawn independently; yes is drawn twice as often as no."""
    people = np.flatnonzero(rng.random(PEOPLE) < RATES)
    return people, {"weight": 1 / RATES[people]}, {}


FORCED: dict[str, Any] = {"p": "5/6", "q": "1/3"}
FORCED_DEVICE = device(**FORCED)
KRR: dict[str, Any] = {"epsilon": 1.5, "values": list("ABCD")}
UNARY: dict[str, Any] = {"mechanism": "OUE", "epsilon": 1.5, "values": list("ABCD")}
BIT: dict[str, Any] = {"epsilon": 1.5, "low": 10, "high": 50}
NOISE: dict[str, Any] = {"mechanism": "Laplace", "epsilon": 1.5, "low": 10, "high": 50}

SURVEYS = {
    "simple": Survey(simple(400), FORCED_DEVICE, stated=FORCED, by_sex=True, is_exact=True),
    "everyone": Survey(everyone, FORCED_DEVICE, stated=FORCED, by_sex=True, is_exact=True),
    "p below q": Survey(
        simple(400),
        device(p="1/6", q="2/3"),
        stated={"p": "1/6", "q": "2/3"},
        is_exact=True,
    ),
    "k-RR": Survey(
        simple(400), device(**KRR), ANSWER, stated=KRR, is_exact=True, simultaneous=True
    ),
    "unary encoding": Survey(
        simple(400), device(**UNARY), ANSWER, stated=UNARY, is_exact=True, simultaneous=True
    ),
    "one bit of a number": Survey(
        simple(400), device(**BIT), NUMBER, stated=BIT, is_exact=True, excess=0.1
    ),
    "noisy number": Survey(simple(400), device(**NOISE), NUMBER, stated=NOISE),
    "noisy number of everyone": Survey(everyone, device(**NOISE), NUMBER, stated=NOISE),
    "strata": Survey(strata, FORCED_DEVICE, stated=FORCED, by_sex=True),
    "k-RR in strata": Survey(strata, device(**KRR), ANSWER, stated=KRR, simultaneous=True),
    "two stages": Survey(two_stages(1.0, sizes=True), FORCED_DEVICE, stated=FORCED, by_sex=True),
    "two stages, half respond": Survey(
        two_stages(0.5, sizes=True), FORCED_DEVICE, stated=FORCED, excess=0.25
    ),
    "two stages, sizes not known": Survey(
        two_stages(0.5, sizes=False), FORCED_DEVICE, stated=FORCED, excess=0.3
    ),
    "clusters of unequal size": Survey(unequal_clusters, FORCED_DEVICE, stated=FORCED),
    "unequal weights": Survey(unequal_weights, FORCED_DEVICE, stated=FORCED),
}
