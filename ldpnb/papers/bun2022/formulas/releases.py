"""Privacy of several releases that see one and the same random sample, or a fresh one each.

A sample hides who is in it once. Releases from one sample compose *inside* it: they are one mechanism, whose budget is
the sum, and the sample amplifies that. Adding amplified losses is right for fresh samples only.
"""

from collections.abc import Callable, Sequence

from ldpnb import checks
from ldpnb.arithmetic import Real


def releases_loss(
    epsilons: Sequence[Real], amplified: Callable[[Real], Real], *, fresh: bool = False
) -> Real:
    """Return the exact loss of several releases, from one sample or from a fresh one each.

    - `epsilons`, sequence of float: budgets of the mechanisms that run on a sample, in nats, ``> 0``.
    - `amplified`, callable: the exact loss of the design at one budget, such as ``functools.partial(srs_loss,
      sampling_rate=0.1)``, `poisson_loss`, `with_replacement_loss` or ``ClusterSample(...).loss``, in its own
      neighbouring relation; of strata, that of the largest rate.
    - `fresh`, bool: whether every release draws its own sample, independent of the others.

    >>> from functools import partial
    >>> from ldpnb.privacy.subsampling import srs_loss
    >>> tenth = partial(srs_loss, sampling_rate=0.1)
    >>> [round(float(releases_loss([1.0, 1.0], tenth, fresh=fresh)), 3) for fresh in (False, True)]
    [0.494, 0.317]
    """
    budgets = [checks.positive(epsilon, "epsilons") for epsilon in epsilons]
    if not budgets:
        raise ValueError("epsilons must name at least one release, got none")
    return sum(map(amplified, budgets)) if fresh else amplified(sum(budgets))
