"""Tables 7, 8 and Figure 7: noise, filters and errors, and the printed labels of the cells."""

import sys
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from experiments.washizawa2012 import denoising, denoising_cells, noisy_digits
from kpca_lab import SubsetKPCA
from kpca_lab.datasets import DatasetUnavailableError
from kpca_lab.preimage import denoise
from kpca_lab.suite.config.composing import compose_settings
from kpca_lab.suite.engine.execute import execute
from kpca_lab.suite.jobs import COLUMNS
from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.judge.records import with_parameters
from kpca_lab.suite.judge.scoreboard import cells_frame


def test_squared_errors_are_in_the_printed_unit():
    clean = np.zeros((2, 784))
    images = np.vstack([np.ones(784), np.full(784, 7.0)])
    assert np.allclose(noisy_digits.squared_errors(images, clean), 784 * 255**2 / 1e5)
    assert noisy_digits.squared_errors(clean - 3, clean).tolist() == [0.0, 0.0]


def test_noise_is_that_of_the_paper_and_the_same_for_all():
    images = np.full((200, 784), 0.5)
    noisy = noisy_digits.add_noise(images, "gaussian", 50, 0)
    assert np.std(noisy - images) == pytest.approx(50 / 255, rel=0.01)
    assert (noisy == noisy_digits.add_noise(images, "gaussian", 50, 0)).all()
    flipped = noisy_digits.add_noise(images, "salt_and_pepper", 0.1, 0)
    assert (flipped == 1).mean() == pytest.approx(0.05, abs=0.003)
    assert (flipped == 0).mean() == pytest.approx(0.05, abs=0.003)
    with pytest.raises(ValueError, match="noise is"):
        noisy_digits.add_noise(images, "uniform", 1, 0)


def test_wiener_filter_is_the_best_linear_one():
    rng = np.random.default_rng(0)
    clean = rng.standard_normal((400, 6)) @ rng.standard_normal((6, 6))
    noisy = clean + 0.7 * rng.standard_normal(clean.shape)
    found = noisy_digits.wiener(noisy, clean.T @ clean / len(clean), 0.49)
    best = noisy @ np.linalg.lstsq(noisy, clean, rcond=None)[0]
    assert np.mean((found - clean) ** 2) <= 1.03 * np.mean((best - clean) ** 2)


def test_denoised_equals_the_library():
    rng = np.random.default_rng(0)
    X, noisy = rng.random((80, 5)), rng.random((9, 5))
    operator = SubsetKPCA(gamma=0.5, n_basis=20, random_state=0).fit(X).operator_
    expected = denoise(operator.truncate(6), noisy, **denoising.PREIMAGE)
    assert np.allclose(denoising._denoised(operator, 6, noisy), expected, atol=1e-8)


def test_all_training_images_are_clustered_in_every_pass(monkeypatch):
    """The paper says 60000; the selector by itself takes fewer of so many."""
    used = []
    monkeypatch.setattr(denoising, "train_images", lambda dataset: np.zeros((3, 784)))
    monkeypatch.setattr(denoising.KMeansSelector, "select", lambda self, *given, **named: used.append(self))
    denoising.centroids({}, 2, 0, 100)
    assert used[0].max_samples is None and used[0].largest_pass == np.inf and used[0].max_iter == 100


def test_without_the_package_bm3d_its_job_is_skipped_with_the_command(monkeypatch):
    settings = compose_settings(["+experiment=washizawa2012/table7", "profile=paper"])
    (job,) = [job for job in denoising.table_jobs(settings) if job.settings.get("filters") == ["bm3d"]]
    monkeypatch.setattr(noisy_digits, "test_images", lambda dataset: np.zeros((2, 784)))
    monkeypatch.setitem(sys.modules, "bm3d", None)
    assert execute(job) == ("unavailable", "bm3d", "pip install -e '.[bm3d]'")


def _smoke(item, tmp_path, monkeypatch, make_jobs, run):
    monkeypatch.setattr("experiments.common.shared.shared_folder", lambda: tmp_path)
    settings = compose_settings([f"+experiment=washizawa2012/{item}", "profile=smoke"])
    rows, arrays = [], {}
    for number, job in enumerate(make_jobs(settings)):
        try:
            outcome = run(job)
        except DatasetUnavailableError as error:
            pytest.skip(f"needs MNIST: {error}")
        rows += [{**entry, "job": str(number)} for entry in outcome.rows]
        arrays |= {str(number): outcome.arrays} if outcome.arrays else {}
    return with_parameters(pd.DataFrame(rows, columns=COLUMNS)), arrays, asdict(settings)


@pytest.mark.parametrize("item", ["table7", "table8"])
def test_cells_carry_the_printed_labels(item, tmp_path, monkeypatch):
    records, _, settings = _smoke(item, tmp_path, monkeypatch, denoising.table_jobs, denoising.denoise_all)
    records["m"] = records["m"].astype("Int64").replace(20, 100)  # the smallest basis of the paper
    cells = cells_frame("washizawa2012", denoising_cells.cells(records, settings))
    published = load_published().query("paper == 'washizawa2012'")
    stated = cells[cells.table == "text"].column
    assert set(stated) <= set(published[published.table == "text"].column) and len(stated) == 7 * (
        item == "table7"
    )
    cells, printed = cells[cells.table == item], published.query("table == @item and flag != 'unavailable'")
    found = set(zip(cells.row, cells.column))
    assert found <= set(zip(printed.row, printed.column))
    assert found >= {
        (row, column) for row, column in zip(printed.row, printed.column) if "00)" not in row
    } | {(row, column) for row, column in zip(printed.row, printed.column) if "(100)" in row}
    assert (cells.ours.dropna() > 0).all()


def test_figure_shows_four_mosaics(tmp_path, monkeypatch):
    made = (denoising.figure_jobs, denoising.denoise_first)
    records, arrays, settings = _smoke("figure7", tmp_path, monkeypatch, *made)
    assert [cell.ours for cell in denoising.figure_cells(records, settings)] == [100, 50]
    figure = denoising.figure(records, arrays)
    assert isinstance(figure, Figure)
    titles = [ax.get_title() for ax in figure.axes]
    assert len(titles) == 4 and titles[0] == "Original" and "SubKPCA" in titles[2] and "$m = 20$" in titles[2]


def test_the_paper_profile_is_the_papers_protocol():
    settings = compose_settings(["+experiment=washizawa2012/table8", "profile=paper"])
    assert settings.n_basis == [100, 500, 1000] and settings.parameters["levels"] == [0.05, 0.1, 0.2, 0.4]
    assert np.allclose(settings.parameters["log10_gammas"], np.arange(-6, -1.95, 0.1))
    assert settings.parameters["rank_step"] == 5 and settings.n_train is None and settings.n_test is None
