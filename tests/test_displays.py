import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from kpca_lab import FullKPCA, RandomFeatureKPCA, SubsetKPCA
from kpca_lab.displays import ComponentsDisplay, ExplainedVarianceDisplay, GapDisplay


@pytest.fixture(autouse=True)
def without_screen():
    with mpl.rc_context({"backend": "agg", "figure.max_open_warning": 0}):
        yield
        mpl.pyplot.close("all")


@pytest.fixture
def model(parabola):
    return SubsetKPCA(4, gamma=0.1, n_basis=40, random_state=0).fit(parabola)


def test_components_are_those_of_transform(model, parabola):
    display = ComponentsDisplay.from_estimator(model, parabola, components=(2, 0), s=3)
    (points,) = display.ax_.collections
    np.testing.assert_allclose(points.get_offsets(), model.transform(parabola)[:, [2, 0]])
    assert points.get_sizes().tolist() == [3]
    assert display.ax_.get_xlabel().startswith("component 3") and display.figure_ is display.ax_.figure


def test_labels_have_a_legend_and_numbers_a_scale(model, parabola):
    display = ComponentsDisplay.from_estimator(model, parabola, np.arange(300) % 3)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["0", "1", "2"]
    assert sum(len(points.get_offsets()) for points in display.ax_.collections) == 300
    display = ComponentsDisplay.from_estimator(model, parabola, parabola[:, 0])
    assert display.ax_.get_legend() is None and len(display.figure_.axes) == 2


def test_shares_of_the_variance_are_those_of_the_estimator(parabola):
    for model in (FullKPCA(5, gamma=0.1), RandomFeatureKPCA(60, gamma=0.1, random_state=0)):
        ratio = model.fit(parabola).explained_variance_ratio_
        display = ExplainedVarianceDisplay.from_estimator(model, color="k")
        assert [bar.get_height() for bar in display.ax_.patches] == ratio.tolist()
        np.testing.assert_allclose(display.ax_.lines[0].get_ydata(), np.cumsum(ratio))


def test_displays_go_on_given_axes(model, parabola):
    _, axes = mpl.pyplot.subplots(1, 3)
    shown = [
        ComponentsDisplay.from_estimator(model, parabola, ax=axes[0]),
        ExplainedVarianceDisplay([0.5, 0.2]).plot(axes[1]),
        GapDisplay([10, 20], [0.3, 0.2], [0.0, 0.1]).plot(axes[2]),
    ]
    assert [display.ax_ for display in shown] == list(axes)


def test_full_kernel_pca_lies_between_floor_and_error(parabola):
    estimator = SubsetKPCA(3, gamma=0.1, random_state=0)
    display = GapDisplay.from_estimator(estimator, parabola, n_basis=[40, 10, 20])
    assert display.n_basis.tolist() == [10, 20, 40]
    full = FullKPCA(gamma=0.1).fit(parabola).eigenvalues_[3:].sum() / 300
    assert display.error_floor.max() <= full * (1 + 1e-9) <= display.error.min() * (1 + 2e-9)
    assert (display.gap >= display.error / full - 1 - 1e-9).all()
    band = display.ax_.patches[0].get_extents().transformed(display.ax_.transData.inverted())
    np.testing.assert_allclose([band.y0, band.y1], [display.error_floor.max(), display.error.min()])
    assert not hasattr(estimator, "basis_")


def test_the_error_of_full_kernel_pca_is_seen_where_it_is_certain(monkeypatch):
    for name in ("figure.facecolor", "axes.facecolor"):  # packages beside this one set their own
        monkeypatch.setitem(mpl.rcParams, name, "white")
    display = GapDisplay([10, 20], [0.3, 0.2], [0.1, 0.2]).plot()
    (band,) = display.ax_.patches
    green = np.array(mpl.colors.to_rgb(band.get_facecolor()))
    display.ax_.get_legend().remove()
    display.figure_.canvas.draw()
    pixels = np.asarray(display.figure_.canvas.buffer_rgba())[..., :3] / 255.0
    assert (np.abs(pixels - (0.3 * green + 0.7)) < 0.02).all(axis=-1).sum() > 100


def test_a_floor_of_zero_tells_nothing():
    display = GapDisplay([10, 20], [0.3, 0.2], [0.0, 0.0]).plot()
    assert np.isinf(display.gap).all() and display.ax_.get_yscale() == "linear"


def test_what_cannot_be_shown_is_refused(model, parabola):
    with pytest.raises(NotFittedError):
        ComponentsDisplay.from_estimator(FullKPCA(2), parabola)
    with pytest.raises(NotFittedError):
        ExplainedVarianceDisplay.from_estimator(FullKPCA(2))
    with pytest.raises(ValueError, match=r"components=\(0, 4\) must be two of the 4"):
        ComponentsDisplay.from_estimator(model, parabola, components=(0, 4))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ComponentsDisplay.from_estimator(model, parabola, [0, 1])
    with pytest.raises(ValueError, match="FullKPCA does not tell its error_floor_"):
        GapDisplay.from_fitted([FullKPCA(2).fit(parabola)])


def test_matplotlib_is_imported_when_something_is_plotted():
    code = "import sys, kpca_lab.displays; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
