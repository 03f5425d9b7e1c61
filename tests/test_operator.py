import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kpca_lab.kernels import make_kernel
from kpca_lab.operator import Expansion, FeatureOperator


@pytest.fixture(params=[False, True], ids=["uncentred", "centred"])
def operator(request, rng):
    """An operator with different left and right vectors, over a kernel whose feature space is known."""
    points = rng.standard_normal((6, 3)) + 2
    kernel = make_kernel("linear", n_features=3).anchored(points)
    mean = None
    if request.param:
        mean = Expansion.over(rng.standard_normal((4, 3)), rng.random((4, 1)))
    return FeatureOperator(
        kernel,
        Expansion.over(points, rng.standard_normal((6, 2))),
        Expansion.over(points, rng.standard_normal((6, 2))),
        mean,
    )


def as_matrices(operator):
    """Left and right vectors and the mean as columns: for the linear kernel phi(x) = x."""
    left = operator.points.T @ operator.left.coefficients
    right = operator.points.T @ operator.right.coefficients
    mean = np.zeros(3) if operator.mean is None else operator.mean.points.T @ operator.mean.coefficients[:, 0]
    return left, right, mean


def test_all_quantities_against_explicit_feature_vectors(operator, rng):
    Z = rng.standard_normal((5, 3))
    left, right, mean = as_matrices(operator)
    centred = Z - mean
    image = centred @ right @ left.T
    np.testing.assert_allclose(operator.transform(Z), centred @ right)
    np.testing.assert_allclose(operator.projection_norm(Z), np.linalg.norm(image, axis=1))
    np.testing.assert_allclose(operator.residual(Z), np.sum((centred - image) ** 2, axis=1))
    np.testing.assert_allclose(operator.centred_square_norm(Z), np.sum(centred**2, axis=1))
    np.testing.assert_allclose(operator.left_gram, left.T @ left)
    vectors = operator.synthesize(operator.transform(Z))
    np.testing.assert_allclose(vectors.points.T @ vectors.coefficients, (image + mean).T)
    np.testing.assert_allclose(vectors.totals, vectors.coefficients.sum(axis=0))


def test_truncation_takes_the_first_components(operator, rng):
    Z = rng.standard_normal((5, 3))
    np.testing.assert_allclose(operator.truncate(1).transform(Z), operator.transform(Z)[:, :1])
    np.testing.assert_allclose(operator.truncate(0).residual(Z), operator.centred_square_norm(Z))
    with pytest.raises(ValueError, match="between 0 and the operator's rank 2, got 3"):
        operator.truncate(3)


def test_saved_operator_is_the_same(operator, rng, tmp_path):
    Z = rng.standard_normal((5, 3))
    operator.save(tmp_path / "operator.npz")
    again = FeatureOperator.load(tmp_path / "operator.npz")
    np.testing.assert_array_equal(again.transform(Z), operator.transform(Z))
    np.testing.assert_array_equal(again.residual(Z), operator.residual(Z))
    assert [path.name for path in tmp_path.iterdir()] == ["operator.npz"]


def test_failed_save_leaves_the_old_file(operator, tmp_path, monkeypatch):
    path = tmp_path / "operator.npz"
    operator.save(path)
    before = path.read_bytes()

    def full_disk(file, **arrays):
        file.write(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(OSError, match="No space left"):
        operator.save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_files_of_another_kind_are_refused(operator, tmp_path, monkeypatch):
    np.savez(tmp_path / "other.npz", a=np.ones(2))
    with pytest.raises(ValueError, match="holds no kpca_lab operator"):
        FeatureOperator.load(tmp_path / "other.npz")
    np.savez(tmp_path / "pickled.npz", header=np.array([object()], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        FeatureOperator.load(tmp_path / "pickled.npz")
    monkeypatch.setattr("kpca_lab.operator.FORMAT_VERSION", 2)
    operator.save(tmp_path / "newer.npz")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="has format 2"):
        FeatureOperator.load(tmp_path / "newer.npz")


def test_operator_with_a_callable_kernel_cannot_be_saved(tmp_path):
    kernel = make_kernel(lambda x, y: x @ y, n_features=2)
    operator = FeatureOperator(kernel, Expansion.over(np.eye(2), np.eye(2)))
    with pytest.raises(ValueError, match="callable cannot be saved"):
        operator.save(tmp_path / "operator.npz")
    assert not list(tmp_path.iterdir())


def test_many_rows_give_what_single_rows_give(rng):
    """Over blocks, with what is kept from call to call, and from several threads at once."""
    points, Z = rng.standard_normal((40, 3)), rng.standard_normal((5000, 3))
    kernel = make_kernel("rbf", gamma=0.3, n_features=3).anchored(points)
    mean = Expansion.over(points, np.full((40, 1), 1 / 40))
    operator = FeatureOperator(kernel, Expansion.over(points, rng.standard_normal((40, 4))), mean=mean)
    whole, residual = operator.transform(Z), operator.residual(Z)
    rows = [operator.transform(Z[i : i + 1])[0] for i in range(0, 5000, 250)]
    np.testing.assert_allclose(whole[::250], rows, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(residual[:7], operator.residual(Z[:7]), rtol=1e-12)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(operator.transform, [Z] * 8):
            np.testing.assert_array_equal(found, whole)


def test_what_is_kept_between_calls_is_not_pickled(rng):
    points = rng.standard_normal((200, 50))
    kernel = make_kernel("rbf", gamma=0.3, n_features=50).anchored(points)
    operator = FeatureOperator(kernel, Expansion.over(points, rng.standard_normal((200, 2))))
    before = len(pickle.dumps(operator))
    components = operator.transform(points)
    assert len(pickle.dumps(operator)) == before
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(operator)).transform(points), components)
