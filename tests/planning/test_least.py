"""*Least* means least: nothing smaller will do, also where the chance of an error is not monotone."""

from typing import Any

import numpy as np
import pytest
from ask import alone

from ldpnb.planning.clusters import ClusterDesign
from ldpnb.planning.mechanisms import CURATOR, EDGES
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import Frequency, Gap, Mean
from ldpnb.planning.samples import Everyone, SimpleDesign, StratifiedDesign

TARGET: dict[str, Any] = {"error": 0.1, "failure": 0.05}
COUNTS = [
    *((Frequency(epsilon=2.0, values=8, **TARGET), name) for name in ("k-RR", "SUE", "OLH")),
    (Mean(epsilon=2.0, **TARGET), "1-bit"),
    (Mean(epsilon=2.0, binary=True, design=SimpleDesign(900), **TARGET), "Warner"),
    *(
        (Mean(epsilon=1.0, binary=True, design=SimpleDesign(n), **TARGET), CURATOR)
        for n in (150, 151, 400, 1000)
    ),
    (Mean(epsilon=2.0, design=StratifiedDesign((300, 200, 37)), **TARGET), "1-bit"),
    (
        Mean(
            epsilon=2.0,
            design=StratifiedDesign((300, 200, 37), (0.1, 0.4, 0.5), "neyman"),
            **TARGET,
        ),
        "local Laplace",
    ),
    (Mean(epsilon=2.0, design=ClusterDesign(200, 10, 4), **TARGET), "1-bit"),
    *((Gap(epsilon=2.0, shares=(0.37, 0.63), **TARGET), name) for name in ("signed bit", "M_R")),
    (Gap(epsilon=3.0, shares=(0.2, 0.3, 0.5), error=0.15, failure=0.05), "signed bit"),
]


@pytest.mark.parametrize(("question", "name"), COUNTS, ids=str)
def test_no_smaller_number_is_enough(question: Any, name: str) -> None:
    question = question.with_value("mechanism", name)
    found = alone(question, name)
    assert found.least
    for count in range(
        20 if isinstance(question, Gap) else question.design.limits[0], int(found.value)
    ):
        # one share of holders suffices to show that a number does not
        if question.with_value("count", count).chance("near")[0] <= 0.05:
            assert question.with_value("count", count).chance()[0] > 0.05, count
    assert found.chance()[0] <= 0.05


@pytest.mark.parametrize("users", [2_000, 20_000, 100_000, 1_000_000])
@pytest.mark.parametrize(
    ("name", "values"), [("OLH", 16), ("subset selection", 16), ("subset selection", 60)]
)
def test_no_smaller_budget_is_enough_where_a_whole_number_steps(
    name: str, values: int, users: int
) -> None:
    question = Frequency(
        count=users, error=0.02 if users > 9_000 else 0.1, failure=0.01, values=values
    )
    question = question.with_value("mechanism", name)
    found = alone(question, name)
    assert found.least
    for epsilon in np.geomspace(found.value / 4, found.value * (1 - 1e-6), 400):
        assert question.with_value("epsilon", float(epsilon)).chance("normal")[0] > 0.01 * 0.9
    edges = EDGES[name](values, found.value)
    for epsilon in [
        *edges[(edges > 0) & (edges < found.value)],
        *np.linspace(0.9, 1 - 1e-6, 20) * found.value,
    ]:
        below = question.with_value("epsilon", float(epsilon) * (1 - 1e-9))
        assert below.chance()[0] > 0.01


def test_a_census_of_those_who_answer_is_everyone() -> None:
    known: dict[str, Any] = {"epsilon": 1.0, "failure": 0.05, "binary": True, "count": 500}
    one, other = (plan(Mean(design=d, **known)).best for d in (Everyone(), SimpleDesign(500)))
    assert one.value == pytest.approx(other.value, rel=1e-8)
