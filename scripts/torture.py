"""The engine under fire: killed runs, several at once, a full disk, damaged files, bad jobs, slow servers.

    python scripts/torture.py [--rounds 50] [--only kill,together,disk,damage,jobs,servers] [--seed 0]

Whatever happens, the records that a run leaves in the end are those of an undisturbed one, and nothing keeps
running. The counts are printed, and the exit status is 1 if something was lost.
"""

import argparse
import contextlib
import http.server
import io
import os
import pickle
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil

from kpca_lab.methods.reduced import ReducedKPCA

HERE = Path(__file__).resolve()
# The sweep that is disturbed: this many jobs of some hundredths of a second.
TRIALS = 24


class Slow(ReducedKPCA):
    """Takes its time."""

    def fit(self, X, y=None):
        time.sleep(0.05)
        return super().fit(X, y)


class Endless(ReducedKPCA):
    """Never ends, nor does what it has started."""

    def fit(self, X, y=None):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        time.sleep(600)


class Hungry(ReducedKPCA):
    """Starts a process that takes much memory."""

    def fit(self, X, y=None):
        code = "import time; food = bytearray(b'x') * (800 * 2**20); time.sleep(600)"
        subprocess.run([sys.executable, "-c", code], check=True)


class Dying(ReducedKPCA):
    """Dies, and leaves a child behind that holds what it had open."""

    def fit(self, X, y=None):
        if os.fork() == 0:
            time.sleep(600)
        os.kill(os.getpid(), signal.SIGKILL)


class Chatty(ReducedKPCA):
    """Prints without end, in bytes that are no text, and fails with an error that is none."""

    def fit(self, X, y=None):
        for _ in range(200):
            os.write(1, b"\xff\x00" * 50_000)
        raise ValueError("lone \ud800 surrogate\n\0=1+1")


class Strange(ReducedKPCA):
    """Gives what is no number."""

    def fit(self, X, y=None):
        super().fit(X, y)
        self.eigenvalues_ = np.full(len(self.eigenvalues_), np.nan)
        return self


def first_eigenvalue(evaluation) -> float:
    """A metric: the first eigenvalue."""
    return float(evaluation.model.eigenvalues_[0])


