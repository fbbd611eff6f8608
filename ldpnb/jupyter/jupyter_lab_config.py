"""What `ldpnb lab` promises holds against the lab's own settings as well."""

load_subconfig("jupyter_server_config.py")  # type: ignore[name-defined]  # noqa: F821
