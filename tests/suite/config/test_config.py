"""Configurations: every experiment composes, wrong ones are refused with the valid choices."""

import sys

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode

from kpca_lab.suite.config import experiments
from kpca_lab.suite.config.composing import Composer, _without_hydra, compose_many, compose_settings
from kpca_lab.suite.config.experiments import compose_experiments, experiment_items
from kpca_lab.suite.config.meaning import config_folders, plain_settings
from kpca_lab.suite.config.overrides import CONF, parse_override
from kpca_lab.suite.config.settings import PROFILES
from kpca_lab.suite.cores import available_cores, share_cores
from kpca_lab.suite.engine.plan import make_plan
from kpca_lab.suite.errors import ConfigError
from kpca_lab.suite.hooks import experiment
from kpca_lab.suite.papers import load_experiments
from kpca_lab.suite.places import experiments_folder
from kpca_lab.suite.targets import import_target


@pytest.fixture(scope="module")
def everything():
    """All experiments, composed for every profile, by item and profile."""
    wanted = [(item, profile) for item in experiment_items() for profile in PROFILES]
    found = compose_many([f"+experiment={item}", f"profile={profile}"] for item, profile in wanted)
    return dict(zip(wanted, found, strict=True))


def test_every_experiment_composes_for_each_profile_and_is_named_by_its_file(everything):
    assert ("washizawa2012/table1", "smoke") in everything
    for (item, profile), entry in everything.items():
        assert (entry.experiment, entry.profile) == (item, profile)
        assert entry.canonical and entry.title


def test_every_job_of_every_experiment_has_a_label_that_starts_with_its_name(everything):
    for (item, profile), chosen in everything.items():
        if profile == "smoke":
            assert all(job.label.startswith(item) for job in make_plan(chosen).jobs.values())


def test_composed_experiments_are_kept_until_the_configuration_changes(tmp_path, monkeypatch):
    items = ["washizawa2012/table1", "washizawa2012/table2"]
    first = compose_experiments(items, "smoke", str(tmp_path))
    monkeypatch.setattr(experiments, "_compose", lambda many: pytest.fail("composed again"))
    assert compose_experiments(items, "smoke", str(tmp_path)) == first
    monkeypatch.setattr(experiments, "_conf_version", lambda: "another")
    monkeypatch.setattr(experiments, "_compose", lambda many: [f"composed {len(list(many))}"] * 2)
    monkeypatch.setattr(experiments, "asdict", str)
    assert compose_experiments(items, "smoke", str(tmp_path)) == ["composed 2"] * 2


def test_every_registered_function_belongs_to_an_experiment():
    load_experiments()
    tables = (experiment.job_makers, experiment.runners, experiment.cell_makers, experiment.figure_makers)
    assert {item for table in tables for item in table} <= set(experiment_items())


@pytest.mark.parametrize("group", ["method", "selector", "metric"])
def test_all_options_of_a_group_go_together(group):
    options = sorted(path.stem for path in (CONF / group).glob("*.yaml"))
    settings = compose_settings([f"{group}=[{','.join(options)}]"])
    assert sorted(getattr(settings, f"{group}s")) == options


def test_all_data_sets_go_together():
    folder = CONF / "dataset"
    options = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.yaml")}
    options -= {"csv", "npy", "npz", "parquet"}
    assert compose_settings([f"datasets=[{','.join(options)}]"]).datasets.keys() == options


@pytest.mark.parametrize("kernel", ["rbf", "rbf_variance", "poly", "linear", "laplacian"])
def test_every_kernel_composes(kernel, composer):
    found = composer.settings([f"kernel={kernel}"]).kernels["artificial2d"]
    assert found[0]["kernel"] == kernel.split("_")[0]


