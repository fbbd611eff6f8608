"""Estimates of a survey: a table, the sentences for a report, and files."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from ldpnb.surveys.field_plan import ESTIMATORS, FieldPlan

_CLASS_WEIGHTED = "shares of those asked in each class times the class's mean of the unbiased reports"
_SHOWN = ["of", "group", "reports", "estimate", "standard_error", "low", "high", "norm_sub", "mle"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number and how far it may be off.

    Parameters
    ----------
    of : str
        A label, "share" or "mean".
    group : str
        Empty for the population.
    reports : int
    estimate, standard_error, low, high : float
        `low` and `high` are clipped to the range, the unbiased estimate is not.
    interval : str
        How it was made: "exact", "guaranteed", or "t" with its degrees of freedom.
    sampling_error, randomisation_error : float
        Parts of the standard error; their squares add up to its square. Where chance makes the first negative it is 0.
    design_effect, design_effect_total : float
        Sampling variance, and all of it, over that of a simple random sample of as many; nan where nothing can be told.
    norm_sub, mle : float
        The same share of the estimate that is nearest among all distributions, and of the most likely one.
    remark : str
    """

    of: str
    group: str
    reports: int
    estimate: float
    standard_error: float
    low: float
    high: float
    interval: str
    sampling_error: float
    randomisation_error: float
    design_effect: float = math.nan
    design_effect_total: float = math.nan
    norm_sub: float = math.nan
    mle: float = math.nan
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Estimates:
    """All estimates of a survey, the population's first; ``print`` shows a table and the sentences for a report.

    `alpha` is the chance that an interval misses, of all labels together; `asked` are the people who were asked, of the
    clusters that have reports where the plan leaves it open; `weighted` says whether by nonresponse classes.
    """

    plan: FieldPlan
    alpha: float
    rows: tuple[Estimate, ...]
    asked: int
    weighted: bool = False

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return a row per estimate, and what was computed; what is not known is None."""
        rows = [{k: None if v != v else v for k, v in asdict(row).items()} for row in self.rows]
        return {"estimates": rows, "survey": [{"estimator": self.estimator, "level": round(1 - self.alpha, 12)}]}

    @property
    def estimator(self) -> str:
        """What was computed, in words."""
        return _CLASS_WEIGHTED if self.weighted else ESTIMATORS[self.plan.estimator]

    def __str__(self) -> str:
        import pandas as pd

        table = pd.DataFrame(self.tables()["estimates"])[_SHOWN].replace("", None).dropna(axis=1, how="all")
        shown = table.to_string(index=False, na_rep="", float_format=lambda number: f"{number:.4g}")
        return "\n".join([shown, "", *map(self._sentence, self.rows), *self._notes()])

    def _notes(self) -> list[str]:
        """Return what the estimates are for and rest on, and what became of the promise."""
        plan, reports = self.plan, self.rows[0].reports
        people = sum(size for size, _ in plan.strata.values()) if plan.strata else plan.population
        whom = f"the population of {people:,}" if people else "those who answered"
        notes = [f"Estimator: {self.estimator}.", f"Standard errors and intervals are for {whom}."]
        if reports < self.asked and plan.collection == "local":
            part = "class" if self.weighted else plan.unit
            taken = ": they are taken as drawn at random from those asked" + (f" of their {part}" if part else "")
            notes.append(f"{reports:,} of the {self.asked:,} people asked answered{taken if people else ''}.")
        if plan.error == plan.error:
            needed = plan.answers if self.asked == plan.asked else self.asked
            void = "it is for another estimator" if self.weighted else f"{needed:,} answers were planned for"
            kept = reports >= needed and not self.weighted
            promise = f"The plan promised an error below {plan.error:.4g} except with probability {plan.failure:.4g}"
            notes.append(f"{promise}{'' if kept else f', which is void: {void}'}.")
        return notes

    def _sentence(self, row: Estimate) -> str:
        whose = f" among {row.group}" if row.group else ""
        what, together = (f"share of {row.of}", ", simultaneous") if self.plan.labels else (row.of, "")
        effect = f"; design effect {row.design_effect:.3g} of sampling, {row.design_effect_total:.3g} in all"
        return (
            f"The {what}{whose} is estimated at {row.estimate:.4g} (standard error {row.standard_error:.3g}: sampling "
            f"{row.sampling_error:.3g}, randomisation {row.randomisation_error:.3g}; {100 * (1 - self.alpha):g} % "
            f"interval {row.low:.4g} to {row.high:.4g}, {row.interval}{together}; {row.reports:,} reports"
            f"{effect if row.design_effect == row.design_effect else ''})."
            + (f" Beware: {row.remark}." if row.remark else "")
        )
