"""The table of raw files is sound."""

import re
from pathlib import Path, PurePosixPath

import pytest

import kpca_lab.datasets
from kpca_lab.datasets.catalogue import CATALOGUE
from kpca_lab.datasets.registry import FILE_SETS

VARIANTS = [
    (name, variant)
    for name, file_set in FILE_SETS.items()
    for raw in file_set.files
    for variant in raw.variants
]


@pytest.mark.parametrize(("name", "raw"), VARIANTS, ids=[raw.path for _, raw in VARIANTS])
def test_an_entry_is_complete(name, raw):
    path = PurePosixPath(raw.path)
    assert not path.is_absolute() and ".." not in path.parts and len(path.parts) == 2
    assert path.parts[0] == name.split(":")[0]
    assert raw.size > 0
    assert raw.sha256 and all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in raw.sha256)
    assert len(set(raw.sha256)) == len(raw.sha256)
    assert raw.addresses or raw.wheel
    assert all(re.match(r"https?://[\w.-]+/", address.url) for address in raw.addresses)
    if raw.wheel:
        assert re.fullmatch(r"[\w-]+==[\d.]+", raw.wheel.requirement)


def test_no_two_files_share_a_place_and_all_have_terms():
    paths = [raw.path for _, raw in VARIANTS]
    assert len(set(paths)) == len(paths)
    assert all(file_set.terms for file_set in FILE_SETS.values())


def test_every_file_set_belongs_to_a_data_set():
    used = {file_set for entry in CATALOGUE.values() for file_set in entry.file_sets}
    assert used == set(FILE_SETS)


def test_no_package_index_is_named():
    hosts = re.compile("py" + r"pi\.|python" + r"hosted|cran\.|conda\.")
    for file in Path(kpca_lab.datasets.__file__).parent.glob("*.py"):
        assert not hosts.search(file.read_text()), file.name
