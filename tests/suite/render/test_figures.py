"""The style of the figures, the kinds of figures, and writing those of a profile."""

import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from kpca_lab.suite.places import conf_folder
from kpca_lab.suite.render import figures, labels, plots, style
from kpca_lab.suite.render.plots import prepare

# How the three kinds of colour blindness see linear RGB (Machado, Oliveira and Fernandes 2009, severity 1).
VISION = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039],
    ],
}  # fmt: skip


def lab(color, vision):
    """CIE L*a*b* of a colour as somebody sees it."""
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(VISION[vision]) @ linear, 0, 1)
    to_xyz = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.072175],
        [0.0193339, 0.119192, 0.9503041],
    ]
    x, y, z = np.array(to_xyz) @ linear / [0.95047, 1, 1.08883]
    f = [np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def record(**columns):
    return {
        "experiment": "p/figure1", "dataset": "concrete", "split": 0, "seed": 0, "method": "subset",
        "selector": "random", "m": 10, "r": 3, "kernel": "", "parameters": "{}", "metric": "distance_squared",
        "value": 1.0, "seconds": 0.5, "status": "done", "error": "", "job": "a",
    } | columns  # fmt: skip


@pytest.fixture
def records():
    """Two data sets, two methods with two selectors, three basis sizes, three splits; and full KPCA."""
    rows = []
    for dataset, split, (place, m) in itertools.product(
        ["concrete", "housing"], range(3), enumerate([10, 20, 40])
    ):
        for method, selector in itertools.product(["reduced", "subset"], ["kmeans", "random"]):
            settings = {"basis": m / 40}
            for metric, value in (
                ("distance_squared", 1 / m + split / 100),
                ("runtime", 1e-3 * m + split / 1e4),
            ):
                rows.append(
                    record(
                        dataset=dataset, split=split, method=method, selector=selector, m=m, metric=metric,
                        value=value, parameters=json.dumps(settings), seconds=place + 1.0,
                    )
                )  # fmt: skip
        rows.append(
            record(
                dataset=dataset, split=split, method="full", selector="", m=None, metric="runtime", value=0.07
            )
        )
    return pd.DataFrame(rows).astype({"m": "Int64"})


def legend_of(fig):
    return [text.get_text() for text in fig.legends[0].get_texts()]


def test_every_method_has_a_style_of_its_own():
    names = "full reduced subset improved tipping nystrom cholesky hebbian apca akpca incremental elastic_net"
    assert set(style.METHODS) == {*names.split(), "empirical_map", "pca"}
    for part in ("label", "color", "marker"):
        assert len({getattr(look, part) for look in style.METHODS.values()}) == len(style.METHODS)


@pytest.mark.parametrize("vision", VISION)
def test_colours_can_be_told_apart(vision):
    seen = {name: lab(look.color, vision) for name, look in style.METHODS.items()}
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen.values(), 2)) > 16


def test_plain_colours_are_none_of_a_method():
    taken = {look.color for look in style.METHODS.values()}
    assert all(style.plain_line(place)["color"] not in taken for place in range(6))


@pytest.mark.parametrize(
    "name, label",
    [
        ("subset", "SubKp"), ("SubsetKPCA", "SubKp"), ("full", "FKp"), ("FullKPCA", "FKp"),
        ("reduced", "RKp"),
        ("improved", "IKp"), ("tipping", "SpKp"), ("nystrom", "Nys"), ("cholesky", "ICD"), ("icd", "ICD"),
        ("hebbian", "KHA-SMD"), ("akpca", "AKPCA"), ("AKPCA", "AKPCA"), ("ElasticNetKPCA", "SKPCA"),
        ("EmpiricalMapKPCA", "EKM"), ("pca", "PCA"), ("clafic", "CLAFIC"), ("mine", "mine"),
    ],
)  # fmt: skip
def test_labels_are_the_papers_abbreviations(name, label):
    assert labels.method_label(name) == label


