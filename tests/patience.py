"""How long a test waits before it says that something hangs."""

PATIENCE = 600.0
"""In seconds. On a busy machine, a process that does its work may need minutes."""
