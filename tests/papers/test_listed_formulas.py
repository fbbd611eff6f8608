"""Trace every check: each formula of the package that it calls is listed under its row, where the negative controls
break it. What returns no real numbers is no formula: laws to enumerate, samples, whole numbers, rules.
"""

import cProfile
import inspect
import re
from pathlib import Path
from types import CodeType

import pytest
from test_negative_controls import owner_of

import ldpnb
from ldpnb import claims

HOME = Path(ldpnb.__file__).parent
ROOMS = ("accuracy", "designs", "estimators", "mechanisms", "privacy")
NO_NUMBERS = re.compile(r"dict|int|bool|Law|Callable|Outcomes|Strata|GroupGap")
"""Return types of what is no formula."""


def room(code: object) -> str:
    path = Path(code.co_filename) if isinstance(code, CodeType) else Path()
    return path.relative_to(HOME).parts[0] if path.is_relative_to(HOME) else ""


def formula(code: CodeType) -> str | None:
    """Where the function with that code lives below ``ldpnb``, if it is public and returns real numbers."""
    module = Path(code.co_filename).relative_to(HOME).with_suffix("").as_posix().replace("/", ".")
    path = f"{module.removesuffix('.__init__')}.{code.co_qualname}"
    if room(code) not in ROOMS or module == "designs.sizes" or re.search(r"<|\._", path):
        return None
    owner, name = owner_of(path)
    raw = owner.__dict__[name]
    function = inspect.unwrap(getattr(raw, "fget", None) or getattr(raw, "__func__", raw))
    return None if NO_NUMBERS.search(str(function.__annotations__["return"])) else path


def called(claim: claims.Claim) -> set[str]:
    """The formulas that a check and what it shares with others of its source call themselves."""
    profile = cProfile.Profile(builtins=False)
    profile.runcall(claim.check)
    ours = (entry for entry in profile.getstats() if room(entry.code) == "papers")
    codes = {call.code for entry in ours for call in entry.calls or () if room(call.code) in ROOMS}
    return {path for path in map(formula, codes) if path}


@pytest.mark.parametrize("claim", claims.claims(), ids=lambda claim: claim.id)
def test_every_formula_that_a_check_calls_is_listed(claim: claims.Claim) -> None:
    assert called(claim) <= set(claim.rests_on)