def test_the_methods_and_measures_asked_for_are_there():
    methods = {path.stem for path in (CONF / "method").glob("*.yaml")}
    assert methods >= {
        *("akpca", "apca", "cholesky", "elastic_net", "empirical_map", "full", "hebbian", "improved"),
        *("incremental", "nystrom", "pca", "reduced", "subset", "tipping"),
    }
    assert {path.stem for path in (CONF / "metric").glob("*.yaml")} >= {
        *("classification_error", "denoising_mse", "distance", "distance_per_component", "distance_squared"),
        *("eigenvalue_error", "empirical_error", "normalized_empirical_error", "peak_memory", "runtime"),
        *("sparsity", "validation_error"),
    }


@pytest.fixture(scope="module")
def composer():
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
    return Composer(lambda texts: loader.load_configuration("config", texts, RunMode.RUN))


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("dataset=nowhere", ["nowhere", "concrete", "usps"]),
        ("datasets=[concrete,nowhere]", ["nowhere", "concrete", "usps"]),
        ("method=nothing", ["nothing", "subset", "nystrom"]),
        ("selector=nobody", ["nobody", "kmeans", "ransac"]),
        ("metric=nil", ["nil", "distance", "validation_error"]),
        ("kernel=null_kernel", ["rbf", "laplacian"]),
        ("kernel.kernel=gauss", ["gauss", "rbf", "laplacian"]),
        ("kernel.gamma=-1", ["positive"]),
        ("profile=huge", ["huge", "smoke", "quick", "paper"]),
        ("+experiment=washizawa2012/table99", ["table99", "table1"]),
        ("n_bassis=3", ["did you mean 'n_basis'", "n_components"]),
        ("n_basis=2.5", ["n_basis=2.5", "share in (0, 1]"]),
        ("n_basis=many", ["many", "whole number"]),
        ("n_components=0", ["n_components=0", "whole number"]),
        ("seed=first", ["seed", "first", "Integer"]),
        ("seed=-1", ["seed=-1", "from 0"]),
        ("n_trials=0", ["n_trials=0", "from 1"]),
        ("dataset.scaling=big", ["big", "standard", "minmax"]),
        ("dataset.split.kind=odd", ["odd", "random", "official"]),
        ("+dataset.options.colour=red", ["colour", "shape", "n_train"]),
        ("+methods.subset.params.centre=true", ["did you mean 'center'", "outside_basis"]),
        ("methods.subset.target=kpca_lab.SubsetPCA", ["SubsetPCA", "SubsetKPCA"]),
        ("+methods.subset.params.selector=kmeans", ["axis of the run", "selector="]),
        ("method=[]", ["no method is chosen"]),
        ("metric=[]", ["no metric is chosen"]),
        ("kernel.degree=abc", ["kernel.degree='abc'", "number"]),
        ("dataset.options.seed=abc", ["dataset.options.seed='abc'", "whole number"]),
        ("limits.seconds=-3", ["limits.seconds", "positive"]),
        ("workers=0", ["workers=0", "from 1"]),
        ("dataset.options.path=~/mine.csv", ["cannot be read", """'dataset.options.path="~/mine.csv"'"""]),
        ("method=[full", ["cannot be read", "check its brackets"]),
    ],
)
def test_a_wrong_name_or_type_is_refused_with_the_valid_choices(override, told, composer):
    with pytest.raises(ConfigError) as refused:
        composer.settings([override])
    for words in told:
        assert words in str(refused.value)


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (["metric=denoising_mse", "+metrics.denoising_mse.params.foo=1"], ["foo", "sigma, relative"]),
        (["metric=denoising_mse", "metrics.denoising_mse.params.sigma=abc"], ["sigma='abc'", "float"]),
        (["selector=kmeans", "+selectors.kmeans.params.n_init=many"], ["n_init='many'", "int"]),
        (["selector=kmeans", "+selectors.kmeans.params.max_iter=1.5"], ["max_iter=1.5", "int | null"]),
    ],
)
def test_parameters_of_measures_and_selectors_have_names_and_types(overrides, told, composer):
    with pytest.raises(ConfigError) as refused:
        composer.settings(overrides)
    for words in told:
        assert words in str(refused.value)


