"""Privacy of several releases that see the same random sample, or a fresh one each.

A sample hides who is in it only once. Releases from one sample compose *inside* it: together they
are one mechanism, whose budget is the sum of theirs, and the sample amplifies that. To add
amplified losses is right only for fresh samples.
"""

from collections.abc import Callable, Sequence

from ldpnb import checks
from ldpnb.arithmetic import Real


def releases_loss(
    epsilons: Sequence[Real], amplified: Callable[[Real], Real], *, fresh: bool = False
) -> Real:
    """Return the exact privacy loss of several releases from samples.

    Parameters
    ----------
    epsilons : sequence of float
        Budgets of the mechanisms that run on a sample, in nats, ``> 0``.
    amplified : callable
        Takes a budget and returns the exact loss of the sampling design, in its own neighbouring
        relation: for example ``functools.partial(srs_loss, sampling_rate=0.1)``, or the method
        `loss` of a `ClusterSample`. For strata it is the loss at the largest rate.
    fresh : bool, default False
        Whether every release draws its own sample, independent of the others. Otherwise all of them
        see one sample.

    Returns
    -------
    float
        Loss of all releases together, in nats, in the neighbouring relation of `amplified`.

    Raises
    ------
    ValueError
        If there is no release, or a budget is not positive.

    See Also
    --------
    srs_loss, poisson_loss, with_replacement_loss, ClusterSample : Losses of sampling designs.

    References
    ----------
    Bun et al. (2022) have the losses of single releases, which this composes.

    Examples
    --------
    Two releases at epsilon = 1 from a sample of a tenth lose ln(1 + (e^2 - 1)/10); from two samples
    they lose 2 ln(1 + (e - 1)/10).

    >>> from functools import partial
    >>> from ldpnb.privacy.subsampling import srs_loss
    >>> tenth = partial(srs_loss, sampling_rate=0.1)
    >>> round(float(releases_loss([1.0, 1.0], tenth)), 3)
    0.494
    >>> round(float(releases_loss([1.0, 1.0], tenth, fresh=True)), 3)
    0.317
    """
    budgets = [checks.positive(epsilon, "epsilons") for epsilon in epsilons]
    if not budgets:
        raise ValueError("epsilons must name at least one release, got none")

    if fresh:
        return sum(amplified(budget) for budget in budgets)
    return amplified(sum(budgets))
