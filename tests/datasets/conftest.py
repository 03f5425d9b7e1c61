"""Every test has a cache of its own and no network; real files come from where they are."""

import hashlib
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from kpca_lab.datasets import DatasetUnavailableError, download, load_dataset, locations
from kpca_lab.datasets.registry import Address, FileSet, RawFile

# Where the session's user has the files: a mirror if one is set, else the cache.
_MIRROR = locations.mirror() or locations.cache_dir()


@pytest.fixture(autouse=True)
def isolated(tmp_path, monkeypatch):
    """Give the test an empty cache, no mirror, and neither public addresses nor an index."""
    monkeypatch.setenv("KPCA_LAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KPCA_LAB_MIRROR", raising=False)
    monkeypatch.setenv("KPCA_LAB_OFFLINE", "1")
    monkeypatch.setattr(download, "RETRIES", 1)
    monkeypatch.setattr(download.time, "sleep", lambda seconds: None)


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory):
    """One cache for all tests on real files, so that each is copied and parsed once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def real(shared_cache, monkeypatch):
    """Load a real data set from the mirror or cache of the session, or skip the test."""
    monkeypatch.setenv("KPCA_LAB_CACHE", str(shared_cache))
    monkeypatch.setenv("KPCA_LAB_MIRROR", str(_MIRROR))

    def load(name, **options):
        try:
            loaded = load_dataset(name, **options)
        except DatasetUnavailableError:
            pytest.skip(f"the files of {name} are neither in KPCA_LAB_MIRROR nor in the cache")
        if any(record.note for record in loaded.provenance.files):
            pytest.skip(f"only a variant of {name} is here: {loaded.provenance.note}")
        return loaded

    return load


class Server:
    """Local web server whose answers are scripted, path by path."""

    def __init__(self):
        self.contents = {}
        self.script = {}
        self.requests = []
        self.released = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer._answer(self)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.base = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def put(self, path, content, *answers):
        """Serve `content`; `answers` say how each request is treated, the last one for ever."""
        self.contents[path] = content
        self.script[path] = list(answers or ["serve"])
        return f"{self.base}/{path}"

    def count(self, path):
        return self.requests.count(path)

    def _answer(self, handler):
        path = handler.path.lstrip("/")
        self.requests.append(path)
        if path not in self.contents:
            return handler.send_error(404)
        content, script = self.contents[path], self.script[path]
        answer = script.pop(0) if len(script) > 1 else script[0]
        if answer.isdigit():
            return handler.send_error(int(answer))
        length = len(content)
        if answer == "tamper":
            content = content[:-1] + bytes([content[-1] ^ 1])
        elif answer == "cut":  # says it is whole, and is not
            content = content[: length // 2]
            length = len(content)
        elif answer == "slow":
            time.sleep(0.3)
        elif answer == "endless":
            length = 10**12
        if answer == "drip head":
            content = b"HTTP/1.1 200 OK\r\nX-Long: " + content
        elif answer == "lead astray":
            handler.send_response(302)
            handler.send_header("Location", "http://[::1")
            handler.end_headers()
            return None
        else:
            length = "many" if answer == "odd length" else length
            handler.send_response(200)
            handler.send_header("Content-Length", str(length))
            handler.end_headers()
        try:
            if answer == "truncate":  # breaks off in the middle
                handler.wfile.write(content[: length // 2])
            elif answer == "stall":
                handler.wfile.write(content[: length // 2])
                handler.wfile.flush()
                self.released.wait(20)
            elif answer in ("drip", "drip head"):
                for byte in content:
                    handler.wfile.write(bytes([byte]))
                    if self.released.wait(0.1):
                        break
            elif answer == "endless":
                while not self.released.is_set():
                    handler.wfile.write(content)
            else:
                handler.wfile.write(content)
        except ConnectionError:
            pass

    def close(self):
        self.released.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server(monkeypatch):
    """A scripted server; public addresses are allowed while it runs."""
    running = Server()
    monkeypatch.setenv("KPCA_LAB_OFFLINE", "0")
    monkeypatch.setenv("KPCA_LAB_TIMEOUT", "0.5")
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    yield running
    running.close()


CONTENT = b"".join(hashlib.sha256(bytes([i])).digest() for i in range(200)) * 20


@pytest.fixture
def file_set():
    """Make a file set of one file with the given content, addresses and other fields."""

    def make(*urls, content=CONTENT, name="sample", path="sample/data.bin", **fields):
        addresses = tuple(url if isinstance(url, Address) else Address(url) for url in urls)
        raw = RawFile(path, len(content), (hashlib.sha256(content).hexdigest(),), addresses, **fields)
        return FileSet(name, (raw,), terms="test")

    return make


@pytest.fixture
def cache(isolated):
    """Folder of the test's cache."""
    return locations.cache_dir()


@pytest.fixture(scope="session")
def names_below():
    """Return all regular files under a folder, but for locks, as relative names."""

    def names(folder):
        return sorted(
            os.path.relpath(os.path.join(place, name), folder)
            for place, _, found in os.walk(folder)
            for name in found
            if not name.endswith(".lock")
        )

    return names
