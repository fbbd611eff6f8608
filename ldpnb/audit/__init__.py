"""Audit an implementation: the exact channel of a client's own code.

`exact_channel` runs a client on every path of its random draws and returns an `ExactChannel`: the
probability of each output given each input, the exact privacy loss, and where it is attained.
``ldpnb audit`` does the same from the command line, and reads saved channels as well.

What each file does: `tape` holds the random choices of a run, `uniforms` are random numbers that
are known only by comparisons, `draws` are the functions that draw them, `sources` puts these in
place of the real ones, `enumeration` runs the client, `channel` is the result, `files` reads saved
channels, and `command` is the command.
"""

from ldpnb.audit.channel import ExactChannel
from ldpnb.audit.enumeration import exact_channel
from ldpnb.audit.tape import AuditError

__all__ = ["AuditError", "ExactChannel", "exact_channel"]
