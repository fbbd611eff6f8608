"""``python -m ldpnb`` is ``ldpnb``."""

from ldpnb.cli import main

main()
