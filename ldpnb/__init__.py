"""The executable, audited companion to five sources on local differential privacy and sampling.

``import ldpnb as ldp`` gives the names below, each loaded when it is first used: mechanisms
(`KaryRandomisedResponse`, ...; all by name in `FREQUENCY`, `MEAN` and `GAP`), estimators
(`unbiased`, `mle`, ...), exact privacy losses (`privacy_loss`, `srs_loss`, `ClusterSample`, ...),
errors (`SampledCounts`, `GroupGap`, `LowerBounds`, ...), surveys (`plan`, `estimate`), audits
(`exact_channel`), one's own data (`load_column`, ...), and what
was decided (`decide`).

>>> import ldpnb as ldp
>>> round(float(ldp.srs_loss(1.0, sampling_rate=0.1)), 4)
0.1586
>>> ldp.decide("biswas2022/theorem-3.5").status
'fails'
"""

from typing import Any

import lazy_loader

from ldpnb import extras

__version__ = "0.1.0"

_loaded, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    with extras.needed():
        return _loaded(name)
