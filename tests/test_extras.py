"""Without the optional packages: what still works, and what is said of the rest."""

import subprocess
import sys

import pytest

from kpca_lab.extras import require

BARE = """
import sys
HIDDEN = {"filelock", "hydra", "matplotlib", "omegaconf", "pandas", "PIL", "platformdirs", "psutil"}
HIDDEN |= {"pyarrow", "rdata", "requests", "rich", "tqdm", "xarray", "xlrd"}
class Hidden:
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root in HIDDEN:
            raise ModuleNotFoundError(f"No module named {root!r}", name=root)
sys.meta_path.insert(0, Hidden())
"""


def run_bare(code):
    """Run Python code where the optional packages cannot be imported."""
    command = [sys.executable, "-c", BARE + code]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_missing_package_is_one_line_with_the_command():
    with pytest.raises(ModuleNotFoundError) as caught:
        require("no_such_package.part", "data")
    assert str(caught.value) == "the package no_such_package is needed here: pip install 'kpca-lab[data]'"
    assert caught.value.name == "no_such_package"


def test_generated_data_and_arrays_need_no_optional_package(tmp_path):
    (tmp_path / "a.csv").write_text("1,2")
    finished = run_bare(
        f"""
import numpy as np
import kpca_lab.datasets
from kpca_lab.datasets import load_dataset
assert load_dataset("artificial2d").X.shape[1] == 2
np.save({str(tmp_path / "a.npy")!r}, np.eye(3))
assert load_dataset("npy", path={str(tmp_path / "a.npy")!r}).X.shape == (3, 3)
np.savez({str(tmp_path / "a.npz")!r}, X=np.eye(3))
assert load_dataset("npz", path={str(tmp_path / "a.npz")!r}).X.shape == (3, 3)
for call in (
    lambda: load_dataset("csv", path={str(tmp_path / "a.csv")!r}),
    lambda: load_dataset("usps"),
):
    try:
        call()
    except ModuleNotFoundError as error:
        print(error)
"""
    )
    assert finished.returncode == 0, finished.stderr
    lines = finished.stdout.splitlines()
    assert len(lines) == 2
    assert all(line.endswith("is needed here: pip install 'kpca-lab[data]'") for line in lines)


def test_the_command_line_says_what_to_install():
    finished = run_bare("from kpca_lab.datasets.__main__ import main; sys.exit(main(['fetch', 'usps']))")
    assert finished.returncode == 2
    assert finished.stderr.count("\n") == 1 and "pip install 'kpca-lab[data]'" in finished.stderr
