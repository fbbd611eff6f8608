"""Plans, made populations, and fieldwork in numpy: samples and reports by the law of the devices."""

from typing import Any

import numpy as np
from click.testing import CliRunner, Result

from ldpnb.checks import UsageError
from ldpnb.cli import cli
from ldpnb.surveys.field_plan import FieldPlan

BIT: dict[str, Any] = {"p": "3/4", "q": "1/4"}
LABEL: dict[str, Any] = {"p": "1/2", "q": "1/4", "labels": ("a", "b", "c")}
FORTY: dict[str, Any] = {"population": 800, "clusters": 40, "chosen": 20}
SIMPLE = FieldPlan(design="simple", kind="binary", population=300, asked=150, answers=150, **BIT)
LABELS = FieldPlan(design="simple", kind="labels", population=400, asked=200, answers=200, **LABEL)
BITS = FieldPlan(design="everyone", kind="bits", asked=200, **LABEL)
STRATA = FieldPlan(
    design="strata", kind="binary", strata={"n": (200, 90), "s": (100, 60)}, asked=150, **BIT
)
EVEN = FieldPlan(
    design="strata", kind="binary", strata={"n": (200, 90), "s": (100, 45)}, asked=135, **BIT
)
CLUSTERS = FieldPlan(design="clusters", kind="binary", cluster_size=20, asked=400, **FORTY, **BIT)
UNEQUAL = FieldPlan(design="clusters", kind="binary", asked=400, **FORTY, **BIT)
STAGES = FieldPlan(
    design="two stages", kind="number", high=10.0, take=10, cluster_size=20, asked=200, **FORTY, **BIT
)  # fmt: skip
NUMBER = FieldPlan(design="simple", kind="number", population=300, asked=150, **BIT)
EVERYBODY = FieldPlan(design="everyone", kind="number", asked=150, **BIT)
LAPLACE = FieldPlan(design="simple", kind="Laplace", epsilon=1.0, population=300, asked=150)
CURATOR: dict[str, Any] = {
    "design": "simple",
    "device": "curator",
    "population": 1000,
    "asked": 100,
    "answers": 100,
}
RELEASE = FieldPlan(kind="binary", epsilon=0.2, **CURATOR)
RELEASED_MEAN = FieldPlan(kind="number", epsilon=0.2, high=4.0, **CURATOR)

PLANS = {
    "simple": SIMPLE, "labels": LABELS, "bits": BITS, "strata": STRATA, "even strata": EVEN, "clusters": CLUSTERS,
    "unequal clusters": UNEQUAL, "two stages": STAGES, "number": NUMBER, "everybody": EVERYBODY, "Laplace": LAPLACE,
    "curator's share": RELEASE, "curator's mean": RELEASED_MEAN,
}  # fmt: skip


def run(*words: str) -> Result:
    """A command, with the exit code that `main` ends with."""
    result = CliRunner().invoke(cli, list(words))
    if isinstance(result.exception, UsageError):
        result.exit_code = 2
    return result


def people(plan: FieldPlan, rng: np.random.Generator) -> dict[str, Any]:
    """A population: values, strata, clusters of 20 or of 10 and 30, a large public group and a small one."""
    strata = plan.strata or {"all": (plan.population or plan.asked, 0)}
    sizes = [size for size, _ in strata.values()]
    number = sum(sizes)
    alike = plan.cluster_size or not plan.clusters
    clusters = np.repeat(
        np.arange(number // 20 + 1), 20 if alike else np.resize([10, 30], number // 20 + 1)
    )[:number]
    lean = 0.35 + 0.25 * np.sin(clusters)
    value = (rng.random(number) < lean).astype(float)
    if plan.labels:
        value = rng.choice(len(plan.labels), number, p=[0.6, 0.3, 0.1])
    elif plan.kind in ("number", "Laplace"):
        value = plan.low + plan.span * np.clip(lean + 0.2 * rng.standard_normal(number), 0, 1)
    return {
        "value": value, "stratum": np.repeat([*strata], sizes), "cluster": clusters.astype(str),
        "cluster_size": np.bincount(clusters)[clusters],
        "sex": np.where(rng.random(number) < 0.5, "f", "m"), "rare": np.where(rng.random(number) < 0.1, "yes", "no"),
    }  # fmt: skip


def fieldwork(plan: FieldPlan, table: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Draw the sample and the reports."""
    inside = [(np.arange(table["value"].size), plan.asked)]
    if plan.strata:
        inside = [
            (np.flatnonzero(table["stratum"] == name), n) for name, (_, n) in plan.strata.items()
        ]
    elif plan.clusters:
        some = rng.choice(plan.clusters, plan.chosen, replace=False)
        clusters = [np.flatnonzero(table["cluster"] == str(g)) for g in some]
        inside = [(people, plan.take or people.size) for people in clusters]
    chosen = np.concatenate([rng.choice(people, n, replace=False) for people, n in inside])
    drawn = {name: column[chosen] for name, column in table.items()}
    values = drawn.pop("value")
    if plan.device == "curator":
        return {
            "report": values.mean(keepdims=True) + rng.laplace(0, plan.span * plan.reports.scale, 1)
        }
    if plan.kind == "Laplace":
        return drawn | {"report": values + rng.laplace(0, plan.span / plan.epsilon, values.size)}
    p, q = (float(chance) for chance in plan.chances)
    if plan.kind == "labels":
        labels = np.where(
            rng.random(values.size) < p - q, values, rng.integers(0, len(plan.labels), values.size)
        )
        return drawn | {"report": np.array(plan.labels)[labels]}
    if plan.kind == "bits":
        ones = rng.random((values.size, 3)) < np.where(np.arange(3) == values[:, None], p, q)
        return drawn | {"report": np.array(["".join(str(int(b)) for b in row) for row in ones])}
    return drawn | {
        "report": (rng.random(values.size) < q + (p - q) * (values - plan.low) / plan.span).astype(
            int
        )
    }


def truth(plan: FieldPlan, table: dict[str, Any], row: Any) -> float:
    """What an estimate is of."""
    column, _, group = row.group.partition(" ")
    values = table["value"][table[column] == group] if column else table["value"]
    return float(np.mean(values == plan.labels.index(row.of)) if plan.labels else np.mean(values))
