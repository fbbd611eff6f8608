"""Public data by name: fetched once, checked ever after, read from the cache when offline.

Nothing in the companion requires them: it has built-in tallies and stand-ins. No checksum is known beforehand: the
first download is trusted, its SHA-256 is recorded next to it in ``checksums.json``, and every later use is checked
against that. State a checksum of your own to trust nobody.
"""

import json
import os
import sys
import zipfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ldpnb import checks, writing
from ldpnb.data.column import Column
from ldpnb.data.files import load_counts

CACHE_VARIABLE = "LDPNB_CACHE"
"""Environment variable naming the folder for downloads."""

_REGISTRY = "checksums.json"
_TIMEOUT = 30
_MOST_BYTES = 2**32


class DownloadError(RuntimeError):
    """A file could not be fetched, or does not match its checksum."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A public file.

    Parameters
    ----------
    about : str
        Its content, and where the sources use it.
    url : str
    header : str
        Column names for a text file without any; they are added to a copy.
    """

    about: str
    url: str
    header: str = ""


DATASETS = {
    "adult": Dataset(
        "UCI Adult, training split: 32,561 people (Section 5 of lopuhaa2020; its age and work class are built in)",
        "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data",
        "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
        "capital-loss,hours-per-week,native-country,income",
    ),
    "taxi": Dataset(
        "NYC TLC green taxi trips of August 2019 (Section 5 of lopuhaa2020, which does not say which month)",
        "https://d37ci6vzurychx.cloudfront.net/trip-data/green_tripdata_2019-08.parquet",
    ),
    "cbp": Dataset(
        "US Census County Business Patterns 2015, counties (Appendix E of bun2022)",
        "https://www2.census.gov/programs-surveys/cbp/datasets/2015/cbp15co.zip",
    ),
}
"""By name."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file in the cache.

    Parameters
    ----------
    path : Path
        Ready for the readers of this package: unpacked, with column names.
    url : str
        Where it is from.
    sha256 : str
        Checksum of what was downloaded.
    trusted : bool
        Whether it was trusted, its checksum being recorded just now.
    """

    path: Path
    url: str
    sha256: str
    trusted: bool

    def column(self, name: str, **stated: Any) -> Column | None:
        """Return a column of it; `stated` are arguments of `ldpnb.data.files.load_counts`."""
        found = load_counts(self.path, name, **stated)
        return found and replace(found, source=self.url)


def fetch(name: str, *, url: str = "", cache: str | Path | None = None, sha256: str = "") -> Fetched:
    """Return a public file, from the cache or else from the network.

    Parameters
    ----------
    name : str
        A key of `DATASETS`.
    url : str
        Another place to fetch it from.
    cache : str or Path, optional
        Folder; by default that of ``LDPNB_CACHE`` or the user's cache folder.
    sha256 : str
        Its checksum, if known; it replaces a recorded one once a file has matched it.

    Raises
    ------
    DownloadError
        If it is not in the cache and cannot be fetched, or does not match the recorded or stated checksum.
    ValueError
        For an unknown name, an invalid checksum, or a URL that is not http or https.
    """
    with checks.needed_for("a download"):
        import pooch

    dataset = DATASETS[checks.choice(name=name, among=tuple(DATASETS))]
    source, folder = url or dataset.url, _folder(cache)
    parts = urlsplit(source)
    file = Path(parts.path).name
    if parts.scheme not in ("http", "https") or not parts.netloc or file in ("", "..", _REGISTRY):
        raise ValueError(f"url must be http or https and name a file, got url={source!r}")
    if sha256 and (len(sha256) != 64 or set(sha256.lower()) - set("0123456789abcdef")):
        raise ValueError(f"sha256 must be 64 hexadecimal digits, got sha256={sha256!r}")
    for path in (folder / _REGISTRY, folder / file):
        if os.path.lexists(path) and not path.is_file():
            raise DownloadError(f"{path} must be a file, and is something else; remove it")
    registry = _read(folder / _REGISTRY)
    expected = sha256.lower() or registry.get(file, {}).get("sha256", "")
    # a file that was put there by hand is trusted like a first download
    known = expected or (pooch.file_hash(str(folder / file)) if (folder / file).exists() else "")
    path = Path(_retrieve(source, folder, file, known))
    checksum = pooch.file_hash(str(path))
    record = json.dumps(registry | {file: {"sha256": checksum, "url": source}}, indent=1) + "\n"
    writing.write(folder / _REGISTRY, record.encode())
    return Fetched(_readable(path, dataset), source, checksum, not expected)


def _folder(cache: str | Path | None) -> Path:
    with checks.needed_for("a download"):
        import pooch

    chosen = Path(cache or os.environ.get(CACHE_VARIABLE) or pooch.os_cache("ldpnb")).expanduser()
    try:
        chosen.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DownloadError(f"cache cannot be written: {chosen} ({error.strerror})") from None
    return chosen


def _retrieve(source: str, folder: Path, file: str, known: str) -> str:
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    fetcher = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=_TIMEOUT)
    there = "; the copy in the cache is damaged" if (folder / file).exists() else ""
    try:
        return str(pooch.retrieve(source, known or None, fname=file, path=folder, downloader=fetcher))
    except requests.exceptions.HTTPError as error:
        status = error.response.status_code if error.response is not None else "an error"
        raise DownloadError(f"{source} answers {status}; give its present place with --url") from None
    except requests.exceptions.RequestException as error:
        why = type(error).__name__
        advice = f"Offline? Fetch {source} elsewhere and put it at {folder / file}"
        raise DownloadError(f"no connection to {urlsplit(source).netloc} ({why}){there}. {advice}") from None
    except ValueError:
        raise DownloadError(
            f"{source} is not the file with the SHA-256 {known}, stated or recorded in {folder / _REGISTRY} on first "
            "use; if a change is expected, state the new one"
        ) from None


def _readable(path: Path, dataset: Dataset) -> Path:
    """Return the file ready for the readers: unpacked, and with column names (in a copy) if it had none."""
    if path.suffix == ".zip":
        try:
            with zipfile.ZipFile(path) as packed:
                members = [member for member in packed.infolist() if not member.is_dir()]
                if len(members) != 1 or members[0].file_size > _MOST_BYTES:
                    raise DownloadError(f"{path} must hold one file of at most {_MOST_BYTES:,} bytes")
                unpacked = path.with_name(Path(members[0].filename).name)
                writing.write(unpacked, packed.read(members[0]))
        except (zipfile.BadZipFile, zlib.error) as error:
            raise DownloadError(f"{path} cannot be unpacked: {error}") from None
        return unpacked
    if dataset.header and path.suffix != ".csv":
        lines = (line.replace(", ", ",") for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
        copy = path.with_suffix(".csv")
        writing.write(copy, ("\n".join([dataset.header, *lines]) + "\n").encode())
        return copy
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError) as error:
        raise DownloadError(f"{path} is damaged: {error}; delete it to record checksums anew") from None
    if not (isinstance(content, dict) and all(isinstance(entry, dict) for entry in content.values())):
        raise DownloadError(f"{path} is damaged: it holds no checksums by file; delete it to record them anew")
    return content
