"""Privacy of a mechanism that sees a simple random sample, an independent one, or one drawn with replacement.

To readers of the mechanism's output who cannot know who was drawn, the sample's secrecy multiplies ``e^epsilon - 1`` by
the sampling rate. To whoever receives a drawn user's own randomised report sampling changes nothing: it loses its whole
budget. Two readings of the same formula: a sample of fixed size with an epsilon-*replacement*-DP mechanism (Theorem 2.2
of bun2022), and independent (Poisson) sampling with an epsilon-*deletion*-DP mechanism. An epsilon-deletion-DP
mechanism is 2 epsilon-replacement-DP: pass ``2 * epsilon``. Budgets are in nats; the sampling rate ``p = m/n`` lies in
``(0, 1]``.
"""

import numpy as np
from scipy.special import expit, log_expit

from ldpnb import checks
from ldpnb.arithmetic import Real, is_exact
from ldpnb.privacy.lemmas import log_mixed, log_thinned


def srs_loss(epsilon: Real, sampling_rate: Real) -> Real:
    """Return the privacy loss after simple random sampling, ``ln(1 + p (e^epsilon - 1))``.

    A sampling rate ``p`` makes ``e^epsilon - 1`` smaller by the factor ``p``, provided that readers of
    the output cannot know who was drawn. No mechanism loses more, and some lose as much.

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
    return log_mixed(
        checks.rate(sampling_rate, "sampling_rate"), checks.positive(epsilon, "epsilon")
    )


def poisson_loss(epsilon: Real, sampling_rate: Real, *, neighbours: str = "replacement") -> Real:
    """Return the exact loss of an epsilon-deletion-DP mechanism on an independent (Poisson) sample.

    ``ln[(1 + q (e^epsilon - 1)) / (1 + q (e^-epsilon - 1))]`` under replacement, whatever the rates of the others, and
    ``ln(1 + q (e^epsilon - 1))`` under deletion. It is known for Gaussian noise and as substitution accounting (Lebeda,
    Regehr, Kamath and Steinke 2024). A sample of fixed size loses ``srs_loss(2 epsilon, q)`` under replacement, which
    is more. A mechanism that is only epsilon-*replacement*-DP gains nothing: it may respond only when all are drawn.

    >>> [round(float(loss), 6) for loss in (poisson_loss(1.0, 0.2), srs_loss(2.0, 0.2))]
    [0.430555, 0.823215]
    """
    checks.choice(neighbours, "neighbours", among=("deletion", "replacement"))
    rate, budget = checks.rate(sampling_rate, "sampling_rate"), checks.positive(epsilon, "epsilon")
    gained = log_mixed(rate, budget)
    if neighbours == "deletion":
        return gained
    return gained - log_thinned(rate, budget)


def with_replacement_loss(epsilon: Real, draws: Real, population: Real) -> Real:
    """Return the exact loss ``m ln(1 + (e^epsilon - 1)/n)`` if `draws` records are drawn with replacement.

    It is ``ln E e^(epsilon J)`` for the binomial multiplicity ``J`` of a record, which costs a budget per occurrence:
    more than `srs_loss` at the rate ``m/n``. For epsilon-replacement-DP mechanisms, when a record is replaced or
    removed and either data set has at most `population` records.

    >>> [round(float(loss), 6) for loss in (with_replacement_loss(1.0, 10, 100), srs_loss(1.0, 0.1))]
    [0.170369, 0.158565]
    """
    count, records = (
        checks.whole(draws, "draws", at_least=1),
        checks.whole(population, "population", at_least=2),
    )
    return count * log_mixed(1 / records, checks.positive(epsilon, "epsilon"))


def weighted_loss(epsilon: Real, log_odds: Real) -> Real:
    """Return ``ln(1 + w (e^epsilon - 1))`` with ``w = 1/(1 + e^-log_odds)``, stable for any epsilon and any weight."""
    if is_exact(log_odds):
        return log_mixed(1 / (1 + np.exp(-log_odds)), epsilon)
    if epsilon <= 300:
        return float(np.log1p(np.expm1(epsilon) * expit(log_odds)))
    return float(np.logaddexp(0.0, epsilon + log_expit(log_odds)))


def srs_delta(delta: Real, sampling_rate: Real) -> Real:
    """Return ``p delta``, the second parameter after simple random sampling (Theorem 2.2 of bun2022)."""
    return checks.probability(delta, "delta") * checks.rate(sampling_rate, "sampling_rate")


def srs_budget(epsilon_after: Real, sampling_rate: Real) -> Real:
    """Return ``ln(1 + (e^epsilon' - 1)/p)``, the budget that loses `epsilon_after` (Section 2.4 of bun2022).

    It inverts `srs_loss`. For small ``epsilon'`` it approaches ``epsilon' / p``.

    >>> round(float(np.exp(srs_budget(np.log(3), 0.5))), 12)
    5.0
    """
    return log_mixed(
        1 / checks.rate(sampling_rate, "sampling_rate"),
        checks.positive(epsilon_after, "epsilon_after"),
    )


def proportion_noise_scale(epsilon: Real, records: Real, population: Real = None) -> Real:
    """Return the Laplace scale that makes a proportion of `records` records private (Section 2.4 of bun2022).

    `epsilon` is the replacement loss to reach. One record moves the proportion by at most ``1/records``. Less noise
    suffices if the records are a secret simple random sample of a `population` of that size; left out, the records are
    all there are.
    """
    size, budget = checks.whole(records, "records", at_least=1), checks.positive(epsilon, "epsilon")
    if population is not None:
        budget = srs_budget(budget, size / checks.whole(population, "population", at_least=size))
    return 1 / (size * budget)
