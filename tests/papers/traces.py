"""What second routes and checks call, found by running them under a profile."""

import cProfile
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from threadpoolctl import threadpool_limits

from ldpnb import claims, sections

threadpool_limits(1)  # beside other workers a thread of linear algebra that waits burns what they need

Route = Callable[[], sections.Pairs]
compared: Callable[[Route], str] = sections.parted.__wrapped__
"""Where a formula and its second route part, computed anew."""


def profiled(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """The profile's entries, one per function that ran."""
    profile = cProfile.Profile(builtins=False)
    profile.runcall(function, *arguments)
    return list(profile.getstats())


@cache
def route_trace(route: Route) -> list[Any]:
    """The profile of a second route, whose answer is kept for the claims that rest on it."""
    return profiled(sections.parted, route)


def routes(claim: claims.Claim) -> Iterator[Route]:
    """The second routes of the formulas under a claim."""
    for path in claim.rests_on:
        yield from sections._routes.get((claim.source, path), ())
