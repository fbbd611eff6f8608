"""Trace every check: each formula of the package that it calls is listed under its row, where the negative controls
break it. What returns no real numbers is no formula: laws to enumerate, samples, whole numbers, rules.
"""

import cProfile
import inspect
import re
from pathlib import Path
from types import CodeType

import pytest
from wrong import owner_of

import ldpnb
from ldpnb import claims, sections
from ldpnb.claims import Evidence

HOME = Path(ldpnb.__file__).parent
ROOMS = ("accuracy", "designs", "estimators", "mechanisms", "privacy")
NO_NUMBERS = re.compile(r"dict|int|bool|Law|Callable|Outcomes|Strata|GroupGap")
"""Return types of what is no formula."""


def room(code: object) -> str:
    path = Path(code.co_filename) if isinstance(code, CodeType) else Path()
    return path.relative_to(HOME).parts[0] if path.is_relative_to(HOME) else ""


def formula(code: object) -> str | None:
    """Where the function with that code lives below ``ldpnb``, if it is public and returns real numbers."""
    if not isinstance(code, CodeType) or room(code) not in ROOMS:
        return None
    module = Path(code.co_filename).relative_to(HOME).with_suffix("").as_posix().replace("/", ".")
    path = f"{module.removesuffix('.__init__')}.{code.co_qualname}"
    if module == "designs.sizes" or re.search(r"<|\._", path):
        return None
    owner, name = owner_of(path)
    raw = owner.__dict__[name]
    function = inspect.unwrap(getattr(raw, "fget", None) or getattr(raw, "__func__", raw))
    return None if NO_NUMBERS.search(str(function.__annotations__["return"])) else path


def traced(claim: claims.Claim) -> tuple[set[str], set[CodeType]]:
    """The formulas that a check and what it shares with others of its source call themselves, and all their calls."""
    profile = cProfile.Profile(builtins=False)
    sections.parted.cache_clear()
    profile.runcall(claim.check)
    ours = (entry for entry in profile.getstats() if room(entry.code) == "papers")
    codes = {call.code for entry in ours for call in entry.calls or ()}
    return {path for path in map(formula, codes) if path}, codes


@pytest.mark.parametrize("claim", claims.claims(), ids=lambda claim: claim.id)
def test_a_check_lists_every_formula_that_it_calls_and_decides_by_what_it_computes(claim: claims.Claim) -> None:
    called, codes = traced(claim)
    more = called - set(claim.rests_on)
    assert not more, (
        f"{claim.id}, or a second route of what it rests on, calls {sorted(more)}: list it, or split the route"
    )
    assert codes & {Evidence.needs.__code__, Evidence.decides.__code__}