def test_selectors_vary_line_and_filling_and_keep_the_colour():
    looks = [style.line("subset", selector) for selector in style.SELECTORS]
    assert {(look["color"], look["marker"]) for look in looks} == {(style.METHODS["subset"].color, "o")}
    assert len({(str(look["linestyle"]), look["fillstyle"]) for look in looks}) == len(looks)
    assert labels.method_label("subset", "kmeans") == "SubKp (Clus)"


def test_a_method_that_is_not_of_the_project_keeps_its_style():
    assert style.line("mine") == style.line("mine")
    assert style.line("mine")["color"] not in {look.color for look in style.METHODS.values()}


def test_peers_are_told_apart():
    names = [path.stem for path in (conf_folder() / "method").glob("*.yaml")]
    peers = [name for name in names if name not in style.METHODS]
    assert len({style.method_style(name).color for name in peers}) == len(peers) == 4


def test_saved_files_are_the_same_bytes_each_time(tmp_path):
    for number in "12":
        fig = plots.lines({"subset": [1, 2, 3]}, xlabel="Step", ylabel="Error")
        written = figures.save(fig, tmp_path / number / "figure1.a")
        assert [path.name for path in written] == ["figure1.a.png", "figure1.a.pdf"]
    for suffix in ("png", "pdf"):
        assert (tmp_path / f"1/figure1.a.{suffix}").read_bytes() == (
            tmp_path / f"2/figure1.a.{suffix}"
        ).read_bytes()
    pdf = (tmp_path / "1/figure1.a.pdf").read_bytes()
    assert b"CreationDate" not in pdf and b"/FontFile2" in pdf
    assert sorted(path.name for path in (tmp_path / "1").iterdir()) == ["figure1.a.pdf", "figure1.a.png"]


def test_png_has_200_dots_per_inch(tmp_path):
    from PIL import Image

    figures.save(plots.lines({"subset": [1, 2]}, xlabel="x", ylabel="y"), tmp_path / "a")
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.width == round(200 * style.COLUMN_WIDTH)


def test_curves_are_means_with_bands_of_one_sd(records):
    fig = plots.curves(records, "distance_squared", x="basis")
    assert [ax.get_title() for ax in fig.axes] == ["(a) Concrete", "(b) Housing"]
    assert legend_of(fig) == ["SubKp (Rand)", "SubKp (Clus)", "RKp (Rand)", "RKp (Clus)"]
    line = fig.axes[0].lines[0]
    np.testing.assert_allclose(line.get_xdata(), [0.25, 0.5, 1])
    np.testing.assert_allclose(line.get_ydata(), [1 / 10 + 0.01, 1 / 20 + 0.01, 1 / 40 + 0.01])
    corners = fig.axes[0].collections[0].get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx(0.12)


def test_rows_of_panels_for_several_metrics(records):
    fig = plots.curves(records, ["distance_squared", "runtime"], log={"runtime": "y"}, reference="full")
    assert len(fig.axes) == 4
    assert [ax.get_yscale() for ax in fig.axes] == ["linear", "linear", "log", "log"]
    assert [bool(ax.get_xlabel()) for ax in fig.axes] == [False, False, True, True]
    assert [bool(ax.get_ylabel()) for ax in fig.axes] == [True, False, True, False]


def test_full_kpca_is_a_line_across(records):
    fig = plots.time_over_basis(records)
    line = fig.axes[0].lines[0]
    assert line.get_label() == "FKp"
    np.testing.assert_allclose(line.get_ydata(), 0.07)
    fig = plots.tradeoff(records, "runtime", "distance_squared", vertical="full")
    np.testing.assert_allclose(fig.axes[0].lines[0].get_xdata(), 0.07)


def test_tradeoff_joins_two_metrics_or_the_seconds(records):
    fig = plots.tradeoff(records, "runtime", "distance_squared", log="")
    line = fig.axes[0].lines[0]
    np.testing.assert_allclose(line.get_xdata(), [0.0101, 0.0201, 0.0401])
    np.testing.assert_allclose(line.get_ydata(), [0.11, 0.06, 0.035])
    fig = plots.tradeoff(records, "seconds", "distance_squared", panels=None, annotate=True)
    np.testing.assert_allclose(fig.axes[0].lines[0].get_xdata(), [1, 2, 3])


