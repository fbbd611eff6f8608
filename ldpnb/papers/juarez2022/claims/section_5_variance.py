"""Section 5 of juarez2022 with Appendices A.3 to A.5: unbiased means, their variances, and the variance and bias of the
gap.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ldpnb.accuracy import gaps
from ldpnb.claims import Verdict, agree, judge
from ldpnb.claims import old_claim as claim
from ldpnb.estimators import gaps as estimators
from ldpnb.mechanisms import groups
from ldpnb.papers.juarez2022 import routes

MECHANISMS: tuple[groups.GroupMeans, ...] = (
    groups.DiscretisedMeans(1.0, 1.0),
    groups.DiscretisedMeans(0.3, 2.0, 3),
    groups.LaplaceMeans(0.5, 1.0),
    groups.LaplaceMeans(0.7, 0.4, 2 / 3, 3),
)
VALUES = np.array([-1.0, -0.2, 0.4, 1.0])


def example_counts(number: int) -> NDArray[np.int64]:
    """Return how many clients of each of a few groups hold each of `VALUES`: sizes and means all differ."""
    return np.array([[2, 1, 3, 4], [5, 0, 2, 1], [1, 1, 1, 3]])[:number]


@claim(
    "juarez2022",
    "Proposition 5.2",
    says="the estimated group means are unbiased",
    rests_on=(
        "mechanisms.groups.DiscretisedMeans.gain",
        "mechanisms.groups.LaplaceMeans.gain",
        "estimators.gaps.group_means",
    ),
)
def proposition_5_2() -> Verdict:
    """Add up the exact expectation of every client's contribution to every group, and put it through the estimator."""
    worst, sound = 0.0, True
    for mechanism in MECHANISMS:
        counts = example_counts(mechanism.groups)
        sums = sum(
            clients * routes.report_moments(mechanism, group, float(value))[0]
            for group, row in enumerate(counts)
            for clients, value in zip(row, VALUES, strict=True)
        )
        gain = routes.printed_keep(mechanism.group_epsilon, mechanism.groups)
        if isinstance(mechanism, groups.DiscretisedMeans):
            gain *= 2 * routes.printed_truth(mechanism.value_epsilon) - 1
        truth = counts @ VALUES / counts.sum(axis=1)
        estimate = estimators.group_means(mechanism, sums, counts.sum(axis=1))
        sound &= agree(mechanism.gain, gain)
        worst = max(worst, float(np.abs(estimate - truth).max()))
    return Verdict(
        judge(worst < 1e-12, sound=sound, otherwise="refuted"),
        f"the exact expectation equals the mean of every group, 2 and 3 groups of 6 to 10 clients, {len(MECHANISMS)} mechanisms",
        "enumeration",
        assumption="the size n of each group is known",
    )


def _variance_verdict(
    family: type[groups.GroupMeans],
    printed: Callable[[groups.GroupMeans, int, int, float], float],
    formula: Callable[..., float],
    mended: str,
) -> Verdict:
    """Compare a variance formula of the package with enumeration, and the printed one with both, at 2 and 3 groups."""
    sound, holds, three = True, True, []
    for mechanism in (m for m in MECHANISMS if isinstance(m, family)):
        counts = example_counts(mechanism.groups)
        sizes, total = counts.sum(axis=1), int(counts.sum())
        for group in range(mechanism.groups):
            nu2 = float(counts[group] @ VALUES**2 / sizes[group])
            exact = formula(mechanism, int(sizes[group]), total, nu2)
            sound &= agree(exact, _enumerated_mean_variance(mechanism, counts, group))
            source = printed(mechanism, int(sizes[group]), total, nu2)
            if mechanism.groups == 2:
                holds &= agree(source, exact)
            else:
                three.append(source / exact)
    return Verdict(
        judge(holds, sound=sound),
        f"printed formula and enumeration of every client's report agree for 2 groups; for 3 groups the printed one is {min(three):.4f} to "
        f"{max(three):.4f} times the exact variance",
        "enumeration",
        assumption=f"two groups; for d groups {mended}",
    )


def _enumerated_mean_variance(mechanism: groups.GroupMeans, counts: NDArray[np.int64], group: int) -> float:
    gain = routes.printed_keep(mechanism.group_epsilon, mechanism.groups)
    if isinstance(mechanism, groups.DiscretisedMeans):
        gain *= 2 * routes.printed_truth(mechanism.value_epsilon) - 1
    total = 0.0
    for own, row in enumerate(counts):
        for clients, value in zip(row, VALUES, strict=True):
            first, second = routes.report_moments(mechanism, own, float(value))
            total += clients * (second[group] - first[group] ** 2)
    return float(total / (gain * counts[group].sum()) ** 2)


@claim(
    "juarez2022",
    "Equation (19)",
    says="the variance of a group mean under M_L",
    rests_on=("accuracy.gaps.variance_laplace_mean", "mechanisms.groups.LaplaceMeans.law"),
)
def equation_19() -> Verdict:
    """Compare with the sum of the clients' exact variances."""

    def printed(mechanism: groups.GroupMeans, size: int, clients: int, nu2: float) -> float:
        budgets = (mechanism.group_epsilon, mechanism.value_epsilon, getattr(mechanism, "k", 2.0))
        return routes.printed_variance_laplace(*budgets, size=size, clients=clients, second_moment=nu2)

    mended = "1 - a becomes (1 - a)/(d - 1) in the last term, and e^-eps1 = (1 - a)/a in the first"
    return _variance_verdict(groups.LaplaceMeans, printed, gaps.variance_laplace_mean, mended)


