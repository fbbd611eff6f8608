"""The mechanisms by the names they carry in figures, tables, plans and options.

Each entry makes the mechanism of a privacy loss. The two *as published* claim epsilon and lose
more.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ldpnb.mechanisms.contrasts import Contrast, SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans
from ldpnb.mechanisms.hashing import LocalHashing
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, MeanMechanism, OneBit
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection

FrequencyMechanism = (
    KaryRandomisedResponse | UnaryEncoding | SubsetSelection | LocalHashing | SignRandomiser
)
"""A mechanism for categorical answers.

A report supports its sender's value with probability `p`, ``1 - p`` being `miss_rate`, and any
other given value with probability `q`, ``p - q`` being `truthful_rate`; neither difference cancels.
``_holders(tallies, reports)`` is ``(tallies - reports q) / (p - q)``, unbiased for how many of the
senders hold each value: near epsilon 0 almost everything cancels, and is therefore cancelled in
whole numbers first.
"""

FREQUENCY: Mapping[str, Callable[[float, int], FrequencyMechanism]] = MappingProxyType(
    {
        "k-RR": KaryRandomisedResponse,
        "OUE": UnaryEncoding.optimised,
        "SUE": UnaryEncoding.symmetric,
        "subset selection": SubsetSelection.optimal,
        "signs": SignRandomiser,
        "OLH": LocalHashing.optimised,
    }
)
"""Mechanisms that estimate the share of users with each value, by name.

Each entry is called with ``epsilon``, in nats and ``> 0``, and ``domain_size``, the number of
values, at least 2. All are private for each user's own report, so no curator needs to be trusted.

- ``"k-RR"``: k-ary randomised response; best for few values or a large epsilon.
- ``"OUE"``, ``"SUE"``: unary encoding, a bit for each value, optimised and symmetric.
- ``"subset selection"``: a random set of values, which contains the user's own more often.
- ``"signs"``: a sign for each value, which is +1 more often for the user's own.
- ``"OLH"``: local hashing; short reports for many values.

>>> mechanism = FREQUENCY["k-RR"](epsilon=np.log(3), domain_size=2)
>>> round(float(mechanism.p), 12)
0.75
"""

MEAN: Mapping[str, Callable[[float, float], MeanMechanism]] = MappingProxyType(
    {
        "1-bit": OneBit,
        "local Laplace": LocalLaplace,
        "central Laplace": CentralLaplace,
    }
)
"""Mechanisms for a mean: ``MEAN[name](epsilon, upper)``."""

GAP: Mapping[str, Callable[..., GroupMeans | Contrast]] = MappingProxyType(
    {
        "M_R": lambda epsilon, sizes: DiscretisedMeans.calibrated(epsilon, len(sizes)),
        "M_L, k = 2": lambda epsilon, sizes: LaplaceMeans.calibrated(epsilon, len(sizes)),
        "signed bit": SignedBit,
        "signed Laplace": SignedLaplace,
        "M_R as published": lambda epsilon, sizes: DiscretisedMeans.published(epsilon, len(sizes)),
        "M_L as published": lambda epsilon, sizes: LaplaceMeans.published(epsilon, len(sizes)),
    }
)
"""Mechanisms for the gap between groups of these sizes: ``GAP[name](epsilon, sizes)``."""
