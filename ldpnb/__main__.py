"""``ldpnb`` and ``python -m ldpnb``."""

import sys

from ldpnb import extras


def main() -> None:
    """Run the command line, or say which extra brings what it needs."""
    try:
        from ldpnb import cli
    except ModuleNotFoundError as error:
        sys.stderr.write(f"ldpnb: {extras.missing(error.name)}\n")
        sys.exit(2)
    cli.main()


if __name__ == "__main__":
    main()
