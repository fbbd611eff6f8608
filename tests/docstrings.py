"""Check that every public name of ldpnb has a complete numpydoc docstring: part of `make lint`."""

import sys

from numpydoc.validate import validate

import ldpnb

RULES = {
    "GL08",  # there is a docstring
    "PR01",  # every parameter is described
    "PR02",  # and nothing that is no parameter
    "RT01",  # what is returned is described
    "EX01",  # there is an example
}


def main() -> int:
    """Print what is missing, a line each, and return 1 if anything is."""
    is_complete = True
    for name in ldpnb.__all__:
        if not callable(getattr(ldpnb, name)):
            continue

        found = validate(f"ldpnb.{name}")
        for code, words in found["errors"]:
            if code in RULES:
                place = f"{found['file']}:{found['file_line']}"
                print(f"{place}: ldpnb.{name}: {code}: {words}", file=sys.stderr)
                is_complete = False

    return 0 if is_complete else 1


if __name__ == "__main__":
    sys.exit(main())
