"""How long a test waits before it takes something for hung: on a busy machine an honest answer
takes minutes.
"""

PATIENCE = 600.0