def test_methods_without_the_setting_are_single_points(records):
    extra = [
        record(method="hebbian", selector="", m=None, metric=name) for name in ("runtime", "distance_squared")
    ]
    fig = plots.tradeoff(
        pd.concat([records, pd.DataFrame(extra)]), "runtime", "distance_squared", annotate=True
    )
    assert "KHA-SMD" in legend_of(fig)


def test_failed_rows_and_rows_without_a_value_are_left_out(records):
    bad = [record(status="failed", value=99.0), record(value=np.nan), record(value=np.inf)]
    everything = pd.concat([records, pd.DataFrame(bad)], ignore_index=True)
    pd.testing.assert_frame_equal(
        prepare.summary(everything, "distance_squared", "m", ["method", "selector"]),
        prepare.summary(records, "distance_squared", "m", ["method", "selector"]),
    )


def test_an_unknown_setting_is_named(records):
    with pytest.raises(KeyError, match="no column or parameter 'nonsense'"):
        plots.curves(records, "distance_squared", x="nonsense")


def test_basis_share_from_m(records):
    rows = prepare.summary(records, "distance_squared", "basis_share", ["dataset"])
    assert sorted(rows["basis_share"].unique()) == [0.25, 0.5, 1.0]


def test_bands_on_a_logarithmic_axis_stay_above_zero():
    rows = pd.DataFrame([record(m=m, split=s, value=v) for m in (10, 20) for s, v in enumerate([1e-6, 1.0])])
    fig = plots.curves(rows, "distance_squared", log="y")
    assert fig.axes[0].collections[0].get_paths()[0].vertices[:, 1].min() > 0


def test_zero_is_left_out_of_logarithmic_axes(records):
    records.loc[records["m"] == 40, "value"] = 0.0
    assert len(plots.curves(records, "distance_squared", log="y").axes[0].lines[0].get_xdata()) == 2
    fig = plots.tradeoff(records, "seconds", "distance_squared", log="xy")
    assert len(fig.axes[0].lines[0].get_xdata()) == 2


def test_growth_prints_the_fitted_exponent():
    rows = pd.DataFrame(
        record(metric="runtime", method=name, selector="", parameters=json.dumps({"n": n}), value=n**power)
        for name, power in (("full", 3), ("incremental", 1))
        for n in (100, 200, 400)
    )
    fig = plots.growth(rows)
    labels = [text.get_text() for text in fig.axes[0].get_legend().get_texts()]
    assert labels == [r"FKp: $\propto n^{3.00}$", r"IncKPCA: $\propto n^{1.00}$"]
    assert np.isnan(plots.fitted_exponent([3, 3], [1, 2]))


def test_bounds_are_drawn_beside_the_error():
    rows = [
        record(metric=metric, parameters=json.dumps({"q": q}), value=1 / q, method=method)
        for q in (10, 100)
        for metric, method in (("eigenvalue_error", "empirical_map"), ("bound", ""))
    ]
    fig = plots.sketch_error(pd.DataFrame(rows), "eigenvalue_error", bounds={"bound": "Bound (3)"})
    assert legend_of(fig) == ["EKM (Rand)", "Bound (3)"]
    assert fig.axes[0].get_xscale() == fig.axes[0].get_yscale() == "log"


def panel(**options):
    x, y = np.linspace(-1, 1, 12), np.linspace(-1, 2, 10)
    return plots.ContourPanel(x, y, np.add.outer(y**2, x), **options)


def test_contours_print_the_measures():
    points = np.random.default_rng(0).normal(size=(20, 2))
    shown = panel(
        title="SubKp",
        points=points,
        highlight=[0, 3],
        measures={"empirical_error": 0.20634, "distance": 1.5e-6},
    )
    fig = plots.contours([shown, panel(title="RKp")])
    title = fig.axes[0].get_title()
    assert title.startswith("(a) SubKp\n")
    assert "= 0.2063" in title and r"$1.50\times10^{-6}$" in title
    np.testing.assert_array_equal(shown.highlighted(), points[[0, 3]])
    assert legend_of(fig) == ["samples", "basis samples"]
    assert not plots.contours([panel()]).legends  # nothing is marked
    assert plots.contours([panel()], shared_levels=True).axes[1:]  # the colour bar


