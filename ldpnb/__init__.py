"""The executable, audited companion to five sources on local differential privacy and sampling.

Data flows one way through the rooms of this package::

    populations -> mechanisms -> estimators -> accuracy -> experiments -> figures
    designs -> privacy
    papers: source -> claim -> check -> verdict

`run` runs the notebooks and `cli` is the command line. Importing `ldpnb` imports none of them.
"""

__version__ = "0.1.0"
