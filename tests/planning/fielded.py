"""Plans, made populations, and fieldwork in numpy: samples and reports by the law of the devices."""

from dataclasses import replace
from typing import Any

import numpy as np
from click.testing import CliRunner, Result

from ldpnb.checks import UsageError
from ldpnb.cli import cli
from ldpnb.surveys.field_plan import FieldPlan

SIMPLE = FieldPlan(design="simple", kind="binary", p="3/4", q="1/4", population=300, asked=150, answers=150)
LABELS = FieldPlan(
    design="simple", kind="labels", p="1/2", q="1/4", labels=("a", "b", "c"), population=400, asked=200, answers=200
)
BITS = FieldPlan(design="everyone", kind="bits", p="1/2", q="1/4", labels=("a", "b", "c"), asked=200)
STRATA = FieldPlan(design="strata", kind="binary", p="3/4", q="1/4", strata={"n": (200, 90), "s": (100, 60)}, asked=150)
EVEN = FieldPlan(design="strata", kind="binary", p="3/4", q="1/4", strata={"n": (200, 90), "s": (100, 45)}, asked=135)
CLUSTERS = FieldPlan(
    design="clusters", kind="binary", p="3/4", q="1/4",
    population=800, clusters=40, chosen=20, cluster_size=20, asked=400,
)  # fmt: skip
STAGES = FieldPlan(
    design="two stages", kind="number", p="3/4", q="1/4", high=10.0,
    population=800, clusters=40, chosen=20, take=10, cluster_size=20, asked=200,
)  # fmt: skip
UNEQUAL = FieldPlan(
    design="clusters", kind="binary", p="3/4", q="1/4", population=800, clusters=40, chosen=20, asked=400
)
NUMBER = FieldPlan(design="simple", kind="number", p="3/4", q="1/4", population=300, asked=150)
RELEASE = FieldPlan(
    design="simple", kind="binary", collection="curator", epsilon=0.2,
    population=1000, asked=100, answers=100, scale=0.05,
)  # fmt: skip
MEAN_RELEASE = FieldPlan(
    design="simple", kind="number", collection="curator", epsilon=0.2,
    population=1000, asked=100, answers=100, scale=0.05,
)  # fmt: skip
EVERYBODY = FieldPlan(design="everyone", kind="number", p="3/4", q="1/4", asked=150)
LAPLACE = FieldPlan(design="simple", kind="Laplace", epsilon=1.0, population=300, asked=150)

PLANS = {
    "simple": SIMPLE, "labels": LABELS, "bits": BITS, "strata": STRATA, "even strata": EVEN, "clusters": CLUSTERS,
    "unequal clusters": UNEQUAL, "two stages": STAGES, "number": NUMBER, "everybody": EVERYBODY, "Laplace": LAPLACE,
    "release": replace(RELEASE, population=200, asked=60, answers=60), "release of a mean": MEAN_RELEASE,
}  # fmt: skip


def run(*words: str) -> Result:
    """A command, with the exit code that `main` ends with."""
    result = CliRunner().invoke(cli, list(words))
    if isinstance(result.exception, UsageError):
        result.exit_code = 2
    return result


def people(plan: FieldPlan, rng: np.random.Generator) -> dict[str, Any]:
    """A population: values, strata, clusters of 20 or of 10 and 30, classes, a large public group and a small one."""
    strata = plan.strata or {"all": (plan.population or plan.asked, 0)}
    sizes = [size for size, _ in strata.values()]
    number = sum(sizes)
    alike = plan.cluster_size or not plan.clusters
    clusters = np.repeat(np.arange(number // 20 + 1), 20 if alike else np.resize([10, 30], number // 20 + 1))[:number]
    lean = 0.35 + 0.25 * np.sin(clusters)
    value = (rng.random(number) < lean).astype(float)
    if plan.labels:
        value = rng.choice(len(plan.labels), number, p=[0.6, 0.3, 0.1])
    elif plan.kind in ("number", "Laplace"):
        value = plan.low + (plan.high - plan.low) * np.clip(lean + 0.2 * rng.standard_normal(number), 0, 1)
    return {
        "value": value, "stratum": np.repeat([*strata], sizes), "cluster": clusters.astype(str),
        "cluster_size": np.bincount(clusters)[clusters], "class": np.where(value > lean, "high", "low"),
        "sex": np.where(rng.random(number) < 0.5, "f", "m"), "rare": np.where(rng.random(number) < 0.1, "yes", "no"),
    }  # fmt: skip


def fieldwork(plan: FieldPlan, table: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Draw the sample and the reports."""
    if plan.strata:
        inside = [(np.flatnonzero(table["stratum"] == name), n) for name, (_, n) in plan.strata.items()]
    elif plan.clusters:
        some = rng.choice(plan.clusters, plan.chosen, replace=False)
        clusters = [np.flatnonzero(table["cluster"] == str(g)) for g in some]
        inside = [(people, plan.take or people.size) for people in clusters]
    else:
        inside = [(np.arange(table["value"].size), plan.asked)]
    chosen = np.concatenate([rng.choice(people, n, replace=False) for people, n in inside])
    drawn = {name: column[chosen] for name, column in table.items()}
    device, values = plan.reports, drawn.pop("value")
    if plan.collection == "curator":
        return {"report": np.array([values.mean() + rng.laplace(0, plan.scale)])}
    if plan.kind == "Laplace":
        drawn["report"] = values + rng.laplace(0, device.span / device.budget, values.size)
    elif plan.kind == "labels":
        truth = rng.random(values.size) < device.p - device.q
        drawn["report"] = np.array(plan.labels)[np.where(truth, values, rng.integers(0, len(plan.labels), values.size))]
    elif plan.kind == "bits":
        ones = rng.random((values.size, 3)) < device.q + device.truth * (np.arange(3) == values[:, None])
        drawn["report"] = np.array(["".join(str(int(b)) for b in row) for row in ones])
    else:
        rate = device.q + device.truth * (values - plan.low) / device.span
        drawn["report"] = (rng.random(values.size) < rate).astype(int)
    return drawn


def truth(plan: FieldPlan, table: dict[str, Any], row: Any) -> float:
    """What an estimate is of."""
    column, _, group = row.group.partition(" ")
    values = table["value"][table[column] == group] if column else table["value"]
    return float(np.mean(values == plan.labels.index(row.of)) if plan.labels else np.mean(values))
