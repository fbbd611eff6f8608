"""Privacy of a mechanism that sees a random sample of the records.

The sample is drawn with or without replacement, or each record is drawn independently. If readers
of the mechanism's output cannot know who was drawn, sampling multiplies ``e^epsilon - 1`` by the
sampling rate. For somebody who receives the randomised report of a drawn user, sampling changes
nothing: the report loses its whole budget.

The formula has two readings. One is a sample of fixed size, with a mechanism that is epsilon-DP
when a record is *replaced* (Theorem 2.2 of Bun et al. 2022). The other is independent (Poisson)
sampling, with a mechanism that is epsilon-DP when a record is *deleted*. A mechanism that is
epsilon-DP under deletion is 2 epsilon-DP under replacement, so pass ``2 * epsilon``. Budgets are in
nats, and the sampling rate ``p = m/n`` lies in ``(0, 1]``.
"""

import numpy as np
from scipy.special import expit, log_expit

from ldpnb import checks
from ldpnb.arithmetic import Real, is_exact
from ldpnb.privacy.lemmas import log_mixed, log_thinned


def srs_loss(epsilon: Real, sampling_rate: Real) -> Real:
    """Return the privacy loss after simple random sampling, ``ln(1 + p (e^epsilon - 1))``.

    A sampling rate ``p`` makes ``e^epsilon - 1`` smaller by the factor ``p``, provided that readers
    of the output cannot know who was drawn. No mechanism loses more, and some lose as much.

    Parameters
    ----------
    epsilon : float
        Budget of the mechanism that sees the sample, in nats, ``> 0``. Neighbours differ in one
        replaced record; for a mechanism that is private under deletion, pass ``2 * epsilon``.
    sampling_rate : float
        Share ``p`` of the records that is drawn, in ``(0, 1]``.

    Returns
    -------
    float
        Loss of the whole release, in nats; at most `epsilon`.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    See Also
    --------
    srs_budget : The inverse: the budget that leads to a given loss.
    poisson_loss : The loss if each record is drawn independently.

    References
    ----------
    Theorem 2.2 and equation (3) of Bun et al. (2022).

    Examples
    --------
    At epsilon = ln 5 and half of the records, the loss is ln(1 + 4/2) = ln 3.

    >>> round(float(np.exp(srs_loss(np.log(5), 0.5))), 12)
    3.0
    """
    rate = checks.rate(sampling_rate, "sampling_rate")
    return log_mixed(rate, checks.positive(epsilon, "epsilon"))


def poisson_loss(epsilon: Real, sampling_rate: Real, *, neighbours: str = "replacement") -> Real:
    """Return the exact privacy loss if each record is drawn independently (Poisson sampling).

    If a record is deleted, the loss is ``ln(1 + q (e^epsilon - 1))`` for its sampling rate ``q``.
    If it is replaced, it is ``ln[(1 + q (e^epsilon - 1)) / (1 + q (e^-epsilon - 1))]``. The rates
    of the other records do not matter.

    Parameters
    ----------
    epsilon : float
        Budget of the mechanism that sees the sample, in nats, ``> 0``, when a record is *deleted*.
        A mechanism that is private only under replacement gains nothing: it may respond only if all
        records are drawn.
    sampling_rate : float
        Probability ``q`` that the record is drawn, in ``(0, 1]``.
    neighbours : {"replacement", "deletion"}, default "replacement"
        What happens to one record in the population.

    Returns
    -------
    float
        Loss of the whole release, in nats.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    See Also
    --------
    srs_loss : A sample of fixed size; it loses ``srs_loss(2 * epsilon, q)``, which is more.

    References
    ----------
    Lebeda, Regehr, Kamath and Steinke (2024) have it for Gaussian noise, and as substitution
    accounting.

    Examples
    --------
    At epsilon = ln 5 and half of the records, a deleted record loses ln(1 + 4/2) = ln 3. A replaced
    one loses ln(3 / (1 - 2/5)) = ln 5, so this sample gains nothing under replacement.

    >>> round(float(np.exp(poisson_loss(np.log(5), 0.5, neighbours="deletion"))), 12)
    3.0
    >>> round(float(np.exp(poisson_loss(np.log(5), 0.5))), 12)
    5.0
    """
    checks.choice(neighbours, "neighbours", among=("deletion", "replacement"))
    rate = checks.rate(sampling_rate, "sampling_rate")
    budget = checks.positive(epsilon, "epsilon")

    gained = log_mixed(rate, budget)
    if neighbours == "deletion":
        return gained
    return gained - log_thinned(rate, budget)


