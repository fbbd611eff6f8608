"""Check the companion's claims on what implementations lose: one function for each.

``t = e^epsilon``, ``d`` attributes, and ``A = d (t - 1) + 1``, the growth of the budget of the
attribute that is drawn.
"""

from ldpnb.arithmetic import Real
from ldpnb.claims import Evidence, Numbers
from ldpnb.deciders import budget, identity, oo, positive, replaced, symbols
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.bun2022.shared import eps, ratio, t
from ldpnb.papers.companion.formulas import fake_data
from ldpnb.privacy.channel import privacy_loss

A, d, k, more = symbols("A d k more")

GROUPS = symbols("shows_one shows_other shows_neither outside_own outside_other")
"""The sums of the weights of attributes, by what a report shows.

Where the two users differ it shows the one's value, the other's, or neither's; where they agree it
shows their value or another one.
"""

EVERY = (0, oo)


def weights_of_reports() -> bool:
    """Show that an honest value is ``A c`` (held) or ``c`` times as likely as a fake one."""
    growth = d * (t - 1) + 1
    krr = KaryRandomisedResponse(budget(growth), k)
    weight = fake_data.weight(eps, d, k)
    fake = 1 / k
    return identity(krr.p / fake, growth * weight) and identity(krr.q / fake, weight)


def _told_apart(one: Real, other: Real, neither: Real, own: Real, rest: Real) -> Real:
    """Return how many times as likely a report is from the one user as from the other."""
    agreed = A * own + rest + neither
    return (A * one + other + agreed) / (one + A * other + agreed)


def _growth(differing: Real, total: Real) -> Real:
    """Return ``e^loss`` as the formula has it, where ``A - 1 = d (t - 1)``."""
    found = fake_data.loss_of_weights(eps, d, differing=differing, total=total)
    return ratio(found)


def one_attribute_reported_and_the_others_faked(e: Evidence) -> Numbers:
    e.proven(weights_of_reports())

    # no report of any kind exceeds the formula, and one attains it
    one, other, neither, own, rest = GROUPS
    differing = one + other + neither
    total = differing + own + rest
    bound = 1 + (A - 1) * differing / total
    box = {A: (1, oo), **dict.fromkeys(GROUPS, EVERY)}
    e.decides(positive(bound - _told_apart(*GROUPS), box))
    e.decides(identity(_told_apart(one, 0, 0, 0, rest), 1 + (A - 1) * one / (one + rest)))
    e.decides(identity(_growth(one, one + rest), 1 + d * (t - 1) * one / (one + rest)))

    # all attributes: the whole budget, which exceeds epsilon
    whole = ratio(fake_data.amplified_budget(eps, d))
    e.decides(identity(_growth(one, one), whole))
    e.decides(positive(whole - t, {t: (1, oo), d: (1, oo)}))

    # one of d attributes: its weight over the mean, and the weight grows with the size
    weight = fake_data.weight(eps, d, k)
    larger = fake_data.weight(eps, d, k + more)
    e.decides(identity(_growth(weight, d * weight), t))
    e.decides(positive(larger - weight, {t: (1, oo), d: (1, oo), k: (1, oo), more: EVERY}))

    two = fake_data.loss(1.0, [2, 2], [0, 1])
    three = fake_data.loss(1.0, [2, 2, 2], [0, 1, 2])
    e.same(two, privacy_loss(fake_data.channel(1.0, [2, 2])).epsilon)
    e.same(three, privacy_loss(fake_data.channel(1.0, [2, 2, 2])).epsilon)
    return {"two": two, "three": three, "unequal": fake_data.loss(1.0, [4, 2], [0])}


def any_randomiser_with_any_fakes(e: Evidence) -> Numbers:
    # two terms: from the other user `first` and `second`, from the one user a share of A times it
    first, second, share, fraction = symbols("first second share fraction")
    there = first + second
    here = A * (share * first + fraction * second)
    box = {A: (1, oo), first: EVERY, second: EVERY, share: (0, 1), fraction: (0, 1)}
    e.decides(positive(A - here / there, box))
    e.decides(identity((A * first + A * second) / there, A))

    two = fake_data.amplified_budget(1.0, 2)
    e.same(two, privacy_loss(fake_data.channel(1.0, [2, 2])).epsilon)
    return {"two": two}


def fakes_against_plain_sampling(e: Evidence) -> Numbers:
    (share,) = symbols("share")
    setting = {"budget": budget(A), "domain_size": k, "attributes": d}
    fakes = fake_data.variance_with_fakes(share, **setting)
    plain = fake_data.variance_without_fakes(share, **setting)
    excess = fakes - plain
    box = {A: (1, oo), k: (1.9, oo), d: (1.9, oo)}  # so that 2 is inside
    e.decides(positive(excess, box | {share: (0, 0.5)}))
    e.decides(positive(replaced(excess, share, 0), box))
    e.decides(positive(replaced(excess, share, 0.5), box))

    numbers = {}
    for name, attributes in (("two", 2), ("ten", 10)):
        at_one = {"budget": 1.0, "domain_size": 10, "attributes": attributes}
        grown = at_one | {"budget": fake_data.amplified_budget(1.0, attributes)}
        numbers[f"plain_{name}"] = fake_data.variance_without_fakes(0, **at_one)
        numbers[f"fakes_{name}"] = fake_data.variance_with_fakes(0, **at_one)
        numbers[f"one_{name}"] = fake_data.variance_with_fakes(0, **grown)
    return numbers
