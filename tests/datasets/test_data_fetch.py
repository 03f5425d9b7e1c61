"""Fetching from a server that serves, truncates, tampers, stalls and fails."""

import errno
import hashlib
import io
import json
import os
import pickle
import subprocess
import sys
import time
import zipfile

import pytest

import kpca_lab
from kpca_lab.datasets import DatasetUnavailableError
from kpca_lab.datasets.fetch import obtain
from kpca_lab.datasets.registry import Address

# 128000 bytes that do not compress; the fixture `file_set` expects them unless told otherwise.
CONTENT = b"".join(hashlib.sha256(bytes([i])).digest() for i in range(200)) * 20


def only(found):
    ((path, record),) = found
    return path, record


def test_public_file_enters_the_cache_and_is_asked_for_once(server, file_set, cache, names_below):
    wanted = file_set(server.put("data.bin", CONTENT))
    path, record = only(obtain(wanted))
    assert path == cache / "sample" / "data.bin"
    assert path.read_bytes() == CONTENT
    assert (record.source, record.origin) == ("public", f"{server.base}/data.bin")
    assert record.sha256 == hashlib.sha256(CONTENT).hexdigest()
    path, record = only(obtain(wanted))
    assert (record.source, record.origin) == ("cache", f"{server.base}/data.bin")
    assert server.count("data.bin") == 1
    assert names_below(cache) == ["sample/.data.bin.origin.json", "sample/data.bin"]


@pytest.mark.parametrize("fault", ["truncate", "tamper", "cut", "stall", "500", "503", "429"])
def test_a_passing_fault_is_survived_by_asking_again(server, file_set, fault):
    wanted = file_set(server.put("data.bin", CONTENT, fault, "serve"))
    path, _ = only(obtain(wanted))
    assert path.read_bytes() == CONTENT
    assert server.count("data.bin") == 2


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("truncate", "IncompleteRead|breaks off after 64000 of 128000 bytes"),
        ("tamper", "wrong content: 128000 bytes, sha256 "),
        ("cut", "wrong content: 64000 bytes, sha256 "),
        ("stall", "silent for 0.5 s"),
        ("500", "the server answers 500"),
        ("404", "the server answers 404"),
        ("endless", "more bytes than the file has"),
        ("lead astray", "not an address: Invalid IPv6 URL"),
    ],
)
def test_a_lasting_fault_leads_to_the_next_address(server, file_set, cache, fault, reason, names_below):
    bad = server.put("bad.bin", CONTENT, fault)
    good = server.put("good.bin", CONTENT)
    path, record = only(obtain(file_set(bad, good)))
    assert path.read_bytes() == CONTENT
    assert record.origin == good

    path.unlink()
    with pytest.raises(DatasetUnavailableError, match=reason):
        obtain(file_set(bad))
    left = [name for name in names_below(cache) if ".bad-" not in name and ".origin" not in name]
    assert left == []


@pytest.mark.parametrize("fault", ["drip", "drip head"])
def test_a_server_that_gets_nowhere_is_given_up_at_the_deadline(server, file_set, fault):
    """It sends a byte now and then, so it is never silent; its host is not asked a second time."""
    slow = server.put("slow.bin", CONTENT, fault)
    other = server.put("other.bin", CONTENT, fault)
    started = time.monotonic()
    with pytest.raises(DatasetUnavailableError) as caught:
        obtain(file_set(slow, other))
    assert time.monotonic() - started < 5  # it would take hours
    reasons = [why for source, _, why in caught.value.attempts if source == "public"]
    assert reasons[0].startswith("too slow: ") and reasons[1] == f"{reasons[0]} (a moment ago)"
    assert server.requests == ["slow.bin"]


def test_progress_is_shown_on_request(server, file_set, capfd):
    obtain(file_set(server.put("data.bin", CONTENT)), progressbar=True)
    assert "128k/128k" in capfd.readouterr().err


def test_a_length_that_is_no_number_is_passed_over(server, file_set):
    path, _ = only(obtain(file_set(server.put("data.bin", CONTENT, "odd length"))))
    assert path.read_bytes() == CONTENT


def test_a_refusal_is_not_asked_again(server, file_set):
    with pytest.raises(DatasetUnavailableError):
        obtain(file_set(server.put("data.bin", CONTENT, "403")))
    assert server.count("data.bin") == 1


def test_a_dead_host_is_tried_once(file_set, server, monkeypatch):
    gone = server.base
    server.close()
    with pytest.raises(DatasetUnavailableError) as caught:
        obtain(file_set(f"{gone}/a", f"{gone}/b"))
    reasons = [why for source, _, why in caught.value.attempts if source == "public"]
    assert reasons[0].startswith("no connection to 127.0.0.1")
    assert reasons[1] == f"{reasons[0]} (a moment ago)"


def test_a_tampered_download_is_set_aside(server, file_set, cache):
    obtain(file_set(server.put("data.bin", CONTENT, "tamper", "serve")))
    (aside,) = (cache / "sample").glob("data.bin.bad-*")
    assert aside.name.endswith(hashlib.sha256(aside.read_bytes()).hexdigest()[:8])


