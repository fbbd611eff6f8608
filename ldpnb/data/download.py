"""The one public table that can be fetched: UCI Adult, from its archive or from the cache, checked against its SHA-256.

Nothing in the companion requires it: its two columns that the sources use are built in (`ldpnb.data.public.adult`).
"""

import os
from pathlib import Path

from ldpnb import checks, writing

CACHE_VARIABLE = "LDPNB_CACHE"
"""Environment variable naming the folder for downloads."""

_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data"
_SHA256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"
_HEADER = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,"
    "race,sex,capital-gain,capital-loss,hours-per-week,native-country,income"
)


class DownloadError(RuntimeError):
    """The file could not be fetched, or is another one."""


def fetch(cache: str | Path | None = None) -> Path:
    """Return the file with a header, from a folder or else from the network.

    The folder is by default that of ``LDPNB_CACHE`` or the user's cache folder.

    Raises
    ------
    DownloadError
        If it is not in the folder and cannot be fetched, or does not match its checksum.
    """
    with checks.needed_for("a download"):
        import pooch
        import requests

    folder = Path(cache or os.environ.get(CACHE_VARIABLE) or pooch.os_cache("ldpnb"))
    pooch.get_logger().setLevel("ERROR")
    try:
        raw = Path(pooch.retrieve(_URL, f"sha256:{_SHA256}", "adult.data", folder))
    except (OSError, ValueError, requests.RequestException) as error:
        place = f"fetch {_URL} elsewhere and put it into {folder}"
        raise DownloadError(f"adult.data cannot be fetched ({checks.shown(str(error))}); offline, {place}") from None
    table = raw.with_suffix(".csv")
    writing.write(table, f"{_HEADER}\n{raw.read_text(encoding='utf-8').replace(', ', ',')}".encode())
    return table
