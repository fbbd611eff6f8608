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
    faults = [
        f"{found['file']}:{found['file_line']}: ldpnb.{name}: {code}: {words}"
        for name in ldpnb.__all__
        if callable(getattr(ldpnb, name))
        for found in [validate(f"ldpnb.{name}")]
        for code, words in found["errors"]
        if code in RULES
    ]
    print("\n".join(faults), file=sys.stderr)

    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
