"""The mechanisms by the names that figures, tables and options give them.

Each entry of `FREQUENCY`, `MEAN` and `GAP` is called with a budget and makes a mechanism. Its exact
privacy loss is the budget, except for the two entries *as published*: they claim the budget and
lose more.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

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

A report supports its sender's value with probability `p`, and a given other value with probability
`q`. `miss_rate` is ``1 - p`` and `truthful_rate` is ``p - q``, both to all digits.

``_holders(tallies, reports)`` is ``(tallies - reports q) / (p - q)``, an unbiased estimate of how
many senders hold each value. Near epsilon 0 almost all of the numerator cancels, so each mechanism
first cancels whole numbers, without rounding.
"""

Maker = TypeVar("Maker")


class ByName(Mapping[str, Maker]):
    """Makers of mechanisms by name, which say what they are: ``FREQUENCY?`` shows it.

    Parameters
    ----------
    makers : mapping
        What is called to make a mechanism, by its name.
    meaning : str
        What the mechanisms are for, and how the makers are called.
    """

    def __init__(self, makers: Mapping[str, Maker], meaning: str) -> None:
        self._makers = dict(makers)
        self.__doc__ = meaning

    def __getitem__(self, name: str) -> Maker:
        return self._makers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __repr__(self) -> str:
        return f"<mechanisms: {', '.join(self)}>"


FREQUENCY: ByName[Callable[[float, int], FrequencyMechanism]] = ByName(
    {
        "k-RR": KaryRandomisedResponse,
        "OUE": UnaryEncoding.optimised,
        "SUE": UnaryEncoding.symmetric,
        "subset selection": SubsetSelection.optimal,
        "signs": SignRandomiser,
        "OLH": LocalHashing.optimised,
    },
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
""",
)

MEAN: ByName[Callable[[float, float], MeanMechanism]] = ByName(
    {
        "1-bit": OneBit,
        "local Laplace": LocalLaplace,
        "central Laplace": CentralLaplace,
    },
    """Mechanisms that estimate the mean of bounded numbers, by name.

Each entry is called with ``epsilon``, in nats and ``> 0``, and ``upper``, also ``> 0``: values lie
in ``[0, upper]``.

- ``"1-bit"``: one bit per user, set more often for larger values.
- ``"local Laplace"``: each user adds Laplace noise to their value.
- ``"central Laplace"``: a trusted curator adds Laplace noise to the sum.

>>> mechanism = MEAN["1-bit"](np.log(3), 10.0)
>>> mechanism.one_rate([0, 5, 10]).round(12).tolist()
[0.25, 0.5, 0.75]
""",
)

GAP: ByName[Callable[..., GroupMeans | Contrast]] = ByName(
    {
        "M_R": lambda epsilon, sizes: DiscretisedMeans.calibrated(epsilon, len(sizes)),
        "M_L, k = 2": lambda epsilon, sizes: LaplaceMeans.calibrated(epsilon, len(sizes)),
        "signed bit": SignedBit,
        "signed Laplace": SignedLaplace,
        "M_R as published": lambda epsilon, sizes: DiscretisedMeans.published(epsilon, len(sizes)),
        "M_L as published": lambda epsilon, sizes: LaplaceMeans.published(epsilon, len(sizes)),
    },
    """Mechanisms that estimate the gap between the means of two groups, by name.

Each entry is called with ``epsilon``, in nats and ``> 0``, and ``sizes``, the number of users in
each group, at least 1. The first two groups are compared. Values lie in ``[-1, 1]``.

- ``"M_R"``: a group and a sign, each by randomised response.
- ``"M_L, k = 2"``: a group by randomised response, and a value with Laplace noise.
- ``"signed bit"``: one sign for the gap alone.
- ``"signed Laplace"``: one number with Laplace noise for the gap alone.
- ``"M_R as published"``, ``"M_L as published"``: the first two with the budgets that Juarez and
  Korolova (2022) give them. They lose more than ``epsilon``.

>>> mechanism = GAP["M_R"](1.0, [500, 500])
>>> published = GAP["M_R as published"](1.0, [500, 500])
>>> round(float(mechanism.epsilon), 4), round(float(published.epsilon), 4)
(1.0, 1.3799)
""",
)
