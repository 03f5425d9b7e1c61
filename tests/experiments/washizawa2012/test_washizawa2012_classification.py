"""Tables 3 to 6: the shared arithmetic equals the estimators, and the cells carry the printed labels."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from experiments.common import shared as _shared
from experiments.washizawa2012 import classification
from experiments.washizawa2012.class_subspaces import count_errors, count_linear_errors, downdated_eigenpairs
from kpca_lab import FullKPCA, ReducedKPCA, SubsetKPCA
from kpca_lab.classify import SubspaceClassifier
from kpca_lab.datasets import DatasetUnavailableError, split
from kpca_lab.suite.config.composing import compose_settings
from kpca_lab.suite.engine.identity import job_id
from kpca_lab.suite.jobs import COLUMNS
from kpca_lab.suite.judge.published import load_published
from kpca_lab.suite.judge.records import with_parameters
from kpca_lab.suite.judge.scoreboard import cells_frame

RANKS = [2, 5, 12, 20]


@pytest.fixture(scope="module")
def classes():
    """Three classes in more dimensions than components: then no residual is lost to rounding."""
    rng = np.random.default_rng(0)
    train = [rng.standard_normal((n, 30)) + shift for n, shift in ((60, 0.0), (45, 0.3), (52, -0.2))]
    labels = rng.integers(3, size=150)
    new = rng.standard_normal((150, 30)) + np.array([0.0, 0.3, -0.2])[labels, None]
    return train, new, labels


class OfClass:
    """A selector that returns the given points of the class whose samples it is shown."""

    def __init__(self, train, bases):
        self.train, self.bases = train, bases

    def select(self, X, n_basis, **_):
        (number,) = [i for i, part in enumerate(self.train) if part.shape == X.shape and (part == X).all()]
        return self.bases[number]


def _errors(estimator, train, new, labels):
    X, y = np.vstack(train), np.repeat(range(len(train)), [len(part) for part in train])
    model = SubspaceClassifier(estimator).fit(X, y)
    return (model.predict_all(new, RANKS) != labels[:, None]).sum(axis=0)


@pytest.mark.parametrize("gamma", [1e-4, 0.01, 0.06])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("basis", ["samples", "centroids", "all"])
def test_counts_equal_those_of_the_estimators(classes, gamma, center, basis):
    train, new, labels = classes
    rng = np.random.default_rng(1)
    bases = [part[rng.permutation(len(part))[:25]] for part in train]
    if basis == "centroids":
        bases = [(points[::2][:12] + points[1::2][:12]) / 2 for points in bases]
    if basis == "all":
        bases = train
    counts = count_errors(
        train,
        new,
        labels,
        [None] * 3 if basis == "all" else bases,
        [gamma],
        RANKS,
        include=basis == "centroids",
    )
    options = {"gamma": gamma, "center": center, "selector": OfClass(train, bases), "n_basis": 1}
    subset = SubsetKPCA(outside_basis="include" if basis == "centroids" else "project", **options)
    assert counts[0, int(center), 0].tolist() == _errors(subset, train, new, labels).tolist()
    assert counts[1, int(center), 0].tolist() == _errors(ReducedKPCA(**options), train, new, labels).tolist()


@pytest.mark.parametrize("center", [False, True])
def test_clafic_is_linear_kernel_pca(classes, center):
    train, new, labels = classes
    found = count_linear_errors(train, new, labels, RANKS)[int(center)]
    assert found.tolist() == _errors(FullKPCA(kernel="linear", center=center), train, new, labels).tolist()


def test_downdated_eigenpairs_of_a_large_problem():
    rng = np.random.default_rng(2)
    values, vector = np.sort(rng.random(400))[::-1] ** 4, rng.random(400) / 50
    eigenvalues, vectors = downdated_eigenpairs(values, vector, 3.0, 60)
    matrix = np.diag(values) - 3.0 * np.outer(vector, vector)
    assert np.allclose(eigenvalues, np.linalg.eigvalsh(matrix)[::-1][:60], atol=1e-14)
    assert np.allclose(matrix @ vectors, vectors * eigenvalues, atol=1e-12)
    assert np.allclose(vectors.T @ vectors, np.eye(60), atol=1e-9)


def test_downdated_eigenpairs_with_equal_values():
    values, vector = np.repeat([2.0, 1.0], 200), np.full(400, 0.01)
    eigenvalues, vectors = downdated_eigenpairs(values, vector, 1.0, 10)
    assert np.allclose(eigenvalues, 2.0)
    assert np.allclose(vectors.T @ vectors, np.eye(10), atol=1e-12)


def _smoke_records(item, tmp_path, monkeypatch, run, make_jobs):
    monkeypatch.setattr("experiments.common.shared.shared_folder", lambda: tmp_path)
    settings = compose_settings([f"+experiment=washizawa2012/{item}", "profile=smoke"])
    rows = []
    for job in make_jobs(settings):
        try:
            rows += [{**entry, "job": "x"} for entry in run(job).rows]
        except DatasetUnavailableError as error:
            pytest.skip(f"needs USPS: {error}")
    return with_parameters(pd.DataFrame(rows, columns=COLUMNS)), asdict(settings)


@pytest.mark.parametrize(
    "item, run, make_jobs",
    [
        ("table4", classification.validate, classification.validation_jobs),
        ("table5", classification.test, classification.test_jobs),
    ],
)
def test_cells_carry_the_printed_labels(item, run, make_jobs, tmp_path, monkeypatch):
    records, settings = _smoke_records(item, tmp_path, monkeypatch, run, make_jobs)
    cells = cells_frame("washizawa2012", classification.cells(records, settings))
    printed = load_published().query("paper == 'washizawa2012' and table == @item")
    assert set(zip(cells.row, cells.column)) == set(zip(printed.row, printed.column))
    assert (cells.trials == 2).all() and cells.ours.between(0, 100).all()
    assert (cells.note.str.contains("K-means") == ((item == "table4") & (cells.column != "100 %"))).all()
    whole = cells[cells.column == "100 %"].set_index("row").ours
    assert whole["SubKp (nc)"] == whole["RKp (nc)"] and whole["SubKp (c)"] == whole["RKp (c)"]
    if item == "table5":
        assert (cells[cells.column == "100 %"].ours_sd == 0).all()
        # how the choice of the parameters scatters is told where nothing else does
        assert (cells.selection_sd.notna() == (cells.column == "100 %")).all()
        chosen = records[records.metric == "selected_error"].groupby(["method", "centered"]).share.sum()
        np.testing.assert_allclose(chosen, 1.0)


def _wanted(table, monkeypatch, *overrides):
    """Jobs of a table of validation errors, and the arguments of the parts that the last one needs."""
    many = []
    monkeypatch.setattr(classification, "shared_all", lambda *given: many.extend(given[-1]))
    item = f"+experiment=washizawa2012/{table}"
    jobs = classification.validation_jobs(compose_settings([item, "profile=smoke", *overrides]))
    classification.Errors(jobs[-1].dataset, jobs[-1].settings["splits"], jobs[-1].settings["grid"])
    return jobs, many


def test_tables_3_and_4_share_the_parts_that_need_no_selector(monkeypatch):
    (_, third), (_, fourth) = (_wanted(table, monkeypatch) for table in ("table3", "table4"))
    whole = [entry for entry in third if entry["share"] == 1]
    assert len(whole) == 2 and whole == [entry for entry in fourth if entry["share"] == 1]
    assert {entry["selector"]["name"] for entry in third if entry["share"] < 1} == {"random"}
    assert {entry["selector"]["name"] for entry in fourth if entry["share"] < 1} == {"kmeans_centroids"}


def test_the_start_of_kmeans_is_part_of_what_identifies_a_job_and_its_parts(monkeypatch):
    jobs, many = _wanted("table4", monkeypatch)
    chosen = jobs[0].settings["grid"]["selector"]
    assert chosen["params"] == {"centroids": True, "init": "random", "n_init": 10}
    assert many[0]["selector"] == chosen
    others, _ = _wanted("table4", monkeypatch, "selectors.kmeans_centroids.params.n_init=1")
    assert job_id(jobs[0]) != job_id(others[0])
    paths = []
    for target in (chosen["target"], "kpca_lab.selectors.RandomSelector"):
        arguments = {**many[0], "selector": {**chosen, "target": target}}
        paths.append(_shared._path(classification.validation_counts, jobs[0].dataset, arguments))
    assert len(set(paths)) == 2


def test_the_paper_profile_is_the_papers_protocol():
    settings = compose_settings(["+experiment=washizawa2012/table3", "profile=paper"])
    jobs = classification.validation_jobs(settings)
    assert len(jobs) == 101 and jobs[-1].settings["splits"] == list(range(1, 101))
    grid = jobs[0].settings["grid"]
    assert np.allclose(grid["log10_gammas"], np.arange(-4, 0.1, 0.2)) and grid["shares"] == [
        0.1,
        0.3,
        0.5,
        1.0,
    ]
    assert grid["ranks"] == list(range(10, 201, 10))
    assert jobs[0].dataset["split"] == {"kind": "random", "held_out": None}  # as many as the protocol says
    assert len(split("usps", 1, n_samples=7291).held_out) == 729