def with_replacement_loss(epsilon: Real, draws: Real, population: Real) -> Real:
    """Return the exact privacy loss if records are drawn with replacement.

    It is ``m ln(1 + (e^epsilon - 1)/n)`` for ``m`` draws from ``n`` records. A record that is drawn
    ``J`` times costs the budget ``J`` times, and the loss is ``ln E e^(epsilon J)``.

    Parameters
    ----------
    epsilon : float
        Budget of the mechanism that sees the sample, in nats, ``> 0``, when a record is replaced.
    draws : int
        Number ``m`` of draws, at least 1.
    population : int
        Number ``n`` of records, at least 2. If a record is removed, it is the number before that.

    Returns
    -------
    float
        Loss of the whole release in nats, if one record of the population is replaced or removed.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    See Also
    --------
    srs_loss : As many different records, which lose less.

    Examples
    --------
    At epsilon = ln 5, two draws from two records lose 2 ln(1 + 4/2) = ln 9. The two records
    themselves, without a draw, lose ln 5.

    >>> round(float(np.exp(with_replacement_loss(np.log(5), draws=2, population=2))), 12)
    9.0
    """
    count = checks.whole(draws, "draws", at_least=1)
    records = checks.whole(population, "population", at_least=2)
    return count * log_mixed(1 / records, checks.positive(epsilon, "epsilon"))


def weighted_loss(epsilon: Real, log_odds: Real) -> Real:
    """Return ``ln(1 + w (e^epsilon - 1))`` for the weight ``w = 1/(1 + e^-log_odds)``.

    It keeps its digits for every epsilon and every weight.
    """
    if is_exact(log_odds):
        return log_mixed(1 / (1 + np.exp(-log_odds)), epsilon)
    if epsilon <= 300:
        return float(np.log1p(np.expm1(epsilon) * expit(log_odds)))
    return float(np.logaddexp(0.0, epsilon + log_expit(log_odds)))


def srs_delta(delta: Real, sampling_rate: Real) -> Real:
    """Return ``p delta``, the delta after simple random sampling (Bun et al. 2022, Theorem 2.2)."""
    return checks.probability(delta, "delta") * checks.rate(sampling_rate, "sampling_rate")


def srs_budget(epsilon_after: Real, sampling_rate: Real) -> Real:
    """Return the budget of a mechanism that leads to a given loss after simple random sampling.

    It is ``ln(1 + (e^epsilon' - 1)/p)``, the inverse of `srs_loss`. For a small loss ``epsilon'``
    it is close to ``epsilon' / p``.

    Parameters
    ----------
    epsilon_after : float
        Loss ``epsilon'`` of the whole release, in nats, ``> 0``. Neighbours differ in one replaced
        record.
    sampling_rate : float
        Share ``p`` of the records that is drawn, in ``(0, 1]``.

    Returns
    -------
    float
        Budget of the mechanism that sees the sample, in nats; at least `epsilon_after`.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    See Also
    --------
    srs_loss : The inverse: the loss that a budget leads to.

    References
    ----------
    Section 2.4 of Bun et al. (2022).

    Examples
    --------
    With half of the records, the budget ln(1 + 2/0.5) = ln 5 leads to the loss ln 3.

    >>> round(float(np.exp(srs_budget(np.log(3), 0.5))), 12)
    5.0
    """
    rate = checks.rate(sampling_rate, "sampling_rate")
    return log_mixed(1 / rate, checks.positive(epsilon_after, "epsilon_after"))


def proportion_noise_scale(epsilon: Real, records: Real, population: Real = None) -> Real:
    """Return the scale of the Laplace noise that makes a proportion of records private.

    One record moves the proportion by at most ``1/records``. Less noise suffices if the records are
    a secret simple random sample of a larger population.

    Parameters
    ----------
    epsilon : float
        Loss to reach if one record is replaced, in nats, ``> 0``.
    records : int
        Number of records of which the proportion is taken, at least 1.
    population : int, optional
        Number of records from which they were drawn. By default they are the whole population.

    Returns
    -------
    float
        Scale of the noise on the proportion.

    References
    ----------
    Section 2.4 of Bun et al. (2022).
    """
    size = checks.whole(records, "records", at_least=1)
    budget = checks.positive(epsilon, "epsilon")
    if population is not None:
        budget = srs_budget(budget, size / checks.whole(population, "population", at_least=size))
    return 1 / (size * budget)
