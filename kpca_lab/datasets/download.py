"""One download: bounded in time and size, retried where a retry can help."""

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kpca_lab.datasets.locations import timeout
from kpca_lab.extras import require

__all__ = ["DownloadError", "Downloads"]

RETRIES = 2
CONNECT_SECONDS = 10
# Beyond the seconds a server may stay silent it must have sent this much on the average, so that
# one that keeps on talking without getting anywhere is given up too.
MIN_BYTES_PER_SECOND = 20_000

_CHUNK = 1 << 16


class DownloadError(Exception):
    """A download that failed for good; the message says why."""


class _PassingError(Exception):
    """A failure that asking again may mend."""


class Downloads:
    """Downloads into one staging folder, remembering what was had and which hosts are dead.

    Parameters
    ----------
    staging : path
        Existing folder for the downloaded files; it belongs to the caller.
    progressbar : bool or None
        Show a progress bar on standard error; by default only if that is a terminal.
    """

    def __init__(self, staging: str | os.PathLike, progressbar: bool | None = None) -> None:
        self.staging = Path(staging)
        self._progressbar = sys.stderr.isatty() if progressbar is None else progressbar
        self._finished: dict[str, Path | DownloadError] = {}
        self.dead_hosts: dict[str, str] = {}
        self._count = 0

    def get(self, url: str, max_bytes: int) -> Path:
        """Download `url` and return the path of the file in the staging folder.

        The same address is asked only once: an archive with three wanted members is fetched
        once. The bytes are not verified here.

        Raises
        ------
        DownloadError
            If the server is unreachable, refuses, stalls, is too slow, breaks off, or sends too much.
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

    def forget(self, url: str) -> None:
        """Ask `url` again next time: what it sent was not what was wanted."""
        self._finished.pop(url, None)

    def _get(self, url: str, max_bytes: int) -> Path:
        host = urlsplit(url).netloc
        if host in self.dead_hosts:
            raise DownloadError(f"{self.dead_hosts[host]} (a moment ago)")
        self._count += 1
        output = self.staging / f"{self._count}-{Path(urlsplit(url).path).name or 'download'}"
        attempt = 1
        while True:
            transfer = _Transfer(url, output, max_bytes, self._progressbar)
            try:
                transfer.run()
                return output
            except _PassingError as error:
                if attempt > RETRIES:
                    raise DownloadError(str(error)) from error
                time.sleep(attempt)
                attempt += 1
            except DownloadError as error:
                if transfer.is_hopeless:
                    self.dead_hosts[host] = str(error)
                raise


class _Transfer:
    """One request, made in a thread of its own so that a deadline holds whatever the server does.

    A limit on the silence of a socket begins anew with each byte, also while the head of an answer
    is read, and so does not bound the whole. A thread that is given up ends with its next bytes.
    """

    def __init__(self, url: str, output: Path, max_bytes: int, progressbar: bool) -> None:
        self.url, self.output, self.max_bytes, self.progressbar = url, output, max_bytes, progressbar
        self.silence = timeout()
        self.received = 0
        self.is_hopeless = False
        self._given_up = threading.Event()
        self._error: BaseException | None = None

    def run(self) -> None:
        """Fill the output file, or raise what is wrong."""
        self._requests: Any = require("requests", "data")
        thread = threading.Thread(target=self._work, daemon=True)
        started = time.monotonic()
        thread.start()
        while thread.is_alive():
            deadline = started + self.silence + self.received / MIN_BYTES_PER_SECOND
            left = deadline - time.monotonic()
            # The socket's own limit ends at the same moment and tells silence from slowness.
            if left < -0.2:
                self._given_up.set()
                self.is_hopeless = True
                raise DownloadError(f"too slow: {self.received} bytes in {time.monotonic() - started:.1f} s")
            thread.join(min(max(left, 0.05), 0.5))
        if self._error is not None:
            raise self._translated(self._error) from self._error

    def _work(self) -> None:
        try:
            self._receive()
        except BaseException as error:
            self._error = error

    def _receive(self) -> None:
        # Encoded transfer would hand over decoded bytes, whose hash is another one.
        answer = self._requests.get(
            self.url,
            stream=True,
            timeout=(min(self.silence, CONNECT_SECONDS), self.silence),
            headers={"Accept-Encoding": "identity", "User-Agent": "kpca_lab"},
        )
        with answer, open(self.output, "wb") as opened:
            answer.raise_for_status()
            told = answer.headers.get("Content-Length", "")
            length = int(told) if told.isdecimal() else 0
            bar = require("tqdm", "data").tqdm(
                total=length or None, disable=not self.progressbar, unit="B", unit_scale=True, leave=True
            )
            with bar:
                # read1 returns what has come, where read would wait for a whole chunk.
                while (chunk := answer.raw.read1(_CHUNK)) and not self._given_up.is_set():
                    self.received += len(chunk)
                    if self.received > self.max_bytes:
                        raise DownloadError("it sends more bytes than the file has")
                    opened.write(chunk)
                    bar.update(len(chunk))
            if self.received < length:
                raise _PassingError(f"it breaks off after {self.received} of {length} bytes")
            opened.flush()
            os.fsync(opened.fileno())

    def _translated(self, error: BaseException) -> BaseException:
        """Return the error to raise: one that is worth another attempt, one that is not, or itself."""
        problems = self._requests.exceptions
        if isinstance(error, problems.HTTPError):
            status = error.response.status_code
            passing = status >= 500 or status in (408, 425, 429)
            return (_PassingError if passing else DownloadError)(f"the server answers {status}")
        if _never_connected(error, problems):
            # No name, no route or nobody listening: asking again at once is no use. A
            # connection that breaks while data flow is another matter.
            self.is_hopeless = True
            return DownloadError(f"no connection to {urlsplit(self.url).netloc}")
        if isinstance(error, problems.Timeout) or "timed out" in str(error):
            return _PassingError(f"silent for {self.silence:g} s")
        urllib3 = require("urllib3", "data")
        if isinstance(error, problems.InvalidURL | problems.InvalidSchema | problems.MissingSchema):
            return DownloadError(f"not an address: {error}")
        if isinstance(error, problems.RequestException | urllib3.exceptions.HTTPError):
            return _PassingError(f"{type(error).__name__}: {error}")
        if isinstance(error, ValueError):  # what a server redirects to may be no address either
            return DownloadError(f"not an address: {error}")
        return error


def _never_connected(error: BaseException, problems: Any) -> bool:
    hopeless = (problems.ConnectTimeout, problems.ProxyError, problems.SSLError)
    cause = error.args[0] if error.args else None
    refused = require("urllib3.exceptions", "data").NewConnectionError
    return isinstance(error, hopeless) or isinstance(getattr(cause, "reason", cause), refused)
