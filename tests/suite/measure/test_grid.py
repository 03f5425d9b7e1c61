"""Every method on every data set, by plain composition with tiny sizes."""

from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from kpca_lab.datasets import DatasetUnavailableError
from kpca_lab.suite.config.composing import compose_settings
from kpca_lab.suite.engine.plan import make_plan
from kpca_lab.suite.measure.evaluate import evaluate

CONF = Path(__file__).resolve().parents[3] / "conf"
OF_THE_USER = ("csv", "npy", "npz", "parquet")
METHODS = sorted(path.stem for path in (CONF / "method").glob("*.yaml"))
DATASETS = sorted(
    path.relative_to(CONF / "dataset").with_suffix("").as_posix()
    for path in (CONF / "dataset").rglob("*.yaml")
    if path.stem not in OF_THE_USER
)


# Sixty samples can be too few for the elastic net.
@pytest.mark.filterwarnings("ignore:No coefficient is left")
@pytest.mark.parametrize("dataset", DATASETS)
def test_every_method_runs_on_every_data_set(dataset):
    settings = compose_settings(
        [
            f"dataset={dataset}",
            f"method=[{','.join(METHODS)}]",
            "selector=random",
            "n_train=60",
            "n_basis=12",
            "n_components=2",
            "metric=[empirical_error,distance]",
        ]
    )
    (job,) = make_plan(settings).jobs.values()
    try:
        with threadpool_limits(1):  # for matrices this small more threads only get in each other's way
            rows = evaluate(job).rows
    except DatasetUnavailableError:
        pytest.skip(f"the data of {dataset} cannot be had here")
    assert [row["error"] for row in rows if row["status"] != "done"] == []
    errors = {row["method"]: row["value"] for row in rows if row["metric"] == "empirical_error"}
    assert sorted(errors) == METHODS
    assert np.isfinite(list(errors.values())).all() and min(errors.values()) >= 0
    # None of the approximations in the feature space of full kernel PCA has a smaller error.
    others = [errors[name] for name in METHODS if name not in ("pca", "apca")]
    assert min(others) >= errors["full"] * (1 - 1e-6)


def test_rows_name_the_kernel_that_was_used_and_no_ratio_of_rounding():
    settings = compose_settings(
        [
            "dataset=artificial2d",
            "method=[full,apca,pca]",
            "n_train=60",
            "n_components=2",
            "metric=[normalized_empirical_error]",
        ]
    )
    (job,) = make_plan(settings).jobs.values()
    rows = {row["method"]: row for row in evaluate(job).rows}
    assert rows["full"]["kernel"].startswith("rbf(") and rows["full"]["value"] == 1.0
    assert [rows[name]["kernel"] for name in ("apca", "pca")] == ["linear", "linear"]
    assert [rows[name]["value"] for name in ("apca", "pca")] == [1.0, 1.0]  # no error is left in the plane