class Torture:
    """The sections, each of which returns rounds and what was lost in them."""

    def __init__(self, folder: Path, rounds: int, seed: int, workers: int = 2):
        from kpca_lab.suite.config.composing import compose_settings

        self.folder, self.rounds, self.rng = folder, rounds, random.Random(seed)
        words = ["n_train=30", "n_components=2", "n_basis=5", "profile=smoke", "metric=empirical_error"]
        self.settings = replace(compose_settings(words), seeds=list(range(TRIALS)), workers=workers)
        self.given = self.of("Slow")
        self._undisturbed = None

    def of(self, name, **changes):
        """Settings of a run with one of the estimators of this file."""
        method = {"target": f"{HERE.stem}.{name}", "params": {}, "size_parameter": None, "nested": True}
        return replace(self.settings, methods={name: method}, **changes)

    @property
    def undisturbed(self):
        """The records of a run that nothing happens to."""
        if self._undisturbed is None:
            self._undisturbed = self.finished(self.folder / "undisturbed")
        return self._undisturbed

    def start(self, results, settings=None, **options):
        """Start a run in a process of its own."""
        given = self.folder / "settings.pickle"
        given.write_bytes(pickle.dumps(settings or self.given))
        command = [sys.executable, str(HERE), "--sweep", str(given), str(results)]
        paths = os.pathsep.join([str(HERE.parent), *filter(None, sys.path)])
        return subprocess.Popen(
            command,
            env=os.environ | {"PYTHONPATH": paths, "TORTURED": str(results)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **options,
        )

    def finished(self, results, settings=None):
        """The records of a run that is let to its end."""
        self.start(results, settings).wait(300)
        return self.records(results)

    def records(self, results):
        """What a run has left, without times."""
        from kpca_lab.suite.engine.records_file import read_records

        return read_records(Path(results) / "smoke" / "custom" / "artificial2d.csv").drop(columns="seconds")

    def same(self, found):
        """Whether records are those of an undisturbed run."""
        return len(found) > 0 and found.equals(self.undisturbed)

    def survivors(self, results, patience=3.0):
        """Processes of a run that are still there after some seconds."""
        end = time.monotonic() + patience
        while True:
            found = []
            for process in psutil.process_iter():
                with contextlib.suppress(psutil.Error):
                    alive = process.status() != psutil.STATUS_ZOMBIE
                    if alive and process.environ().get("TORTURED") == str(results):
                        found.append(process)
            if not found or time.monotonic() > end:
                return found
            time.sleep(0.1)

    def kill(self):
        """Runs that are killed at random moments and begun again: the parent, a worker, or all at once."""
        lost, results = 0, self.folder / "killed"
        for number in range(self.rounds):
            run = self.start(results)
            time.sleep(self.rng.uniform(0.0, 4.0))
            victim = ("parent", "worker", "group")[number % 3]
            with contextlib.suppress(psutil.Error, OSError):
                children = psutil.Process(run.pid).children(recursive=True)
                victims = {"parent": [], "worker": children[:1], "group": children}[victim]
                for process in victims:
                    process.kill()
                if victim == "worker":
                    time.sleep(self.rng.uniform(0.0, 1.0))
            run.kill()
            run.wait()
            left = self.survivors(results)
            for process in left:
                process.kill()
            lost += bool(left)
            if not self._readable(results):
                lost += 1
            if len(list(results.glob("smoke/jobs/custom/artificial2d/*.json"))) >= TRIALS:
                lost += not self.same(self.finished(results))
                shutil.rmtree(results)
        return self.rounds, lost + (not self.same(self.finished(results)))

    def _readable(self, results):
        """Whether no file of records is damaged."""
        from kpca_lab.suite.engine.records_file import load_records

        return not any(load_records(path).problem for path in results.rglob("*.csv"))

    def together(self):
        """Two and four processes that run the same sweep."""
        lost = 0
        for count in (2, 4):
            results = self.folder / f"together-{count}"
            for run in [self.start(results) for _ in range(count)]:
                run.wait(300)
            lost += not self.same(self.records(results))
        return 2, lost

    def disk(self, sizes=(0, 700, 1700, 3000)):
        """A disk that is full: no file may grow beyond a size; then there is room again."""
        lost = 0
        for size in sizes:

            def narrow(size=size):
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

            results = self.folder / f"disk-{size}"
            code = self.start(results, preexec_fn=narrow).wait(300)
            # All sizes are below that of the records: a run that says it has succeeded has lied.
            lost += code == 0 or bool(list(results.rglob("*.tmp")))
            lost += not self.same(self.finished(results))
        return len(sizes), lost

    def damage(self):
        """Files of all kinds that are emptied, cut, garbled, full of NULs, or of another shape."""
        results, lost, rounds = self.folder / "damaged", 0, 0
        self.finished(results)
        kinds = {
            "emptied": lambda content: b"",
            "cut": lambda content: content[: self.rng.randrange(1, len(content))],
            "without its last line": lambda content: b"\n".join(content.split(b"\n")[:-2]) + b"\n",
            "garbled": lambda content: bytes(byte ^ self.rng.randrange(256) for byte in content),
            "NULs": lambda content: b"\0" * len(content),
            "an object": lambda content: b"{}",
            "a list": lambda content: b"[]",
        }
        for kind, change in kinds.items():
            files = [path for path in results.rglob("*") if path.suffix in (".csv", ".json", ".npz")]
            some = [path for path in files if "jobs" not in path.parts]
            others = [path for path in files if path not in some]
            some += self.rng.sample(others, min(3, len(others)))
            for path in some:
                path.write_bytes(change(path.read_bytes() or b"x\n"))
            if kind != "emptied":  # then the records alone tell what is done
                for path in results.glob("smoke/jobs/custom/*/*.json"):
                    path.unlink()
            rounds += 1
            if not self.same(self.finished(results)):
                print(f"lost: files {kind}", file=sys.stderr)
                lost += 1
        return rounds, lost

    def jobs(self):
        """Jobs that never end, take memory, die, print without end or give no number: the others go on."""
        cases = {
            "Endless": ({"seconds": 2.0, "memory_mb": None}, "timeout"),
            "Hungry": ({"seconds": 60.0, "memory_mb": 600.0}, "memory"),
            "Dying": ({"seconds": 60.0, "memory_mb": None}, "failed"),
            "Chatty": ({"seconds": 60.0, "memory_mb": None}, "failed"),
            "Strange": ({"seconds": 60.0, "memory_mb": None}, "failed"),
        }
        lost = 0
        metric = {"first_eigenvalue": {"target": f"{HERE.stem}.first_eigenvalue", "params": {}}}
        for name, (limits, status) in cases.items():
            results = self.folder / name
            chosen = self.of(name, limits=limits, seeds=[0], metrics=metric)
            begun = time.monotonic()
            found = self.finished(results, chosen)
            sound = found["status"].tolist() == [status] and time.monotonic() - begun < 120
            left = self.survivors(results)
            for process in left:
                process.kill()
            if not sound or left:
                print(f"lost: {name}: {found['status'].tolist()}, {len(left)} processes", file=sys.stderr)
                lost += 1
        return len(cases), lost

    def servers(self):
        """Servers that send a byte now and then, or nothing, are given up at the stated time."""
        lost, cases = 0, ("dripping", "silent", "cut")
        for how in cases:
            with _server(how) as address, tempfile.TemporaryDirectory() as folder:
                begun = time.monotonic()
                try:
                    _download(address, folder)
                    lost += 1
                except OSError:
                    lost += time.monotonic() - begun > 30
        return len(cases), lost


def _download(address, folder):
    """Fetch a file with a short patience."""
    from kpca_lab.datasets.download import DownloadError, Downloads

    before = os.environ.get("KPCA_LAB_TIMEOUT")
    os.environ["KPCA_LAB_TIMEOUT"] = "2"
    try:
        Downloads(folder, progressbar=False).get(address, 10**6)
    except DownloadError as error:
        raise OSError(str(error)) from error
    finally:
        os.environ.pop("KPCA_LAB_TIMEOUT")
        os.environ.update({} if before is None else {"KPCA_LAB_TIMEOUT": before})


@contextlib.contextmanager
def _server(how):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            with contextlib.suppress(OSError):
                for _ in range(100):
                    if how != "silent":
                        self.wfile.write(b"x")
                        self.wfile.flush()
                    if how == "cut":
                        return
                    time.sleep(0.5)

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/file"
    finally:
        server.shutdown()


def sweep(given: str, results: str) -> int:
    """Run the settings in a file: what the processes do that are disturbed."""
    from kpca_lab.suite.engine.plan import make_plan
    from kpca_lab.suite.engine.runner import run

    settings = pickle.loads(Path(given).read_bytes())
    summary = run([make_plan(replace(settings, results_dir=results))], stream=io.StringIO())
    return summary.exit_code


SECTIONS = ("kill", "together", "disk", "damage", "jobs", "servers")


def main(arguments: list[str] | None = None) -> int:
    """Run the sections, print their counts, and return 1 if something was lost."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=50, help="how often a run is killed")
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, separated by commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sweep", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.sweep:
        return sweep(*chosen.sweep)
    lost = 0
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        torture = Torture(Path(folder), chosen.rounds, chosen.seed)
        for name in chosen.only.split(","):
            section, begun = getattr(torture, name), time.monotonic()
            rounds, bad = section()
            lost += bad
            what = section.__doc__.split(":")[0].split("\n")[0].rstrip(".").lower()
            took = time.monotonic() - begun
            print(f"{name}: {rounds} rounds, {bad} lost, {took:.0f} s ({what})", flush=True)
    print(f"{lost or 'nothing'} lost")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