@pytest.mark.parametrize("damage", ["truncated", "tampered", "empty"])
def test_a_damaged_cached_file_is_set_aside_and_fetched_again(server, file_set, cache, damage):
    wanted = file_set(server.put("data.bin", CONTENT))
    path, _ = only(obtain(wanted))
    spoilt = {"truncated": CONTENT[:1000], "tampered": b"?" + CONTENT[1:], "empty": b""}[damage]
    path.write_bytes(spoilt)
    path, record = only(obtain(wanted))
    assert path.read_bytes() == CONTENT
    assert record.source == "public"
    (aside,) = (cache / "sample").glob("data.bin.bad-*")
    assert aside.read_bytes() == spoilt
    assert server.count("data.bin") == 2


def test_sources_are_tried_in_order(server, file_set, cache, tmp_path, monkeypatch):
    folder = tmp_path / "mirror"
    (folder / "sample").mkdir(parents=True)
    (folder / "sample" / "data.bin").write_bytes(CONTENT)
    wanted = file_set(server.put("data.bin", CONTENT))
    monkeypatch.setenv("KPCA_LAB_MIRROR", str(folder))
    path, record = only(obtain(wanted))
    assert (record.source, record.origin) == ("mirror", str(folder / "sample" / "data.bin"))
    assert path == cache / "sample" / "data.bin"
    assert server.requests == []

    path.unlink()
    (folder / "sample" / "data.bin").write_bytes(b"not it")
    _, record = only(obtain(wanted))
    assert record.source == "public"
    assert (folder / "sample" / "data.bin").read_bytes() == b"not it"


def test_a_mirror_can_be_a_relative_folder(file_set, tmp_path, monkeypatch):
    (tmp_path / "files" / "sample").mkdir(parents=True)
    (tmp_path / "files" / "sample" / "data.bin").write_bytes(CONTENT)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("KPCA_LAB_MIRROR", "../files")
    _, record = only(obtain(file_set()))
    assert record.source == "mirror"


def test_a_mirror_can_be_an_address(server, file_set, monkeypatch):
    server.put("files/sample/data.bin", CONTENT)
    monkeypatch.setenv("KPCA_LAB_MIRROR", f"{server.base}/files/")
    monkeypatch.setenv("KPCA_LAB_OFFLINE", "1")
    _, record = only(obtain(file_set()))
    assert (record.source, record.origin) == ("mirror", f"{server.base}/files/sample/data.bin")


def test_a_member_of_an_archive_is_taken_out_and_verified(server, file_set, cache, names_below):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("folder/data.bin", CONTENT)
        archive.writestr("../escape.bin", b"evil")
    url = server.put("pack.zip", packed.getvalue(), "cut", "serve")
    path, record = only(obtain(file_set(Address(url, member="data.bin"))))
    assert path.read_bytes() == CONTENT
    assert record.origin == url
    assert server.count("pack.zip") == 2
    assert names_below(cache.parent) == [
        "cache/sample/.data.bin.origin.json",
        "cache/sample/data.bin",
    ]


def test_the_error_says_what_was_tried_and_what_to_do(server, file_set, cache, monkeypatch, tmp_path):
    monkeypatch.setenv("KPCA_LAB_MIRROR", str(tmp_path / "nowhere"))
    url = server.put("data.bin", CONTENT, "404")
    wanted = file_set(url)
    with pytest.raises(DatasetUnavailableError) as caught:
        obtain(wanted, dataset="my/set")
    message = str(caught.value)
    for part in (
        "'my/set'",
        f"cache   {cache / 'sample' / 'data.bin'}: not there",
        f"mirror  {tmp_path / 'nowhere' / 'sample' / 'data.bin'}: No such file or directory",
        f"public  {url}: the server answers 404",
        "data.bin, 128000 bytes",
        wanted.files[0].sha256[0],
        f"into the folder {cache / 'sample'} ",
    ):
        assert part in message
    assert [source for source, _, _ in caught.value.attempts] == ["cache", "mirror", "public"]


def test_the_error_survives_the_way_from_a_worker_process(file_set):
    with pytest.raises(DatasetUnavailableError) as caught:
        obtain(file_set())
    returned = pickle.loads(pickle.dumps(caught.value))
    assert str(returned) == str(caught.value)
    assert returned.attempts == caught.value.attempts


def test_a_file_put_by_hand_is_accepted(file_set, cache):
    (cache / "sample").mkdir(parents=True)
    (cache / "sample" / "data.bin").write_bytes(CONTENT)
    _, record = only(obtain(file_set()))
    assert (record.source, record.origin) == ("cache", str(cache / "sample" / "data.bin"))


