"""The configuration of every data set composes, names a data set, and fits its loader."""

from functools import cache
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from kpca_lab.datasets import dataset_options, list_datasets, load_dataset, protocol_of
from kpca_lab.datasets.scaling import SCALINGS

CONF = Path(__file__).parents[2] / "conf"
FILES = sorted((CONF / "dataset").rglob("*.yaml"))


@pytest.fixture(scope="module")
def composed():
    with initialize_config_dir(str(CONF), version_base=None):

        @cache
        def config(name):
            return OmegaConf.to_container(compose(overrides=[f"+dataset={name}"]))["dataset"]

        yield config


def test_there_is_one_file_for_each_data_set():
    found = [file.relative_to(CONF / "dataset").with_suffix("").as_posix() for file in FILES]
    assert sorted(found) == sorted(list_datasets())


@pytest.mark.parametrize("name", list_datasets())
def test_it_composes_and_fits(composed, name):
    config = composed(name)
    assert config["name"] == name
    assert list(config) == [
        "name",
        "options",
        "kernel",
        "n_components",
        "scaling",
        "split",
    ]
    assert set(config["options"]) <= set(dataset_options(name))
    kernel = config["kernel"]
    assert list(kernel) == ["kernel", "gamma", "gamma_rule", "degree", "coef0"]
    assert kernel["kernel"] in ("linear", "poly", "rbf")
    if kernel["kernel"] == "rbf":
        assert (kernel["gamma"] is None) != (kernel["gamma_rule"] is None)
        assert kernel["gamma_rule"] in (None, "variance")
        assert kernel["gamma"] in (None, "median") or isinstance(kernel["gamma"], float)
    assert isinstance(config["n_components"], int | None)
    assert config["scaling"] in (None, *SCALINGS)


@pytest.mark.parametrize("name", list_datasets())
def test_its_split_is_the_one_in_the_code(composed, name):
    config, protocol = composed(name)["split"], protocol_of(name)
    assert list(config) == ["kind"]
    if config["kind"] in ("random", "published"):
        assert config["kind"] == protocol.kind
    else:
        assert config["kind"] in ("none", "official")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_says_where_its_settings_come_from(file):
    first = file.read_text().splitlines()[0]
    assert first.startswith("# ")


@pytest.mark.parametrize("name", list_datasets("synthetic"))
def test_its_options_load(composed, name):
    config = composed(name)
    assert load_dataset(name, scaling=config["scaling"], **config["options"]).name == name


def test_a_few_settings_of_the_papers(composed):
    assert composed("artificial2d")["kernel"]["gamma"] == 0.1
    assert composed("artificial2d")["n_components"] == 5
    assert composed("mnist")["kernel"]["gamma"] == pytest.approx(10**-5.1)
    assert composed("mnist")["n_components"] == 145
    assert composed("three_clusters")["kernel"]["gamma"] == pytest.approx(1 / (2 * 0.05))
    assert composed("ida/banana")["kernel"]["gamma"] == pytest.approx(1 / (2 * 0.5**2))
    assert [composed(name)["n_components"] for name in ("concrete", "housing", "tic")] == [9, 14, 85]


def test_real_options_load(composed, real):
    for name in ("concrete", "usps", "yaleb", "ida/thyroid"):
        config = composed(name)
        loaded = real(name, scaling=config["scaling"], **config["options"])
        if name == "concrete":
            assert loaded.X.shape[1] == config["n_components"]
        if name == "yaleb":
            assert loaded.image_shape == (20, 20)