@claim(
    "juarez2022",
    "Equation (20)",
    says="the variance of a group mean under M_R",
    rests_on=("accuracy.gaps.variance_discretised_mean", "mechanisms.groups.DiscretisedMeans.channel"),
)
def equation_20() -> Verdict:
    """Compare with the sum of the clients' exact variances."""

    def printed(mechanism: groups.GroupMeans, size: int, clients: int, nu2: float) -> float:
        a = routes.printed_keep(mechanism.group_epsilon, mechanism.groups)
        t = 2 * routes.printed_truth(mechanism.value_epsilon) - 1
        return (1 - a * t**2 * nu2 + (clients - size) / size * (1 - a) / a) / (a * t**2 * size)

    mended = "1 - a becomes (1 - a)/(d - 1)"
    return _variance_verdict(groups.DiscretisedMeans, printed, gaps.variance_discretised_mean, mended)


@claim(
    "juarez2022",
    "Theorem 5.4, variance",
    says="the errors of the two group means are uncorrelated, so that the variance of the gap is the sum of theirs",
    rests_on=("accuracy.gaps.gap_variance", "accuracy.gaps.mean_variance"),
)
def theorem_5_4_variance() -> Verdict:
    """Add up every client's exact contribution to both means; the covariance is what is left beyond the two variances."""
    sound, covariances = True, []
    for mechanism in MECHANISMS:
        counts = example_counts(mechanism.groups)
        sizes, total = counts.sum(axis=1), int(counts.sum())
        moments = [float(counts[g] @ VALUES**2 / sizes[g]) for g in (0, 1)]
        stated = gaps.gap_variance(mechanism, sizes, (moments[0], moments[1]))
        parts = [gaps.mean_variance(mechanism, int(sizes[g]), total, moments[g]) for g in (0, 1)]
        enumerated = [_enumerated_mean_variance(mechanism, counts, g) for g in (0, 1)]
        exact = routes.gap_moments(mechanism, counts, VALUES)[1]
        covariances.append(abs(sum(enumerated) - exact) / exact)
        sound &= agree([*parts, stated], [*enumerated, exact])
    return Verdict(
        judge(max(covariances) < 1e-12, sound=sound),
        f"covariance 0 to 12 digits by complete enumeration for {len(MECHANISMS)} mechanisms with 2 and 3 groups: a client adds to one group at "
        "most, and to another than its own with mean 0",
        "enumeration",
    )


@claim(
    "juarez2022",
    "Theorem 5.4, unbiased",
    says="the absolute difference of the two estimated means is an unbiased estimate of the gap, with mean squared error the sum of theirs",
    rests_on=("accuracy.gaps.absolute_gap_bias", "accuracy.gaps.absolute_gap_mse"),
)
def theorem_5_4_unbiased() -> Verdict:
    """Integrate the absolute value of a normal estimate, and enumerate that of M_R for 10 + 10 clients without a gap."""
    x = np.linspace(-12, 12, 240_001)
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) * (x[1] - x[0])
    ratios, squares, sound = [], [], True
    for gap in (0.0, 0.5, 1.0, 2.0):
        bias, mse = gaps.absolute_gap_bias(1.0, gap), gaps.absolute_gap_mse(1.0, gap)
        error = np.abs(gap + x) - gap
        sound &= agree([bias, mse], [density @ error, density @ error**2], rel=1e-6)
        sound &= agree(gaps.absolute_gap_bias(0.3, 0.3 * gap), 0.3 * bias)
        ratios.append(float(bias))
        squares.append(float(mse))
    mechanism, clients = groups.DiscretisedMeans(1.0, 1.0), 20
    heads = np.arange(clients + 1)
    chances = np.exp(gammaln(clients + 1) - gammaln(heads + 1) - gammaln(clients - heads + 1) - clients * np.log(2))
    small = float(chances @ np.abs(2 * heads - clients)) * 2 / clients / mechanism.gain
    s = float(np.sqrt(gaps.gap_variance(groups.DiscretisedMeans.published(0.1), (5 * 10**6, 5 * 10**6), (0.0, 0.0))))
    return Verdict(
        judge(max(ratios) < 1e-9, sound=sound and small > 0),
        f"bias {ratios[0]:.4f}, {ratios[1]:.4f}, {ratios[2]:.4f} and {ratios[3]:.4f} standard deviations at gaps of 0, 0.5, 1 and 2 of them, "
        f"mean squared error {squares[0]:.3f}, {squares[1]:.3f}, {squares[2]:.3f} and {squares[3]:.3f} of the sum; 10 + 10 clients without a gap "
        f"show {small:.3f} on average at epsilon 1; 10^7 clients at 0.1 show {float(gaps.absolute_gap_bias(s, 0.0)):.4f}",
        "certified",
        corrected="the signed gap is unbiased with the summed variance s^2; its absolute value has the bias "
        "s sqrt(2/pi) e^(-D^2/2s^2) - 2 D Phi(-D/s) and a smaller mean squared error, so that Chebyshev's bound stays valid",
    )
