"""One download: bounded in time and size, retried where a retry can help."""

import logging
import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from kpca_lab.datasets.locations import timeout
from kpca_lab.extras import require

__all__ = ["DownloadError", "Downloads"]

RETRIES = 2
CONNECT_SECONDS = 10
# A server that would need longer than this for the largest file allowed is given up, even
# though it keeps on talking.
MIN_BYTES_PER_SECOND = 100_000


class DownloadError(Exception):
    """A download that failed for good; the message says why."""


class _BoundedFile:
    """File object that refuses to grow past a size or a deadline."""

    def __init__(self, opened, max_bytes, deadline):
        self._opened = opened
        self._room = max_bytes
        self._deadline = deadline

    def write(self, chunk):
        self._room -= len(chunk)
        if self._room < 0:
            raise DownloadError("it sends more bytes than the file has")
        if time.monotonic() > self._deadline:
            raise DownloadError("it is too slow")
        return self._opened.write(chunk)

    def flush(self):
        self._opened.flush()


class Downloads:
    """Downloads into one staging folder, remembering what was had and which hosts are dead.

    Parameters
    ----------
    staging : path
        Existing folder for the downloaded files; it belongs to the caller.
    progressbar : bool or None
        Show a progress bar on standard error; by default only if that is a terminal.
    """

    def __init__(self, staging, progressbar=None):
        self.staging = Path(staging)
        self._progressbar = sys.stderr.isatty() if progressbar is None else progressbar
        self._finished = {}
        self._dead_hosts = {}
        self._count = 0

    def get(self, url, max_bytes):
        """Download `url` and return the path of the file in the staging folder.

        The same address is asked only once: an archive with three wanted members is fetched
        once. The bytes are not verified here.

        Raises
        ------
        DownloadError
            If the server is unreachable, refuses, stalls, breaks off, or sends too much.
        """
        if url not in self._finished:
            try:
                self._finished[url] = self._get(url, max_bytes)
            except DownloadError as error:
                self._finished[url] = error
        outcome = self._finished[url]
        if isinstance(outcome, DownloadError):
            raise outcome
        return outcome

    def forget(self, url):
        """Ask `url` again next time: what it sent was not what was wanted."""
        self._finished.pop(url, None)

    def _get(self, url, max_bytes):
        pooch, requests = require("pooch", "data"), require("requests", "data")
        host = urlsplit(url).netloc
        if host in self._dead_hosts:
            raise DownloadError(f"{self._dead_hosts[host]} (a moment ago)")
        self._count += 1
        name = f"{self._count}-{Path(urlsplit(url).path).name or 'download'}"
        silence = timeout()
        # Encoded transfer would hand over decoded bytes, whose hash is another one.
        transport = pooch.HTTPDownloader(
            progressbar=self._progressbar,
            timeout=(min(silence, CONNECT_SECONDS), silence),
            headers={"Accept-Encoding": "identity", "User-Agent": "kpca_lab"},
        )

        def bounded(address, output, _):
            deadline = time.monotonic() + silence + max_bytes / MIN_BYTES_PER_SECOND
            try:
                with open(output, "wb") as opened:
                    transport(address, _BoundedFile(opened, max_bytes, deadline), None)
                    opened.flush()
                    os.fsync(opened.fileno())
            except requests.HTTPError as error:
                status = error.response.status_code
                if status < 500 and status not in (408, 425, 429):
                    raise DownloadError(f"the server answers {status}") from error
                raise
            except requests.ConnectionError as error:
                # No name, no route or nobody listening: asking again at once is no use. A
                # connection that breaks while data flow is another matter and is retried.
                if _never_connected(error):
                    self._dead_hosts[host] = f"no connection to {host}"
                    raise DownloadError(self._dead_hosts[host]) from error
                raise

        keeper = pooch.create(
            path=self.staging,
            base_url="",
            registry={name: None},
            urls={name: url},
            retry_if_failed=RETRIES,
        )
        try:
            with _quiet(pooch.get_logger()):
                return Path(keeper.fetch(name, downloader=bounded))
        except requests.HTTPError as error:
            raise DownloadError(f"the server answers {error.response.status_code}") from error
        except (requests.RequestException, ValueError) as error:
            if isinstance(error, requests.Timeout) or "timed out" in str(error):
                raise DownloadError(f"silent for {silence:g} s") from error
            raise DownloadError(f"{type(error).__name__}: {error}") from error


@contextmanager
def _quiet(logger):
    """Keep pooch from announcing every attempt under the name of a staging file."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _never_connected(error):
    import requests
    from urllib3.exceptions import NewConnectionError

    hopeless = (requests.ConnectTimeout, requests.exceptions.ProxyError, requests.exceptions.SSLError)
    cause = error.args[0] if error.args else None
    return isinstance(error, hopeless) or isinstance(getattr(cause, "reason", cause), NewConnectionError)
