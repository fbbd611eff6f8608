"""Section 6 of juarez2022: what clients that never report do to the estimates."""

import numpy as np

from ldpnb.accuracy import gaps
from ldpnb.claims import Evidence, claim
from ldpnb.mechanisms import groups
from ldpnb.papers.juarez2022 import routes
from ldpnb.papers.juarez2022.proofs import errors


@claim(
    "Section 6, dropouts",
    gaps.misestimated_gap_bias,
    groups.DiscretisedMeans.gain,
    groups.LaplaceMeans.gain,
    kind="enumeration",
    otherwise="corrected",
    assumption="Definition 5.1 as it stands: sums are divided by the sizes n of the whole groups. It is true that "
    "reports are independent, so that no dropout stops the protocol",
    corrected="where a share d_G of a group drops out, unrelated to the values, its estimated mean is (1 - d_G) m_G, "
    "and the gap is off by d_H m_H - d_G m_G for any K; divide by the numbers of those who report, if they are known",
    reach="all parameters",
    over="eps1, eps2, k > 0, every number and all sizes of groups, all shares below 1 and all means",
    argument="the estimate is linear in what every client adds",
)
def dropouts(e: Evidence) -> str:
    """the mechanisms are robust to client dropouts"""
    sizes, shares, values = np.array([1000, 1000]), np.array([0.3, 0.1]), [0.8, 0.8]
    left = np.diag(np.rint(sizes * (1 - shares)).astype(int))
    bias = gaps.misestimated_gap_bias(tuple(1 / (1 - shares)), tuple(values))
    for mechanism in (groups.DiscretisedMeans(1.0, 1.0), groups.LaplaceMeans(0.5, 1.0)):
        means = [routes.mean_moments(mechanism, left, values, group)[0] for group in (0, 1)]
        e.same(mechanism.gain, routes.printed_gain(mechanism))
        first, second = np.array(means) * (1 - shares)
        e.same(first - second, bias)
    e.proven(errors.means_are_unbiased() and errors.dropouts_are_a_bias())
    e.needs(abs(bias) < 1e-9)
    return (
        f"if {shares[0]:.0%} of one group and {shares[1]:.0%} of the other drop out, two groups of mean {values[0]:g} "
        f"show a gap of {bias:.2f}, with {sizes[0]} clients each as with any number"
    )
