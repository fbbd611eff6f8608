"""Names of the environment variables through which a run speaks to its kernels."""

FIGURES_FOLDER = "LDPNB_FIGURES"
"""The folder to which `publish` writes the figures of a notebook; if unset, it only shows them."""

RUN_PARAMETERS = "LDPNB_PARAMETERS"
"""The run's own parameters as JSON, recorded with every figure."""

HEADLESS = "LDPNB_HEADLESS"
"""Set in every kernel without a reader, where live sections draw once and print their number."""