def test_every_accepted_hash_is_accepted(server, file_set):
    wanted = file_set(server.put("data.bin", b"other line endings"))
    raw = wanted.files[0]
    other = hashlib.sha256(b"other line endings").hexdigest()
    both = type(raw)(raw.path, raw.size, (*raw.sha256, other), raw.addresses)
    path, record = only(obtain(type(wanted)("sample", (both,), "test")))
    assert record.sha256 == other
    assert path.read_bytes() == b"other line endings"


# The package is entered without its estimators, whose import takes seconds.
RACER = """
import json, sys, types
job = json.loads(sys.argv[1])
package = types.ModuleType("kpca_lab")
package.__path__ = [job["package"]]
sys.modules["kpca_lab"] = package
from kpca_lab.datasets.fetch import obtain
from kpca_lab.datasets.registry import Address, FileSet, RawFile
raw = RawFile("sample/data.bin", job["size"], (job["sha256"],), (Address(job["url"]),))
print("ready", flush=True)
sys.stdin.readline()
((path, record),) = obtain(FileSet("sample", (raw,), "test"))
print(record.source, path.stat().st_size)
"""


def start_racer(url, script=RACER, **environment):
    job = {
        "size": len(CONTENT),
        "sha256": hashlib.sha256(CONTENT).hexdigest(),
        "url": url,
        "package": kpca_lab.__path__[0],
    }
    return subprocess.Popen(
        [sys.executable, "-c", script, json.dumps(job)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )


def test_two_processes_at_once_fetch_once_and_both_have_it(server, cache, names_below):
    url = server.put("data.bin", CONTENT, "slow")
    racers = [start_racer(url) for _ in range(2)]
    assert [racer.stdout.readline().strip() for racer in racers] == ["ready", "ready"]
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    answers = sorted(racer.communicate(timeout=60)[0].strip() for racer in racers)
    assert answers == ["cache 128000", "public 128000"]
    assert server.count("data.bin") == 1
    assert (cache / "sample" / "data.bin").read_bytes() == CONTENT
    assert names_below(cache) == ["sample/.data.bin.origin.json", "sample/data.bin"]


def test_what_a_killed_process_left_is_cleared_away(server, file_set, cache):
    left = cache / ".incoming" / "sample" / "tmpdead"
    left.mkdir(parents=True)
    (left / "half").write_bytes(b"half a file")
    obtain(file_set(server.put("data.bin", CONTENT)))
    assert not left.exists()


FULL_DISK = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
""" + RACER.replace("((path, record),) = obtain", "obtain")


@pytest.mark.skipif(sys.platform == "win32", reason="needs file size limits of POSIX")
def test_a_write_that_fails_leaves_no_half_file(server, cache, names_below):
    """The kernel refuses to write past 50 kB, as it does when a disk is full."""
    url = server.put("data.bin", CONTENT)
    racer = start_racer(url, FULL_DISK)
    _, complaint = racer.communicate("go\n", timeout=60)
    assert racer.returncode == 1
    assert os.strerror(errno.EFBIG) in complaint
    assert "DatasetUnavailableError" in complaint
    assert names_below(cache) == []


def test_a_full_disk_at_the_last_moment_leaves_the_old_state(
    server, file_set, cache, monkeypatch, names_below
):
    def no_space(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    wanted = file_set(server.put("data.bin", CONTENT))
    with monkeypatch.context() as patch:
        patch.setattr("kpca_lab.datasets.fetch.os.fsync", no_space)
        with pytest.raises(DatasetUnavailableError, match="No space left on device"):
            obtain(wanted)
    assert names_below(cache) == []
    obtain(wanted)


def test_an_unusable_cache_folder_is_named(file_set, tmp_path, monkeypatch):
    (tmp_path / "occupied").write_text("a file, not a folder")
    monkeypatch.setenv("KPCA_LAB_CACHE", str(tmp_path / "occupied"))
    with pytest.raises(OSError, match="KPCA_LAB_CACHE"):
        obtain(file_set())


@pytest.mark.parametrize("value", ["soon", "0", "-1", "nan"])
def test_a_senseless_timeout_is_refused(server, file_set, monkeypatch, value):
    monkeypatch.setenv("KPCA_LAB_TIMEOUT", value)
    with pytest.raises(ValueError, match="KPCA_LAB_TIMEOUT"):
        obtain(file_set(server.put("data.bin", CONTENT)))


@pytest.mark.parametrize("value", ["http://", "https:///folder", "http://[", "ftp://host/folder"])
def test_an_address_of_a_mirror_that_is_none_is_refused(value, file_set, monkeypatch):
    monkeypatch.setenv("KPCA_LAB_MIRROR", value)
    with pytest.raises(ValueError, match=r"KPCA_LAB_MIRROR=.* is neither a folder nor an address such as"):
        obtain(file_set())


@pytest.mark.parametrize("variable", ["KPCA_LAB_MIRROR", "KPCA_LAB_CACHE"])
def test_the_home_of_nobody_is_refused(variable, file_set, monkeypatch):
    monkeypatch.setenv(variable, "~no-such-user/folder")
    with pytest.raises(ValueError, match=f"{variable}='~no-such-user/folder': there is no such user"):
        obtain(file_set())
