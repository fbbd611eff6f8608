"""What `ldpnb lab` promises whatever a user's own settings say: this machine only, and a token."""

import os

c = get_config()  # type: ignore[name-defined]  # noqa: F821
for _provider in (c.IdentityProvider, c.PasswordIdentityProvider):
    _provider.token = os.environ["JUPYTER_TOKEN"]
c.PasswordIdentityProvider.hashed_password = ""
c.ServerApp.identity_provider_class = "jupyter_server.auth.identity.PasswordIdentityProvider"
c.ServerApp.authorizer_class = "jupyter_server.auth.authorizer.AllowAllAuthorizer"
c.ServerApp.allow_unauthenticated_access = False
c.ServerApp.allow_remote_access = False
c.ServerApp.allow_origin = c.ServerApp.allow_origin_pat = ""
c.ServerApp.allow_credentials = c.ServerApp.disable_check_xsrf = c.ServerApp.trust_xheaders = False
c.ServerApp.local_hostnames = ["localhost"]
c.ServerApp.ip = "127.0.0.1"
c.ServerApp.sock = ""
c.ServerApp.tornado_settings = {}
c.GatewayClient.url = None
if os.uname().sysname == "Linux":
    c.KernelProvisionerFactory.default_provisioner_name = "ldpnb-bound"
