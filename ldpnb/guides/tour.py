"""What observers of a sample of randomised reports learn of one person: the tour's table."""

from collections.abc import Iterator, Sequence
from typing import Any

from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.notebook import short, table
from ldpnb.privacy.participation import participation_loss
from ldpnb.privacy.shuffling import ShuffledReports
from ldpnb.privacy.subsampling import poisson_loss, srs_loss


@table
def observer_losses(rates: Sequence[float], *, people: int, epsilon: float, delta: float) -> Iterator[dict[str, Any]]:
    """Tabulate what each observer of a sample learns of one person, a column per sampling rate.

    Given that ``s`` of ``n`` people report they are a simple random sample, and the tallies of their reports lose
    ``ln(1 + (s/n)(e^epsilon - 1))``: no more, as tallies lose epsilon as a function of the sample, and that much where
    nobody else holds the person's answer and all reports give it. If everybody is asked by chance, ``s`` may be ``n``.

    Sampling rates are in ``(0, 1]``; a sample of fixed size has the nearest whole number of people, at least 1. The
    budget `epsilon` is of one randomised response, and of what a curator releases, in nats up to 690, and `delta` of a
    shuffler's promise. Losses, in nats, are between populations that differ in the answer of one person (replacement)
    or in one person (deletion). A curator's are the largest of all mechanisms of that budget.
    """
    mechanism = KaryRandomisedResponse(epsilon, 2)
    named = [participation_loss(epsilon, lowest_rate=rate, highest_rate=rate) for rate in rates]
    counted = [float(srs_loss(epsilon, 1.0)) for _ in rates]  # all may answer, at any rate
    shuffled = [ShuffledReports(people, rate, mechanism).epsilon_upper(delta) for rate in rates]
    drawn = [float(srs_loss(epsilon, max(1, round(rate * people)) / people)) for rate in rates]
    removed = [float(poisson_loss(epsilon, rate, neighbours="deletion")) for rate in rates]
    counts, mixed, release = "how many said yes and no", "reports in random order", f"a release, ε = {epsilon:g}"
    for observer, sees, sample, changed, losses, kind in (
        ("server", "who answered, and what", "by chance", "one answer", named, "exactly"),
        ("server", counts, "by chance", "one answer", counted, "exactly"),
        (f"server, shuffler, δ = {short(delta)}", mixed, "by chance", "one answer", shuffled, "at most"),
        ("server, shuffler", mixed, "fixed size", "one answer", drawn, "exactly"),
        ("reader of a curator", release, "fixed size", "one answer", drawn, "exactly"),
        ("reader of a curator", release, "by chance", "one person", removed, "exactly"),
    ):
        row = {"observer": observer, "sees": sees, "sample": sample, "what changes": changed, "loss": kind}
        yield row | {f"π = {rate:g}": loss for rate, loss in zip(rates, losses, strict=True)}