def test_a_constant_has_no_contours_and_no_error():
    flat = panel()
    flat.values = np.ones_like(flat.values)
    assert isinstance(plots.contours([flat], shared_levels=True), Figure)


def test_component_panels_count_the_non_zero_coefficients():
    coefficients = np.array([[0, 1.0, 0, -2.0], [0, 0, 0, 1e-12]])
    grids = np.zeros((2, 5, 6))
    panels = plots.component_panels(
        range(6),
        range(5),
        grids,
        method="elastic_net",
        points=np.eye(4, 2),
        coefficients=coefficients,
        zero=1e-9,
    )
    assert [found.title for found in panels] == ["SKPCA 1 (2 of 4 non-zero)", "SKPCA 2 (0 of 4 non-zero)"]
    assert panels[0].highlighted().shape == (2, 2)


def test_image_grid_shows_groups_on_one_scale():
    images = np.random.default_rng(0).random((7, 4, 5))
    fig = plots.image_grid({"Original": images, "Noisy": 3 * images}, per_row=3)
    shown = [ax.images[0] for ax in fig.axes]
    assert shown[0].get_clim() == shown[1].get_clim() == (images.min(), images.max())
    mosaic = shown[0].get_array()
    assert mosaic.shape == (3 * 5 - 1, 3 * 6 - 1)
    np.testing.assert_array_equal(mosaic[5:9, 6:11], images[4])
    assert mosaic[4].mask.all()


def test_projection_components_turn_signs_and_print_correlations():
    rng = np.random.default_rng(0)
    first = rng.normal(size=(60, 3))
    second = first * [1, -1, 1]
    second[:, 2] += rng.normal(size=60)
    turned, correlation = plots.aligned_correlations(first, second)
    np.testing.assert_allclose(turned[:, 1], first[:, 1])
    np.testing.assert_allclose(
        correlation, np.abs([np.corrcoef(a, b)[0, 1] for a, b in zip(first.T, second.T)])
    )
    fig = plots.projection_components(first, second)
    texts = [text.get_text() for ax in fig.axes for text in ax.texts]
    assert len(texts) == 3 and f"corr. {correlation[2]:.4f}" in texts


def test_coefficient_stems_count_the_non_zero_ones():
    values = np.zeros((2, 30))
    values[0, [3, 7]] = 1, -1
    fig = plots.coefficient_stems({"full": np.ones((2, 30)), "elastic_net": values})
    texts = [text.get_text() for ax in fig.axes for text in ax.texts]
    assert texts.count("30 of 30 non-zero") == 2 and {"2 of 30 non-zero", "0 of 30 non-zero"} <= set(texts)


def test_stems_on_one_scale_are_all_inside():
    small, large = 0.1 * np.ones((1, 5)), np.ones((1, 5))
    first, second = plots.coefficient_stems({"full": small, "elastic_net": large}, share_y=True).axes
    assert first.get_ylim() == second.get_ylim() and first.get_ylim()[1] > 1


def test_spectrum_is_sorted_and_relative():
    fig = plots.spectrum({"full": [1.0, 4.0, 2.0, 0.0], "Teapots": [3.0, 1.0]})
    np.testing.assert_allclose(fig.axes[0].lines[0].get_ydata(), [1, 0.5, 0.25])
    assert legend_of(fig) == ["FKp", "Teapots"]


