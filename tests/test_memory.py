"""What would not fit into memory is refused beforehand, with the figure and the way out."""

import pytest

from kpca_lab import (
    AKPCA,
    CholeskyKPCA,
    ElasticNetKPCA,
    EmpiricalMapKPCA,
    FullKPCA,
    HebbianKPCA,
    NystromKPCA,
    ReducedKPCA,
    TippingKPCA,
    memory,
)


@pytest.mark.parametrize(
    "model, remedy",
    [
        (FullKPCA(), "use SubsetKPCA"),
        (FullKPCA(3, eigen_solver="iterative"), "use SubsetKPCA"),
        (TippingKPCA(3), "use SubsetKPCA"),
        (ElasticNetKPCA(3), "use SubsetKPCA"),
        (HebbianKPCA(3), "use SubsetKPCA"),
        (AKPCA(3), "use SubsetKPCA"),
        (ReducedKPCA(3, n_basis=90_000), "use SubsetKPCA"),
        (NystromKPCA(3, n_basis=90_000), "use SubsetKPCA"),
        (CholeskyKPCA(3, n_basis=90_000), "lower n_basis"),
        (EmpiricalMapKPCA(3, sketch_size=90_000), "lower sketch_size"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_figure(model, remedy, rng, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 8 * 2**30)
    X = rng.standard_normal((100_000, 1))
    with pytest.raises(MemoryError, match=rf"GiB, and .* GiB are available: {remedy}"):
        model.fit(X)


def test_what_fits_passes():
    memory.check_memory(1000, "A small thing", "do nothing")


def test_available_memory_is_what_the_system_says(tmp_path, monkeypatch):
    info, limit = tmp_path / "meminfo", tmp_path / "limit"
    info.write_text("MemTotal: 100 kB\nMemAvailable: 50 kB\n")
    monkeypatch.setattr(memory, "MEMORY_INFO", info)
    monkeypatch.setattr(memory, "CONTAINER_LIMITS", (limit,))
    assert memory.available_memory() == 50 * 1024
    limit.write_text("max\n")
    assert memory.available_memory() == 50 * 1024
    limit.write_text("2048\n")
    assert memory.available_memory() == 2048
    info.unlink()
    limit.unlink()
    assert memory.available_memory() is None or memory.available_memory() > 2**20
