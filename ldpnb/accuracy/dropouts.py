"""Users who do not answer: what dropout does to the gap of juarez2022, and what estimating the group sizes repairs.

Users drop out whatever their value, a share of each group that nobody knows. Definition 5.1 divides by the sizes of the
whole groups and is off by a bias that no number of users removes. Sizes estimated from the reported groups, by
randomised response's own inversion, make the gap consistent again, at a variance that the delta method gives.
"""

from ldpnb import checks
from ldpnb.accuracy import gaps
from ldpnb.arithmetic import Real, is_exact
from ldpnb.mechanisms.contrasts import require_pair
from ldpnb.mechanisms.groups import DiscretisedMeans


def estimated_sizes_variance(
    mechanism: DiscretisedMeans,
    sizes: tuple[int, ...],
    means: Real,
    second_moments: Real,
    pair: tuple[int, int] = (0, 1),
) -> Real:
    """Return the delta-method variance of the gap if the sizes are estimated from the reported groups.

    To that of known sizes each group adds ``m^2 [n (1-a)(2 a' - a) + (K-n) a'(1-a')] / ((a-a') n)^2``, with ``a`` the
    chance to keep the group and ``a'`` to move to a given one, and both together ``2 K a'^2 m m' / ((a-a')^2 n n')``:
    in all ``2 (1-a)^2 (m + m')^2 / ((2a-1)^2 n)`` for two equal groups.

    - `sizes`, (d,) int: users of every group who answer, ``>= 1``.
    - `means`, `second_moments`, (2,) float: of the values in the two groups compared, in ``[-1, 1]`` and ``[0, 1]``.
    - `pair`, (int, int): these groups.

    >>> mechanism = DiscretisedMeans(1.0, 1.0)
    >>> round(float(estimated_sizes_variance(mechanism, (10_000, 10_000), (0.0, 0.0), (0.0, 0.0))), 12)
    0.001752352426
    """
    if not isinstance(mechanism, DiscretisedMeans):
        raise TypeError(f"mechanism must be a DiscretisedMeans, got mechanism={mechanism!r}")
    members = [checks.whole(sizes=size, at_least=1) for size in checks.entries(mechanism.groups, sizes=sizes)]
    means = [checks.numbers(means=mean, low=-1, high=1) for mean in checks.entries(2, means=means)]
    checks.entries(2, second_moments=second_moments)
    if not is_exact(mechanism.groups):
        pair = require_pair(pair, mechanism.groups)
    own = [members[g] for g in pair]
    users, kept, moved = sum(members), mechanism.keep, mechanism.move
    apart = kept - moved
    known = sum(gaps.mean_variance(mechanism, n, users, nu2) for n, nu2 in zip(own, second_moments, strict=True))
    added = sum(
        m * m * (n * (1 - kept) * (2 * moved - kept) + (users - n) * moved * (1 - moved)) / (apart * n * apart * n)
        for n, m in zip(own, means, strict=True)
    )
    return known + added + 2 * users * moved * moved * means[0] * means[1] / (apart * apart * own[0] * own[1])


def dropout_error(
    mechanism: DiscretisedMeans, sizes: tuple[int, ...], dropped: Real, means: Real, second_moments: Real
) -> Real:
    """Return the mean squared error of Definition 5.1's gap between two groups, which divides by the whole sizes.

    Estimating the sizes pays where `estimated_sizes_variance` is smaller.

    - `mechanism`, DiscretisedMeans: for two groups.
    - `sizes`, (2,) int: users of either group who answer.
    - `dropped`, (2,) float: shares of either group that do not, in ``[0, 1)``.
    - `means`, `second_moments`, (2,) float: of the values, as above.

    >>> mechanism = DiscretisedMeans(1.0, 1.0)
    >>> round(float(dropout_error(mechanism, (700, 900), (0.3, 0.1), (0.8, 0.8), (0.64, 0.64))), 6)
    0.038595
    """
    shares = [checks.probability(dropped=share) for share in checks.entries(2, dropped=dropped)]
    for share in shares:
        if not is_exact(share) and share == 1:
            raise ValueError(f"dropped must lie in [0, 1), got dropped={share!r}")
    factors = tuple(1 / (1 - share) for share in shares)
    bias = gaps.misestimated_gap_bias(factors, means)
    return bias * bias + gaps.GroupGap(mechanism, sizes).misestimated_variance(factors, second_moments)