def test_lines_drift_and_scatter():
    fig = plots.drift({("subset", "kmeans"): ([1, 10], [2.0, 3.0])}, bounds={"Limit": ([1, 10], [4, 4])})
    assert legend_of(fig) == ["SubKp (Clus)", "Limit"]
    fig = plots.lines({"a": {"x": [1, 2]}, "b": {"y": [1, 2]}}, xlabel="Step", ylabel={"a": "A", "b": "B"})
    assert [ax.get_ylabel() for ax in fig.axes] == ["A", "B"]
    series = {"a": {"x": [1, 2]}, "b": {"y": [1, 2, 3, 4]}}
    fig = plots.lines(series, xlabel="Step", ylabel="", levels={"b": 3})
    assert fig.axes[0].get_xlim() == fig.axes[1].get_xlim()
    assert [len(ax.lines) for ax in fig.axes] == [1, 2] and fig.axes[1].lines[1].get_ydata()[0] == 3
    points = np.random.default_rng(0).normal(size=(20, 3))
    assert plots.scatter(points, order=points[:, 0]).axes[0].name == "3d"
    fig = plots.scatter(points[:, :2], groups=np.arange(20) % 2)
    assert [text.get_text() for text in fig.axes[0].get_legend().get_texts()] == ["0", "1"]


@pytest.fixture
def profile(tmp_path, records):
    path = tmp_path / "smoke" / "records" / "p" / "figure1.csv.gz"
    path.parent.mkdir(parents=True)
    records.to_csv(path, index=False)
    arrays = tmp_path / "smoke" / "arrays" / "p" / "figure1"
    arrays.mkdir(parents=True)
    np.savez(arrays / "a.npz", coefficients=np.eye(3))
    return tmp_path / "smoke"


def test_writes_all_figures_in_spite_of_one_that_fails(profile, records, capsys):
    def draw(rows, arrays):
        assert len(rows) == len(records)
        return {"figure1_stems": plots.coefficient_stems({"full": arrays["a"]["coefficients"]})}

    def fail(rows, arrays):
        raise ValueError("no such thing")

    records.to_csv(profile / "records" / "p" / "figure0.csv.gz", index=False)
    records.to_csv(profile / "records" / "p" / "figure4.csv.gz", index=False)
    makers = {"p/figure1": draw, "p/figure0": fail, "p/figure2": draw, "p/figure4": lambda rows, arrays: None}
    done = figures.write_figures(profile, makers=makers)
    assert [path.name for path in done.written] == ["figure1_stems.png", "figure1_stems.pdf"]
    assert all(path.parent == profile / "figures" / "p" and path.is_file() for path in done.written)
    assert done.skipped == {"p/figure2": "no records: run the experiment first"}
    assert done.failed["p/figure0"] == "ValueError: no such thing"
    assert re.match("TypeError: The function of p/figure4 gave NoneType", done.failed["p/figure4"])
    assert "no such thing" in capsys.readouterr().err


def test_draws_only_what_is_asked_for(profile):
    makers = dict.fromkeys(
        ["p/figure1", "q/figure1"],
        lambda rows, arrays: plots.lines({"full": [1, 2]}, xlabel="x", ylabel="y"),
    )
    assert [path.stem for path in figures.write_figures(profile, "p", makers=makers).written] == [
        "figure1"
    ] * 2
    assert figures.write_figures(profile, ["q/figure1"], makers=makers).written == []
    with pytest.raises(ValueError, match=r"unknown figure 'r'"):
        figures.write_figures(profile, ["p", "r"], makers=makers)


@pytest.mark.parametrize("width", [style.COLUMN_WIDTH, style.TEXT_WIDTH])
@pytest.mark.parametrize("words", [1, 12, 60])
def test_notes_are_wrapped_and_within_the_figure(width, words):
    with style.context():
        figure = style.new_figure(width, 2.0)
        axes = figure.subplots()
        axes.set_title("(a) Concrete")
        style.with_note(figure, " ".join(["errors (far)"] * words))
        figure.draw_without_rendering()
        note = figure._suptitle.get_window_extent()
        assert figure.bbox.x0 <= note.x0 and note.x1 <= figure.bbox.x1 and note.y1 <= figure.bbox.y1
        assert note.y0 >= axes.title.get_window_extent().y1
        assert axes.get_window_extent().height > 0.9 * figure.dpi
