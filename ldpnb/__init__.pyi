from .accuracy.best_allocation import best_rule
from .accuracy.budgets import smallest_epsilon
from .accuracy.distances import expected_total_variation
from .accuracy.dropouts import dropout_error, estimated_sizes_variance
from .accuracy.exact_distances import exact_total_variation
from .accuracy.exact_risk import exact_risks
from .accuracy.gaps import GroupGap
from .accuracy.information import distribution_error, fisher_information, frequency_error
from .accuracy.lower_bounds import EntropyBounds, LowerBounds
from .accuracy.means import users_needed
from .accuracy.personalised import PersonalRates
from .accuracy.sampling import SampledCounts
from .accuracy.shrinkage import best_share, rare_risk, shrunk_count, unscaled_below
from .claims import Evidence, Verdict, agree, claim, decide
from .data.channels import load_channel
from .data.column import Column
from .data.files import load_counts, load_groups
from .data.inspection import inspect
from .data.public import adult
from .data.reading import Reading
from .designs.sizes import binomial_size, fixed_size, size_law
from .designs.strata import Strata
from .estimators.bayes import fitted_concentration, posterior
from .estimators.frequency import project_simplex, unbiased
from .estimators.gaps import absolute_interval, group_means, self_sized_means, signed_gap
from .estimators.likelihood import krr_mle, mle, support_mle
from .estimators.sampling import hajek, horvitz_thompson
from .mechanisms.best_gap import BestGapChannel
from .mechanisms.contrasts import SignedBit, SignedLaplace
from .mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from .mechanisms.groups import DiscretisedMeans, LaplaceMeans
from .mechanisms.hashing import LocalHashing
from .mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from .mechanisms.registry import FREQUENCY, GAP, MEAN
from .mechanisms.signs import SignRandomiser
from .mechanisms.subsets import SubsetSelection
from .planning.design import Design
from .planning.power import Power
from .planning.questions import Frequency, Gap, Mean
from .planning.solve import plan
from .planning.survey import Survey
from .planning.survey_files import load_classes, load_clusters, load_strata, load_weights
from .planning.survey_questions import SurveyQuestions
from .planning.survey_words import pilot
from .privacy.audit import Audit, audit
from .privacy.best_channel import best_channel
from .privacy.blanket import Blanket
from .privacy.channel import privacy_loss
from .privacy.clusters import ClusterSample
from .privacy.hockey_stick import channel_delta, epsilon_at_delta, total_variation
from .privacy.optimiser import largest_loss
from .privacy.participation import participation_loss
from .privacy.purify import purified
from .privacy.random_size import random_size_loss
from .privacy.releases import releases_loss
from .privacy.rounding import random_rounding_loss, rounding_threshold
from .privacy.shuffling import ShuffledReports, gaussian_deviation, local_budget
from .privacy.subsampling import poisson_loss, srs_budget, srs_loss, with_replacement_loss
from .privacy.unequal import Inclusion
from .rng import stream
from .surveys.open_designs import ClusterDesign, SimpleDesign
from .surveys.strata_designs import StratifiedDesign
from .surveys.unequal_designs import PoissonDesign, UnequalClusterDesign

__version__: str
__all__ = [
    "FREQUENCY",
    "GAP",
    "MEAN",
    "Audit",
    "BestGapChannel",
    "Blanket",
    "CentralLaplace",
    "ClusterDesign",
    "ClusterSample",
    "Column",
    "Design",
    "DiscretisedMeans",
    "EntropyBounds",
    "Evidence",
    "Frequency",
    "Gap",
    "GroupGap",
    "Inclusion",
    "KaryRandomisedResponse",
    "LaplaceMeans",
    "LocalHashing",
    "LocalLaplace",
    "LowerBounds",
    "Mean",
    "OneBit",
    "PersonalRates",
    "PoissonDesign",
    "Power",
    "Reading",
    "SampledCounts",
    "ShuffledReports",
    "SignRandomiser",
    "SignedBit",
    "SignedLaplace",
    "SimpleDesign",
    "Strata",
    "StratifiedDesign",
    "SubsetSelection",
    "Survey",
    "SurveyQuestions",
    "UnaryEncoding",
    "UnequalClusterDesign",
    "Verdict",
    "absolute_interval",
    "adult",
    "agree",
    "audit",
    "best_channel",
    "best_rule",
    "best_share",
    "binomial_size",
    "channel_delta",
    "claim",
    "decide",
    "distribution_error",
    "dropout_error",
    "epsilon_at_delta",
    "estimated_sizes_variance",
    "exact_risks",
    "exact_total_variation",
    "expected_total_variation",
    "fisher_information",
    "fitted_concentration",
    "fixed_size",
    "frequency_error",
    "gaussian_deviation",
    "group_means",
    "hajek",
    "horvitz_thompson",
    "inspect",
    "krr_mle",
    "largest_loss",
    "load_channel",
    "load_classes",
    "load_clusters",
    "load_counts",
    "load_groups",
    "load_strata",
    "load_weights",
    "local_budget",
    "mle",
    "participation_loss",
    "pilot",
    "plan",
    "poisson_loss",
    "posterior",
    "privacy_loss",
    "project_simplex",
    "purified",
    "random_rounding_loss",
    "random_size_loss",
    "rare_risk",
    "releases_loss",
    "rounding_threshold",
    "self_sized_means",
    "shrunk_count",
    "signed_gap",
    "size_law",
    "smallest_epsilon",
    "srs_budget",
    "srs_loss",
    "stream",
    "support_mle",
    "total_variation",
    "unbiased",
    "unscaled_below",
    "users_needed",
    "with_replacement_loss",
]
