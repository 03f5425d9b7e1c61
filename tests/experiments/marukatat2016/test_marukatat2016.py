"""Marukatat 2016: the bounds, what the rows hold, and the figures."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from experiments.marukatat2016 import figures as marukatat2016_figures
from experiments.marukatat2016 import sketches as marukatat2016
from kpca_lab.methods.empirical_map import sketch_matrix
from kpca_lab.suite.config.composing import compose_many
from kpca_lab.suite.engine.store import Store
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.judge.records import with_parameters

ITEMS = ("kernel", "covariance")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Records of the smoke profile, by item."""
    store = Store(tmp_path_factory.mktemp("results"), "smoke")
    wanted = [[f"+experiment=marukatat2016/{item}", "profile=smoke"] for item in ITEMS]
    for settings in compose_many(wanted):
        jobs = marukatat2016.jobs(settings)
        assert len(jobs) == 1
        store.write(settings.experiment, "job", experiment.runners[settings.experiment](jobs[0]), {})
        store.compact(settings.experiment, ["job"])
    return {item: store.records(f"marukatat2016/{item}") for item in ITEMS}


def test_subspace_distance_is_the_sine_of_the_angle():
    angle = 0.3
    V, W = np.eye(3)[:, :2], np.array([[1, 0], [0, np.cos(angle)], [0, np.sin(angle)]])
    assert marukatat2016.subspace_distance(V, 5 * W) == pytest.approx(np.sin(angle))
    assert marukatat2016.subspace_distance(V, V[:, :1]) == 1.0


def test_dot_product_bound_solves_equation_8():
    q, delta = 800, 1e-3
    error = marukatat2016.dot_product_bound(q, delta)
    assert 4 * np.exp(-(error**2 - error**3) * q / 4) == pytest.approx(delta)
    assert np.isnan(marukatat2016.dot_product_bound(20, delta))


def test_bounds_are_those_of_the_error_matrix():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 8))
    Z = X @ sketch_matrix("gaussian", 5, 8, rng).T
    error = X @ X.T - Z @ Z.T
    bounds = marukatat2016.Bounds(X @ X.T, Z)
    assert bounds.norm == pytest.approx(np.linalg.norm(error, 2), rel=1e-3)
    assert bounds.entries == pytest.approx(30 * np.abs(error).max())
    vectors = np.linalg.eigh(X @ X.T)[1][:, ::-1]
    moved = vectors.T @ error @ vectors
    assert bounds.off_diagonal(vectors[:, :3]) == pytest.approx(np.linalg.norm(moved[3:, :3], 2))


def test_exact_eigenpairs_have_no_error():
    A = np.diag([5.0, 3.0, 1.0, 0.5])
    values, vectors = np.diag(A), np.eye(4)
    found = marukatat2016.measured(values, vectors, values, vectors, None, 2, 1.0)
    assert found == {"eigenvalue_error": 0.0, "subspace_distance": 0.0}


@pytest.mark.parametrize("item", ITEMS)
def test_errors_stay_within_the_bounds(item, results):
    records = results[item]
    ratios = records[records["metric"].isin(["eigenvalue_bound_ratio", "subspace_bound_ratio"])]
    assert len(ratios) and (ratios["value"] <= 1).all()
    assert (records["status"] == "done").all()


def test_sketch_of_the_bounds_is_that_of_the_fit():
    model = marukatat2016.EmpiricalMapKPCA(3, gamma=1.0, sketch_size=20, random_state=7)
    X = np.random.default_rng(1).standard_normal((50, 2))
    model.fit(X)
    kernel = marukatat2016.make_kernel("rbf", gamma=1.0, n_features=2).anchored(X)
    gram = marukatat2016.gram_matrix(kernel, X, center=True)
    sketched = gram @ sketch_matrix("gaussian", 20, 50, model._generator()).T
    np.testing.assert_allclose(np.linalg.svd(sketched)[1][:3], model.eigenvalues_, rtol=1e-9)


def test_records_hold_what_the_statements_ask_for(results):
    rows = with_parameters(results["kernel"])
    sketched = rows[rows["method"] == "empirical_map"]
    assert set(sketched["sketch"]) == {"gaussian", "count"}
    wanted = {"eigenvalue_error", "subspace_distance", "runtime", "peak_memory", "eigenvalue_bound_ratio"}
    assert wanted <= set(sketched["metric"])
    assert {"full", "nystrom", "subset"} <= set(rows["method"])
    largest = rows[(rows["metric"] == "eigenvalue_error") & (rows["m"] == rows["m"].max())]
    assert (largest.groupby("method")["value"].mean() < 0.5).all()


def test_at_most_so_many_rows_are_drawn_the_same_ones_in_every_trial():
    wanted = ["+experiment=marukatat2016/kernel", "profile=smoke", "parameters.max_samples=40", "n_trials=2"]
    first, second = (
        marukatat2016.chosen_rows(job)[1] for job in marukatat2016.jobs(compose_many([wanted])[0])
    )
    assert first.shape == (40, 2)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("item", ITEMS)
def test_figures(item, results):
    make = {
        "kernel": marukatat2016_figures.kernel_figures,
        "covariance": marukatat2016_figures.covariance_figures,
    }
    figures = make[item](results[item], {})
    assert len(figures) == {"kernel": 7, "covariance": 5}[item]
    assert all(isinstance(figure, Figure) and name.startswith(item) for name, figure in figures.items())
