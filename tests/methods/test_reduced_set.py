import numpy as np
import pytest

from kpca_lab.kernels import make_kernel
from kpca_lab.methods.incremental import State
from kpca_lab.methods.reduced_set import _Pursuit
from kpca_lab.preimage import preimage


@pytest.mark.parametrize("d", [2, 10])
def test_searches_with_kept_products_are_the_searches_of_preimage(d, rng):
    X = rng.standard_normal((60, d))
    kernel = make_kernel("rbf", gamma=0.5 / d, n_features=d).anchored(X)
    state = State.empty(kernel, d).updated(X, 4)
    pursuit = _Pursuit(kernel, state.points, state.gram, state.basis, 20)
    for step in range(12):
        vector = step % 4
        _, start = pursuit.best_given_point([vector])
        found = pursuit.preimage(vector, start, 1e-3, 10)
        expected = preimage(
            kernel,
            pursuit.what_is_left(vector),
            start=start,
            up_to_scale=True,
            tol=1e-3,
            max_iter=10,
            n_restarts=0,
        )
        np.testing.assert_allclose(found, expected, atol=1e-10)
        direction = pursuit.new_direction(found)
        gram = pursuit.gram
        assert direction @ gram @ direction == pytest.approx(1.0)
        spanned = pursuit.spanned[:, : pursuit.n_found]
        np.testing.assert_allclose(spanned.T @ gram @ direction, 0, atol=1e-9)
        pursuit.add(direction)
