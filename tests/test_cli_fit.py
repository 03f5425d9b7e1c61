"""kpca-lab fit: a file in, components out, the same as in memory."""

import numpy as np
import pytest

from kpca_lab import SubsetKPCA
from kpca_lab.cli.main import main
from kpca_lab.datasets import open_rows, scale
from kpca_lab.datasets.large_files import standardized
from kpca_lab.operator import FeatureOperator


@pytest.fixture
def table(tmp_path, rng):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rng.standard_normal((300, 4)) * [1, 10, 100, 1], columns=["a", "b", "c", "kind"])
    frame["d"] = 5.0
    path = tmp_path / "mine.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",")
    return path, frame[["a", "b", "c", "d"]].to_numpy()


def test_scores_and_model_are_those_of_the_array(table, tmp_path, capsys):
    path, X = table
    expected = SubsetKPCA(3, gamma="scale", n_basis=40, random_state=1).fit(X)
    scores, model = tmp_path / "scores.npy", tmp_path / "model.npz"
    options = ["--components", "3", "--basis", "40", "--seed", "1", "--target", "kind", "--quiet"]
    assert main(["fit", str(path), *options, "--scores", str(scores), "--model", str(model)]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("300 rows x 4 columns, gamma = ")
    assert told.out.count("component ") == 3 and told.err == ""
    np.testing.assert_allclose(np.load(scores), expected.transform(X), atol=1e-10)
    np.testing.assert_allclose(FeatureOperator.load(model).transform(X), expected.transform(X), atol=1e-10)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mine.csv", "model.npz", "scores.npy"]


def test_columns_are_standardized_as_in_memory(table, tmp_path, capsys):
    path, X = table
    source = standardized(open_rows(path, target=-2))
    (expected,) = scale(X, scaling="standard")
    np.testing.assert_allclose(np.vstack(list(source.blocks(max_bytes=500))), expected, atol=1e-12)
    np.testing.assert_allclose(source.take([200, 3]), expected[[200, 3]], atol=1e-12)
    scores = tmp_path / "scores.npy"
    arguments = ["--columns", "c,0", "--scaling", "standard", "--basis", "9999", "--components", "2"]
    assert main(["fit", str(path), *arguments, "--scores", str(scores)]) == 0
    assert "standardize" in capsys.readouterr().err
    whole = SubsetKPCA(2, gamma="scale", n_basis=300, random_state=0).fit(expected[:, [2, 0]])
    np.testing.assert_allclose(np.load(scores), whole.transform(expected[:, [2, 0]]), atol=1e-8)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nothing.csv"], "error: no file"),
        (["mine.csv", "--target", "width"], "has no column 'width'; it has a, b, c, kind, d"),
        (["mine.csv", "--gamma", "wide"], "gamma='wide' is unknown"),
        (["mine.csv", "--model", "m.npz", "--scaling", "standard"], "give --model or --scaling"),
        (["mine.csv", "--components", "0"], "n_components must be an integer >= 1"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(table, monkeypatch, capsys, arguments, told):
    monkeypatch.chdir(table[0].parent)
    assert main(["fit", *arguments]) == 2
    error = capsys.readouterr().err
    assert told in error and len(error.splitlines()) == 1
