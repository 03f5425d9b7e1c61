"""What a fit will take: counts of operations, and the command that tells them."""

import tracemalloc

import numpy as np
import pytest

from kpca_lab import SubsetKPCA
from kpca_lab.cli.main import main
from kpca_lab.cost_model import Speeds, calibrate, plan
from kpca_lab.dask_rows import PART_BYTES

SPEEDS = Speeds(4e10, 3e10, 2e10, 5e8, 5e8, 1e-10)


def planned(n_rows=10**8, n_features=1000, n_basis=2000, n_components=50, **options):
    return plan(n_rows, n_features, n_basis, n_components, **{"speeds": SPEEDS} | options)


def test_time_grows_with_the_rows_and_falls_with_the_workers():
    one, ten_times = planned(), planned(10**9)
    assert ten_times.total_seconds == pytest.approx(10 * one.total_seconds, rel=0.01)
    shared = planned(n_workers=50)
    assert one.total_seconds / 50 < shared.total_seconds < one.total_seconds / 30
    assert shared.cpu_seconds >= one.cpu_seconds


def test_the_dominant_work_is_products_and_sums():
    found = planned(bandwidth=np.inf)
    operations = 10**8 * (2 * 1002 * 2000 / 4e10 + 2000**2 / 3e10)
    assert operations < found.cpu_seconds < 1.1 * operations


def test_memory_does_not_grow_with_the_rows_and_traffic_is_counted():
    few, many = planned(10**7, n_workers=10), planned(10**9, n_workers=10)
    assert few.worker_bytes == many.worker_bytes and few.client_bytes == many.client_bytes
    assert many.read_bytes == 8 * 10**12
    assert many.n_parts == np.ceil(10**9 / (PART_BYTES // 8000))
    assert many.n_messages >= many.n_parts and many.sent_bytes >= many.n_parts * 8 * 2000**2
    alone = planned()
    assert alone.sent_bytes == alone.n_messages == 0 and alone.n_parts == 1


def test_a_fit_takes_no_more_memory_than_planned(rng):
    n_rows, n_features, n_basis = 4000, 40, 300
    X = rng.standard_normal((n_rows, n_features))
    found = planned(n_rows, n_features, n_basis, 5)
    tracemalloc.start()
    SubsetKPCA(5, gamma=0.02, n_basis=n_basis, random_state=0).fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < found.worker_bytes + found.client_bytes < 10 * peak


def test_speeds_are_measured():
    speeds = calibrate(5, 20, 2, repeats=1)
    assert all(0 < value < np.inf for value in vars(speeds).values())


def test_the_command_tells_time_memory_and_traffic(capsys):
    words = ["plan", "--rows", "1e6", "--features", "20", "--basis", "50", "--workers", "4"]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["fit", "speed", "time", "processor", "memory", "traffic"]
    assert lines[0].endswith("1000000 rows x 20 features, 50 basis samples, 10 components, 4 workers")
    assert "160 MB read" in lines[-1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--rows", "0", "--features", "3"], "The number of rows must be an integer >= 1, got 0"),
        (["--rows", "100", "--features", "3"], "more basis samples (500) than rows (100)"),
        (["--rows", "1e4", "--features", "3", "--bandwidth", "0"], "bandwidth must be positive"),
    ],
)
def test_what_cannot_be_is_refused(words, told, capsys):
    assert main(["plan", *words]) == 2
    assert told in capsys.readouterr().err


def test_a_number_that_is_none_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["plan", "--rows", "many", "--features", "3"])
    assert "a whole number is needed, such as 5000 or 1e9, not 'many'" in capsys.readouterr().err
