"""Between the two counts of a sampled survey: the biased ``c_DE`` and the rescaled ``g_DE`` of biswas2022.

Both lie on the line ``(1 - s) g_DE - s n / (e^epsilon - 1)``, with ``s = 0`` for ``g_DE`` and ``s = 1 - pi`` for
``c_DE``. At a value that nobody holds the error of each point of that line is exact, and so is the best point.
"""

from ldpnb import checks
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Real, is_exact, real


def unscaled_below(survey: SampledCounts) -> Real:
    """Return the number of users below which ``c_DE`` has the smaller mean squared error at a value that nobody holds.

    ``(e^epsilon + k - 1 - pi)(1 + pi) / (pi (1 - pi))``, since the squared bias of ``c_DE`` grows with the square of
    the users and the variance of ``g_DE`` with their number; 0 at the rate 1, where the two are one.

    >>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    >>> round(float(unscaled_below(SampledCounts(100, 0.5, KaryRandomisedResponse(1.0, 4)))), 6)
    31.309691
    """
    rate = survey.rate
    if not is_exact(rate) and rate == 1:
        return 0.0
    return (1 / survey.mechanism.q - rate) * (1 + rate) / (rate * (1 - rate))


def rare_risk(survey: SampledCounts, share: Real) -> Real:
    """Return the mean squared error of the point ``s = share`` at a value that nobody holds.

    ``(1 - s)^2 Var*(g_DE) + s^2 (n / (e^epsilon - 1))^2``, in users squared.
    """
    odds, share = _reach(survey), checks.probability(share=share)
    return (1 - share) * (1 - share) * survey.rare_variance_rescaled + share * share * odds * odds


def best_share(survey: SampledCounts) -> Real:
    """Return the ``s`` of least `rare_risk`, ``V / (V + B^2)`` with ``V = Var*(g_DE)`` and ``B = n / (e^epsilon - 1)``.

    Its risk is ``V B^2 / (V + B^2)``. With at least ``(e^epsilon + k - 1 - pi) / (1 - pi)`` users it lies between the
    two counts.
    """
    variance, odds = survey.rare_variance_rescaled, _reach(survey)
    return variance / (variance + odds * odds)


def shrunk_count(rescaled: Real, survey: SampledCounts, share: Real) -> Real:
    """Return the point ``s = share`` of the line, from the estimate ``g_DE`` (`rescaled`), in users.

    >>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    >>> round(float(shrunk_count(10.0, SampledCounts(100, 0.5, KaryRandomisedResponse(1.0, 4)), 0.1)), 6)
    3.180233
    """
    share = checks.probability(share=share)
    return (1 - share) * real(rescaled) - share * _reach(survey)


def _reach(survey: SampledCounts) -> Real:
    """Return ``n / (e^epsilon - 1)``, by which the end of the line lies below 0."""
    return survey.users * survey.mechanism.q / survey.mechanism.truthful_rate
