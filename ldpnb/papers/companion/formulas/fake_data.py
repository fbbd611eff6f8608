"""One of several attributes is reported, and the others are faked.

In *random sampling plus fake data* (RS+FD) a user draws one of ``d`` attributes at random,
randomises its value with the budget ``ln(d (e^epsilon - 1) + 1)``, and sends fake values for all
other attributes, so that nobody sees which one was drawn. An observer sees the whole report of one
user. Here the randomiser is k-ary randomised response and fake values are uniform.

References
----------
Arcolezi, Couchot, Al Bouna and Xiao (2021). Random sampling plus fake data: multidimensional
frequency estimates with local differential privacy. CIKM. arXiv:2109.07269.
"""

import itertools
from collections.abc import Collection, Sequence

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Floats, Real
from ldpnb.mechanisms.frequency import KaryRandomisedResponse


def amplified_budget(epsilon: Real, attributes: Real) -> Real:
    """Return the budget ``ln(d (e^epsilon - 1) + 1)`` with which the drawn attribute is randomised.

    It is also the exact loss between two users who differ in every attribute.

    Parameters
    ----------
    epsilon : float
        The stated budget in nats, > 0.
    attributes : int
        Their number ``d``, at least 1.

    Returns
    -------
    float

    Examples
    --------
    >>> round(float(amplified_budget(1.0, 2)), 3)
    1.49
    """
    return np.log1p(attributes * np.expm1(epsilon))


def weight(epsilon: Real, attributes: Real, domain_size: Real) -> Real:
    """Return ``c = k / (A + k - 1)`` with ``A = d (e^epsilon - 1) + 1``.

    It is for an attribute of ``k`` values.

    A reported value is ``c`` times as likely as a fake one if its user holds another value, and
    ``A c`` times as likely if its user holds it.
    """
    growth = attributes * np.expm1(epsilon)
    return domain_size / (growth + domain_size)


def loss_of_weights(epsilon: Real, attributes: Real, *, differing: Real, total: Real) -> Real:
    """Return ``ln(1 + d (e^epsilon - 1) differing / total)``.

    Parameters
    ----------
    epsilon : float
        The stated budget in nats, > 0.
    attributes : int
        Their number ``d``.
    differing, total : float
        The sum of `weight` over the attributes in which two users differ, and over all.
    """
    return np.log1p(attributes * np.expm1(epsilon) * differing / total)


def loss(epsilon: float, domain_sizes: Sequence[int], differing: Collection[int]) -> float:
    """Return the exact privacy loss between two users who differ in some attributes and no others.

    Parameters
    ----------
    epsilon : float
        The stated budget in nats, > 0.
    domain_sizes : sequence of int
        The number of values of each attribute, at least 2.
    differing : collection of int
        Indices of the attributes in which the two users differ, at least one.

    Returns
    -------
    float
        Nats.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    Two attributes of equal size keep the stated budget one by one, and not together.

    >>> [round(loss(1.0, [2, 2], some), 4) for some in ([0], [0, 1])]
    [1.0, 1.4899]
    """
    checks.positive(epsilon, "epsilon")
    sizes = [checks.whole(size, "domain_sizes", at_least=2) for size in domain_sizes]
    chosen = sorted(set(differing))
    if not chosen or not set(chosen) <= set(range(len(sizes))):
        raise ValueError(
            f"differing must be indices of attributes below {len(sizes)}, got {sorted(differing)}"
        )
    weights = [weight(epsilon, len(sizes), size) for size in sizes]
    part = sum(weights[place] for place in chosen)
    return float(loss_of_weights(epsilon, len(sizes), differing=part, total=sum(weights)))


def channel(epsilon: float, domain_sizes: Sequence[int]) -> Floats:
    """Return the channel of a whole report by enumeration, for few attributes of few values.

    Parameters
    ----------
    epsilon : float
        The stated budget in nats, > 0.
    domain_sizes : sequence of int
        The number of values of each attribute.

    Returns
    -------
    ndarray, shape (reports, people)
        Rows and columns are all tuples of values, in the order of `itertools.product`.
    """
    budget = amplified_budget(epsilon, len(domain_sizes))
    people = list(itertools.product(*map(range, domain_sizes)))
    total = np.zeros((len(people), len(people)))
    for drawn, size in enumerate(domain_sizes):
        honest = KaryRandomisedResponse(float(budget), size).channel()
        fakes = np.prod(domain_sizes) / size
        own = [person[drawn] for person in people]
        total += honest[np.ix_(own, own)] / fakes
    return total / len(domain_sizes)


def variance_with_fakes(share: Real, *, budget: Real, domain_size: Real, attributes: Real) -> Real:
    """Return users times the variance of an estimated share, if the other attributes are faked.

    Parameters
    ----------
    share : float
        The share of the users who hold the value, in ``[0, 1]``; their values are fixed.
    budget : float
        The budget of the randomiser itself, in nats.
    domain_size, attributes : int
        Values of the attribute, and number of attributes.
    """
    fake = (attributes - 1) / domain_size
    return _variance(share, KaryRandomisedResponse(budget, domain_size), fake, attributes)


def variance_without_fakes(
    share: Real, *, budget: Real, domain_size: Real, attributes: Real
) -> Real:
    """Return the same if users send the drawn attribute's name and its randomised value only."""
    return _variance(share, KaryRandomisedResponse(budget, domain_size), 0, attributes)


def _variance(share: Real, krr: KaryRandomisedResponse, fake: Real, attributes: Real) -> Real:
    """Return the variance of the linear estimate from how many reports show the value."""
    own = (krr.p + fake) / attributes
    other = (krr.q + fake) / attributes
    scale = krr.truthful_rate / attributes
    return (share * own * (1 - own) + (1 - share) * other * (1 - other)) / (scale * scale)
