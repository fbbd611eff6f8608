"""Mutations beyond scaling for the formulas of biswas2022: a node too many, the rate of the complement."""

from collections.abc import Callable
from typing import Any

Formula = Callable[..., Any]


def scaled(factor: float) -> Callable[[Formula], Formula]:
    return lambda formula: lambda *args, **kwargs: formula(*args, **kwargs) * factor


def one_node_more(formula: Formula) -> Formula:
    return lambda *args, nodes, **kwargs: formula(*args, nodes=nodes + 1, **kwargs)


def another_rate(formula: Formula) -> Formula:
    return lambda *args, sampling_rate, **kwargs: formula(*args, sampling_rate=1.5 - sampling_rate / 2 - 0.5, **kwargs)


SCALINGS = [scaled(1.01), scaled(2.0), scaled(-1.0)]
SIZED = (
    "accuracy.sampling.mean_unadjusted",
    "accuracy.sampling.bias_unadjusted",
    "accuracy.sampling.variance_unadjusted",
    "accuracy.sampling.variance_rescaled",
    "accuracy.sampling.variance_realised_size",
    "accuracy.sampling.variance_gain",
    "accuracy.sampling.rare_variance_rescaled",
    "accuracy.sampling.rare_variance_realised_size",
    "papers.biswas2022.displayed.published_variance_unadjusted",
    "papers.biswas2022.displayed.published_variance_realised_size",
    "papers.biswas2022.displayed.published_normalised_variance",
    "privacy.shuffling.delta_upper",
    "privacy.shuffling.delta_lower",
    "estimators.sampling.rescaled",
)

MUTATIONS = {path: [*SCALINGS, one_node_more, another_rate] for path in SIZED}
MUTATIONS["estimators.sampling.unadjusted"] = [*SCALINGS, one_node_more]
MUTATIONS["estimators.sampling.personalised"] = [*SCALINGS, one_node_more]
MUTATIONS["estimators.sampling.realised_size"] = [*SCALINGS, another_rate]
