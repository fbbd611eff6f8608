"""The answer to a survey's question: every number that follows from it, as text, table or JSON."""

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ldpnb.notebook.prose import rounded_up
from ldpnb.privacy.participation import participation_loss
from ldpnb.privacy.releases import releases_loss
from ldpnb.surveys import response
from ldpnb.surveys.open_designs import ClusterDesign, SimpleDesign
from ldpnb.surveys.unequal_designs import UnequalClusterDesign

if TYPE_CHECKING:
    from ldpnb.planning.survey import Survey


@dataclass(frozen=True, slots=True)
class SurveyPlan:
    """A survey with the quantity filled in that was left out, and everything that follows.

    Parameters
    ----------
    survey : Survey
        Complete.
    unknown : str
        What was asked.
    """

    survey: "Survey"
    unknown: str

    @property
    def count(self) -> int:
        """Units that answer."""
        return int(self.survey.count or 0)

    @property
    def epsilon(self) -> float:
        """Loss of a report, or of a curator's release."""
        return float(self.survey.epsilon or 0)

    @property
    def error(self) -> float:
        """What the estimate is off by at most, except with probability `failure`."""
        return float(self.survey.error or 0)

    @property
    def failure(self) -> float:
        """The chance of a larger error; the chance that too few answer comes on top."""
        return float(self.survey.failure or 0)

    @property
    def answers(self) -> int:
        """People who answer."""
        return self.survey.design.people(self.count)

    @property
    def invited(self) -> int:
        """People to be asked so that enough answer."""
        return sum(self.survey.invited)

    @property
    def reported(self) -> float:
        """Loss of all reports of a person, to whoever receives them, or of all that a curator releases."""
        return self.epsilon * (self.survey.releases if self.survey.collection == "local" else 1)

    @property
    def released(self) -> float:
        """Loss of all that is released, under replacement, to readers who cannot know who was asked."""
        s = self.survey
        if s.collection == "central" or not s.secret:
            return self.reported
        return self._kept()

    def _kept(self, *, fresh: bool = False) -> float:
        """Return what reports of a secret sample lose, as often as there are releases."""
        s = self.survey
        budgets = [self.epsilon] * s.releases
        return float(releases_loss(budgets, lambda e: s.design.loss(self.count, float(e), s.invited), fresh=fresh))

    @property
    def released_without(self) -> float:
        """The same under deletion of a record; infinite where the number of reports or answers reveals it.

        Numbers drawn and weights are assumed to stay: with a fixed size somebody else is drawn instead.
        """
        s = self.survey
        if s.nonresponse or not (s.collection == "central" or s.secret):
            return math.inf
        scale = s.scale() / s.releases
        reach = s.span / (2 * scale) if s.hidden and scale else math.inf
        return s.design.loss_without(self.count, self.released, reach)

    @property
    def design_effects(self) -> tuple[float, float]:
        """Sampling and total variance, each over that of a simple random sample of as many people at its worst."""
        s, parts = self.survey, self.survey.variance()
        if not isinstance(s.design, SimpleDesign | ClusterDesign | UnequalClusterDesign):
            return math.nan, math.nan
        simple = SimpleDesign(s.design.population, s.design.s2)
        plain = simple.variance(self.answers, s.reports, s.span)
        ratio = float(parts.sampling / plain.sampling) if plain.sampling else math.nan
        return ratio, float(parts.total / plain.total) if plain.total else math.nan

    @property
    def response_bias(self) -> float | None:
        """Largest bias if response depends on the value, at rates in the stated range; None without one."""
        s = self.survey
        return response.bias_bound(*s.response_range, s.span) if s.response_range else None

    @property
    def silence_loss(self) -> float | None:
        """Loss of a report and of its absence, if response depends on the value."""
        s = self.survey
        if s.response_range is None or s.collection == "central":
            return None
        lowest, highest = s.response_range
        return float(participation_loss(self.reported, lowest_rate=lowest, highest_rate=highest))

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the answer, unrounded."""
        s, parts = self.survey, self.survey.variance()
        return {
            "asked": self.unknown,
            "collection": s.collection,
            "mechanism": s.mechanism if s.collection == "local" else "Laplace noise of a curator",
            "unit": s.design.unit,
            "count": self.count,
            "population": s.design.population,
            "answers": self.answers,
            "invited": self.invited,
            "epsilon": self.epsilon,
            "error": self.error,
            "failure": self.failure,
            "failure_with_response": self.failure + (s.response_failure if s.nonresponse else 0.0),
            "bound": s.chance()[1],
            "response_bias": self.response_bias,
            "loss_of_report_or_absence": self.silence_loss,
            "sampling_sd": math.sqrt(float(parts.sampling)),
            "randomisation_sd": math.sqrt(float(parts.randomisation) + 2 * s.scale() ** 2),
            "noise_scale": s.scale() or None,
            "design_effect_sampling": self.design_effects[0],
            "design_effect_total": self.design_effects[1],
            "releases": s.releases,
            "loss_of_report": self.epsilon if s.collection == "local" else None,
            "loss_of_reports": self.reported if s.collection == "local" else None,
            "loss_of_release": self.released,
            "neighbours": "replacement of one person's value",
            "loss_of_release_deletion": self.released_without,
            "secret_sample": s.secret,
            "notes": " ".join(s.notes) or None,
        }

    def to_frame(self) -> Any:
        """Return the answer as a table of one row."""
        import pandas as pd

        return pd.DataFrame([self.to_dict()])

    def to_json(self) -> str:
        """Return the answer as a JSON object; what is not defined is null."""
        told = self.to_dict().items()
        plain = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in told}
        return json.dumps(plain, indent=1)

    def __str__(self) -> str:
        s, told = self.survey, self.to_dict()
        lines = [f"{s.design.describe(self.count)[:1].upper()}{s.design.describe(self.count)[1:]}."]
        if s.nonresponse:
            lines[0] = lines[0].replace("Ask", "Get answers from").replace("and ask", "and get answers from")
            fewer = f"fewer answer with probability {s.response_failure:g} at most"
            lines.append(f"Invite {self.invited:,} people{s.design.answering(s.invited, s.response)}; {fewer}.")
        missed = rounded_up(told["failure_with_response"])
        lines.append(
            f"The mean is off by {rounded_up(self.error)} or more with probability {missed}"
            f" at most ({told['bound']}{', an approximation' if s.tail == 'normal' else ''})."
        )
        effect = told["design_effect_sampling"]
        effects = f"; design effect {effect:.3g} of sampling, {told['design_effect_total']:.3g} in all"
        lines.append(
            f"Standard deviation: sampling {told['sampling_sd']:.3g}, randomisation {told['randomisation_sd']:.3g}"
            f"{effects if math.isfinite(effect) else ''}."
        )
        more = s.design.notes(self.count, s.reports, s.span)
        return "\n".join([*lines, *more, *self._privacy(), *self._deletion(), *self._selection(), *s.notes])

    def _deletion(self) -> list[str]:
        loss = self.released_without
        if math.isinf(loss):
            return ["If a whole record may be absent (deletion), no loss is promised: who or how many take part tells."]
        kept = "numbers drawn and weights staying as they are"
        return [f"If a whole record may be absent (deletion), what is released loses {rounded_up(loss)}, {kept}."]

    def _privacy(self) -> list[str]:
        s = self.survey
        if s.collection == "central":
            return self._of_a_curator()
        reports = f"A report loses {rounded_up(self.epsilon)} to whoever receives it"
        if s.releases > 1:
            reports += f", and the {s.releases:,} of a person {rounded_up(self.reported)}"
        if s.secret:
            told = "to readers who see neither who was asked nor the order of reports"
            fresh = f" Fresh samples would lose {rounded_up(self._kept(fresh=True))}." if s.releases > 1 else ""
            return [f"{reports}; what is released {rounded_up(self.released)}, under replacement, {told}.{fresh}"]
        if s.response_range is not None or s.weights > 1:
            return [f"{reports}, and so does what is released."]
        kept = self._kept()
        if kept > 0.99 * self.reported:
            return [f"{reports}, and so does what is released: a secret sample would gain nothing."]
        hidden = f"if its readers cannot know who was asked (--secret-sample), {rounded_up(kept)} under replacement"
        return [f"{reports}, and so does what is released; {hidden}."]

    def _of_a_curator(self) -> list[str]:
        s = self.survey
        known = "a secret sample" if s.hidden else "a sample that may be known"
        noise = f"A curator adds Laplace noise of scale {s.scale():.4g}"
        if s.releases == 1:
            return [f"{noise}; the release loses {rounded_up(self.epsilon)} under replacement ({known})."]
        fresh = s.design.scale(self.count, self.epsilon / s.releases, s.span, secret=s.hidden)
        told = f"of fresh samples, {fresh:.4g} would do"
        together = f"together they lose {rounded_up(self.epsilon)} under replacement ({known}; {told})"
        return [f"{noise} to each of the {s.releases:,} releases; {together}."]

    def _selection(self) -> list[str]:
        if self.response_bias is None or self.survey.response_range is None:
            return []
        lowest, highest = self.survey.response_range
        line = f"If response depends on the value, at rates from {lowest:g} to {highest:g}, the mean is biased by up to"
        line += f" {rounded_up(self.response_bias)}, however many answer"
        loss = self.silence_loss
        return [f"{line}." if loss is None else f"{line}, and a report or its absence loses {rounded_up(loss)}."]