def test_the_home_folder_may_be_written_as_the_shell_does(tmp_path, monkeypatch, composer):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "mine.csv").write_text("1,2\n3,4\n")
    found = composer.settings(["dataset=csv", 'dataset.options.path="~/mine.csv"'])
    assert found.datasets["csv"]["options"]["path"] == str(tmp_path / "mine.csv")


def test_code_of_experiments_is_found_from_any_folder(monkeypatch):
    root = str(experiments_folder().parent)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in ("", root)])
    for name in [name for name in sys.modules if name.partition(".")[0] == "experiments"]:
        monkeypatch.delitem(sys.modules, name)
    import_target.cache_clear()
    assert import_target("experiments.common.stated.__name__") == "experiments.common.stated"


def test_what_the_user_gives_comes_before_the_profile():
    base = compose_settings(["+experiment=washizawa2012/table1", "profile=smoke"])
    own = compose_settings(
        ["+experiment=washizawa2012/table1", "profile=smoke", "n_basis=7", "method=subset"]
    )
    assert base.n_basis != [7] and list(base.methods) != ["subset"]
    assert own.n_basis == [7] and list(own.methods) == ["subset"]
    assert base.canonical and not own.canonical
    assert own.seeds == base.seeds and own.n_train == base.n_train


def test_selectors_and_methods_that_the_user_chooses_are_alone():
    table = ["+experiment=washizawa2012/table1"]
    found = compose_settings([*table, "selector=kmeans"]).selectors
    assert {name: entry["params"] for name, entry in found.items()} == {"kmeans": {"init": "random"}}
    assert list(compose_settings([*table, "selector=random"]).selectors) == ["random"]
    figure = compose_settings(["+experiment=washizawa2012/figure2", "method=subset"])
    assert list(figure.methods) == ["subset"]


def test_a_data_set_given_on_the_command_line_replaces_those_of_the_experiment():
    own = compose_settings(["+experiment=washizawa2012/table2", "dataset=usps"])
    assert list(own.datasets) == ["usps"]
    two = compose_settings(["datasets=[concrete,ida/banana]"])
    assert two.kernels["concrete"][0]["gamma_rule"] == "variance"
    assert two.kernels["ida/banana"][0]["gamma"] == 2.0


def test_the_kernel_is_the_data_sets_unless_one_is_given():
    assert compose_settings([]).kernels["artificial2d"][0]["gamma"] == 0.1
    several = compose_settings(["dataset=concrete", "kernel.gamma=[0.1,1.0]"]).kernels["concrete"]
    assert [(kernel["gamma"], kernel["gamma_rule"]) for kernel in several] == [(0.1, None), (1.0, None)]
    assert compose_settings(["kernel=poly"]).kernels["artificial2d"][0]["degree"] == 2


def test_values_put_in_after_composing_give_what_hydra_gives():
    overrides = ["+experiment=washizawa2012/table1", "profile=smoke", "n_basis=[5,0.5]", "seed=4",
                 "kernel.gamma=0.3", "dataset.options.n=80", "selectors.forward.nested=false"]  # fmt: skip
    fast = compose_settings(overrides)
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        whole = compose("config", overrides=overrides, return_hydra_config=True)
    given = [parse_override(text) for text in overrides]
    folders = config_folders(whole.hydra)
    assert plain_settings(_without_hydra(whole), given, folders) == fast


@pytest.mark.parametrize("cores", [1, 2, 3, 8])
@pytest.mark.parametrize("workers", [None, 1, 2, 5, 64])
@pytest.mark.parametrize("threads", [None, 1, 2, 64])
@pytest.mark.parametrize("timing", [False, True])
def test_workers_times_threads_never_exceed_the_cores(cores, workers, threads, timing):
    processes, each = share_cores(workers, threads, timing=timing, cores=cores)
    assert processes >= 1 and each >= 1 and processes * each <= cores
    assert processes == 1 or not timing


def test_all_cores_are_used_by_default():
    assert share_cores() == (available_cores(), 1)
