"""Names of the environment variables through which a run speaks to its kernels."""

FIGURES_FOLDER = "LDPNB_FIGURES"
"""The folder of one notebook's figures, which `figures.publish` writes to; unset or empty, it only shows."""

RUN_PARAMETERS = "LDPNB_PARAMETERS"
"""The run's own parameters as JSON, recorded with every figure."""

HEADLESS = "LDPNB_HEADLESS"
"""Set in every kernel that runs without a reader: live sections draw once and print their number."""
