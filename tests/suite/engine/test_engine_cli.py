"""The command lines, in this process: one run, a sweep, an added method, and reproduce."""

import importlib
import json
import os
import re
import sys
from pathlib import Path

import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins

from kpca_lab.cli import reproduce
from kpca_lab.cli import run as command
from kpca_lab.cli.main import main as kpca_lab_command
from kpca_lab.suite.config.overrides import CONF
from kpca_lab.suite.cores import available_cores
from kpca_lab.suite.engine.pool import close_idle
from kpca_lab.suite.engine.records_file import read_records

SMALL = ["n_train=30", "n_components=3", "n_basis=6", "profile=smoke"]


@pytest.fixture
def cli(monkeypatch, capsys, tmp_path):
    """Run ``experiments.run`` and return exit code, output, errors."""

    def call(*words):
        GlobalHydra.instance().clear()
        monkeypatch.setattr(sys, "argv", ["run", *words, *SMALL, f"results_dir={tmp_path}"])
        code = 0
        try:
            command.main()
        except SystemExit as end:
            code = end.code
        return code, *capsys.readouterr()

    return call


def test_one_run_prints_its_rows(cli, tmp_path):
    code, out, err = cli("dataset=gaussian50", "method=[subset,full]", "selector=kmeans", "seed=3")
    assert not code
    assert "subset" in out and "gap" in out and "1 job computed" in err
    records = read_records(tmp_path / "smoke" / "custom" / "gaussian50.csv")
    assert set(records["method"]) == {"subset", "full"} and set(records["seed"]) == {3}


WRONG_PLACES = [
    ("KPCA_LAB_MIRROR", "http://", "neither a folder nor an address"),
    ("KPCA_LAB_MIRROR", "~nouser", "no such user"),
    ("KPCA_LAB_CACHE", "~nouser/x", "no such user"),
    ("KPCA_LAB_CACHE", "/dev/null/x", "cannot use the cache folder"),
    ("KPCA_LAB_TIMEOUT", "soon", "must be a positive number"),
]


@pytest.mark.parametrize("sweep", [[], ["-m"]])
@pytest.mark.parametrize(("variable", "value", "told"), WRONG_PLACES)
def test_a_variable_that_tells_of_no_place_is_refused_in_a_line(
    cli, monkeypatch, tmp_path, variable, value, told, sweep
):
    monkeypatch.setenv("KPCA_LAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("KPCA_LAB_MIRROR", "http://127.0.0.1:1")
    monkeypatch.setenv(variable, value)
    code, out, err = cli("dataset=frey", *sweep)
    assert code == 2 and err.count("error:") == 1 and told in err
    assert "Traceback" not in err and not out


def test_a_full_disk_is_told_in_a_line_with_the_file(cli, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kpca_lab.suite.files.os.fsync", full)
    code, _, err = cli("dataset=gaussian50")
    assert code == 2 and "No space left on device" in err and ".json" in err and "Traceback" not in err


def test_a_path_is_seen_from_the_folder_of_the_run_also_by_processes_of_an_earlier_one(
    cli, tmp_path, monkeypatch
):
    for name in ("first", "second"):
        folder = tmp_path / f"folder_of_{name}"
        folder.mkdir()
        (folder / f"{name}.csv").write_text("a,b\n" + "".join(f"{i},{i * i}\n" for i in range(40)))
        monkeypatch.chdir(folder)
        code, _, err = cli("dataset=csv", f"dataset.options.path={name}.csv")
        assert not code, err


def test_a_sweep_runs_every_combination_and_gathers_the_records(cli, tmp_path):
    code, out, _ = cli("-m", "method=subset,reduced,nystrom", "seed=range(0,3)")
    assert not code
    records = read_records(tmp_path / "smoke" / "custom" / "artificial2d.csv")
    assert records["job"].nunique() == 9
    assert set(zip(records["method"], records["seed"])) == {
        (method, seed) for method in ("subset", "reduced", "nystrom") for seed in range(3)
    }
    assert "3 trials" in out
    code, _, err = cli("-m", "method=subset,reduced", "seed=range(0,4)")
    assert not code and "2 jobs computed, 6 done before" in err
    assert read_records(tmp_path / "smoke" / "custom" / "artificial2d.csv")["job"].nunique() == 11


def test_the_flag_of_a_sweep_may_stand_anywhere(cli):
    code, out, _ = cli("dataset=gaussian50", "-m", "method=subset,full")
    assert not code and "subset" in out and "full" in out


def test_a_sweep_goes_on_without_the_data_it_lacks(cli, monkeypatch, tmp_path):
    monkeypatch.setenv("KPCA_LAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("KPCA_LAB_MIRROR", "")
    monkeypatch.setenv("KPCA_LAB_OFFLINE", "1")
    code, out, err = cli("-m", "dataset=frey,gaussian50")
    assert not code and "gaussian50" in out and "Traceback" not in err
    assert err.count("fetch frey") == 1


def test_a_sweep_goes_on_where_a_method_does_not_have_the_metric(cli):
    code, out, err = cli("-m", "method=sklearn_kernel_pca,subset", "metric=sparsity")
    assert not code and "subset" in out and "Traceback" not in err


def test_sizes_in_a_sweep_are_no_trials(cli, tmp_path):
    code, out, _ = cli("-m", "dataset=parabola", "+dataset.options.noise=0.1,0.3")
    assert not code and "trials" not in out
    table = (tmp_path / "smoke" / "custom" / "parabola_table.md").read_text()
    assert "| 0.1 |" in table and "| 0.3 |" in table and "dataset.options.noise" in table


def test_more_processes_than_cores_are_refused(cli, tmp_path):
    words = ["-m", "hydra/launcher=joblib", f"hydra.launcher.n_jobs={available_cores() + 1}", "seed=0,1"]
    code, _, err = cli(*words)
    assert code == 2 and "is more than the cores" in err and not list(tmp_path.rglob("*.csv"))


def test_a_wrong_choice_in_a_sweep_is_refused_before_any_computing(cli, tmp_path):
    code, _, err = cli("-m", "method=subset,nothing")
    assert code == 2 and "nothing" in err and "nystrom" in err
    assert not list(tmp_path.rglob("*.csv"))


def test_a_failure_gives_a_non_zero_exit_code(cli):
    code, _, err = cli("methods.subset.target=engine_probe.Failing")
    assert code == 1 and "this method always fails" in err and "0 jobs computed, 1 failed" in err


@pytest.mark.parametrize("launcher", ["sequential", "joblib"])
def test_other_launchers_give_the_same(launcher, cli, tmp_path):
    words = ["-m", f"hydra/launcher={launcher}", "method=subset,reduced"]
    path = tmp_path / "smoke" / "custom" / "artificial2d.csv"
    code, _, err = cli(*words)
    assert not code and "2 jobs computed, 0 done before" in err
    records = read_records(path)
    assert set(zip(records["method"], records["status"])) == {("subset", "done"), ("reduced", "done")}
    targets = "kpca_lab.SubsetKPCA,engine_probe.Failing"
    code, _, err = cli(*words[:2], "method=subset", f"methods.subset.target={targets}", "seed=0,1")
    assert code == 1 and "this method always fails" in err and "2 failures" in err
    assert "1 job computed, 2 failed, 1 done before" in err
    assert read_records(path)["job"].nunique() == 5


def test_jobs_of_slurm_compose_and_those_of_submitit_run(cli, tmp_path, monkeypatch):
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher", reason="needs the extra dist")
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        wanted = ["hydra/launcher=submitit_slurm", "hydra.launcher.partition=long", "method=subset"]
        launcher = compose("config", overrides=wanted, return_hydra_config=True).hydra.launcher
    assert launcher._target_.endswith(".SlurmLauncher") and launcher.partition == "long"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # submitit starts processes of its own
    targets = "kpca_lab.methods.reduced.ReducedKPCA,engine_probe.Failing"
    code, _, err = cli("-m", "hydra/launcher=submitit_local", f"methods.subset.target={targets}")
    assert code == 1 and "this method always fails" in err and "1 failure" in err
    records = read_records(tmp_path / "smoke" / "custom" / "artificial2d.csv")
    assert set(records["status"]) == {"done", "failed"} and records["job"].nunique() == 2


def test_the_method_of_contributing_one_file_and_one_yaml_appears_in_the_tables(cli, tmp_path, monkeypatch):
    text = (Path(__file__).resolve().parents[3] / "CONTRIBUTING.md").read_text()
    blocks = re.findall(r"```(\w+)\n(.*?)```", text, re.S)
    found = {kind: block for kind, block in blocks if "/every_second." in block}
    folder, conf = tmp_path / "code", tmp_path / "conf" / "method"
    folder.mkdir()
    conf.mkdir(parents=True)
    (folder / "every_second.py").write_text(found["python"])
    (conf / "every_second.yaml").write_text(found["yaml"].replace("kpca_lab.methods.", ""))
    monkeypatch.syspath_prepend(folder)
    # Workers that are running do not know the new folder.
    close_idle()
    status, out, _ = cli(f"hydra.searchpath=[file://{conf.parent}]", "method=[every_second,full]")
    assert not status and "every_second" in out
    records = read_records(tmp_path / "smoke" / "custom" / "artificial2d.csv")
    values = records.pivot(index="metric", columns="method", values="value")
    assert values.loc["gap", "every_second"] > 0
    table = (tmp_path / "smoke" / "custom" / "artificial2d_table.md").read_text()
    assert "| every_second |" in table and "| full |" in table


def test_reproduce_makes_tables_scoreboard_claims_and_report(tmp_path, capsys):
    words = ["--profile", "smoke", "--only", "washizawa2012/table1", "--results-dir", str(tmp_path)]
    assert reproduce.main(["tables", *words]) == 0
    folder = tmp_path / "smoke"
    for name in ("records/washizawa2012/table1.csv.gz", "scoreboard.csv", "claims.csv", "environment.json",
                 "tables/washizawa2012/table1.md"):  # fmt: skip
        assert (folder / name).is_file(), name
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["experiments"]["washizawa2012/table1"]["jobs"] == 2
    assert reproduce.main(["report", *words]) == 0
    assert (folder / "report" / "index.html").is_file()
    capsys.readouterr()
    assert reproduce.main(["run", *words]) == 0
    assert "0 jobs computed, 2 done before" in capsys.readouterr().err


def test_the_summary_tells_when_and_with_what_code_an_item_was_computed(tmp_path):
    words = ["run", "--profile", "smoke", "--only", "wang2016/figure1", "--results-dir", str(tmp_path)]
    assert reproduce.main(words) == 0
    path = tmp_path / "smoke" / "summary.json"
    entry = json.loads(path.read_text())["experiments"]["wang2016/figure1"]
    environment = json.loads((tmp_path / "smoke" / "environment.json").read_text())
    assert entry["jobs"] == 1 and entry["seconds"] > 0
    assert [entry[key] for key in ("date", "commit")] == [environment[key] for key in ("date", "commit")]
    assert reproduce.main(words) == 0
    assert json.loads(path.read_text())["experiments"]["wang2016/figure1"] == entry, "nothing was renewed"
    path.unlink()
    assert reproduce.main(words) == 0
    again = json.loads(path.read_text())["experiments"]["wang2016/figure1"]
    assert again == entry, "the jobs that a stopped run has left behind are told of"


def test_reproduce_without_data_skips_what_needs_it(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("KPCA_LAB_MIRROR", raising=False)
    monkeypatch.setenv("KPCA_LAB_OFFLINE", "1")
    monkeypatch.setenv("KPCA_LAB_CACHE", str(tmp_path / "cache"))
    close_idle()  # workers that are running have the old environment
    words = ["--profile", "smoke", "--results-dir", str(tmp_path)]
    words += [f"--only=washizawa2012/{item}" for item in ("table2", "figure2", "figure7")]
    assert reproduce.main(["all", *words]) == 0
    err = capsys.readouterr().err
    fetch = "to get it: python -m kpca_lab.datasets fetch mnist"
    assert f"skipped, without mnist: washizawa2012/figure7; {fetch}" in err
    assert f"skipped: washizawa2012/figure7: without mnist; {fetch}" in err
    folder = tmp_path / "smoke"
    assert (folder / "figures/washizawa2012/figure2.png").is_file()
    page = (folder / "report" / "index.html").read_text(encoding="utf-8")
    assert "figure7 (mnist); table2 (concrete, housing, tic)" in page
    close_idle()


def test_reproduce_refuses_unknown_items_with_the_valid_ones(capsys):
    with pytest.raises(SystemExit, match="2"):
        reproduce.main(["run", "--only", "washizawa2013"])
    assert "washizawa2012/table1" in capsys.readouterr().err


def test_a_misspelt_item_gets_a_suggestion(capsys):
    with pytest.raises(SystemExit, match="2"):
        reproduce.main(["tables", "--only", "washizawa2012/tabel1"])
    assert "did you mean 'washizawa2012/table1'" in capsys.readouterr().err


def chosen_items(*words):
    return reproduce._items(reproduce._parser().parse_args(words))


def test_the_items_of_a_paper_are_its_tables_or_its_figures_and_lists_have_commas():
    tables = chosen_items("tables", "--only", "washizawa2012")
    assert "washizawa2012/table1" in tables and not [item for item in tables if "/figure" in item]
    assert all("/figure" in item for item in chosen_items("figures", "--only", "washizawa2012"))
    both = ["washizawa2012/figure1", "wang2016/text"]
    assert sorted(chosen_items("tables", "--only", ",".join(both))) == sorted(both)
    assert set(chosen_items("all", "--only", "chin2006")) > {"chin2006/figure2", "chin2006/table1"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["gamma=0.5"], "did you mean kernel.gamma=0.5"),
        (["path=x.csv"], "did you mean dataset.options.path=x.csv"),
        (["seconds=3"], "did you mean limits.seconds=3"),
        (["-m", "kernel.gamma=interval(0.1,1)"], "an interval is for a sweeper that optimises"),
        (["-m", "kernel.gamma=glob(*)"], "a pattern is for names of dataset, method,"),
        (["-m", "method=glob(subsett*)"], "method=glob(subsett*): fits none of akpca,"),
        (["kernel.gama=0.5"], "unknown key 'kernel.gama'; did you mean 'kernel.gamma'?"),
        (["+kernel.gama=0.5"], "unknown key 'kernel.gama'; did you mean 'kernel.gamma'?"),
        (["++dataset.split.kid=none"], "did you mean 'dataset.split.kind'?"),
        (["+limits.memory=5"], "did you mean 'limits.memory_mb'?"),
        (["+method.target=mine.Method"], "did you mean methods.NAME.target, with the name of a method?"),
        (["methods.subset.tagret=mine.Method"], "did you mean 'methods.subset.target'?"),
    ],
)
def test_what_is_meant_by_a_wrong_word_is_told(cli, words, told):
    code, _, err = cli(*words)
    assert code == 2 and told in err


def test_shell_completion_is_installed_by_hydra(monkeypatch, capsys):
    GlobalHydra.instance().clear()
    monkeypatch.setattr(sys, "argv", ["run", "--shell-completion", "install=bash"])
    command.main()
    assert "hydra_bash_completion" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("kpca-lab ", "run reproduce report leaderboard suggest fit plan datasets"),
        ("kpca-lab re", "run reproduce report leaderboard suggest fit plan datasets"),
        ("kpca-lab run -m method=su", "method=subset"),
        ("kpca-lab run kernel.gamma", "kernel.gamma= kernel.gamma_rule="),
        ("kpca-lab fit ", ""),
    ],
)
def test_the_shell_completes_commands_and_what_follows_run(monkeypatch, capsys, line, offered):
    GlobalHydra.instance().clear()
    monkeypatch.setattr(sys, "argv", ["kpca-lab"])
    monkeypatch.setenv("COMP_LINE", line)
    assert kpca_lab_command(["-sc", "query=bash"]) == 0
    assert " ".join(capsys.readouterr().out.split()) == offered


def test_verbose_shows_the_configuration_and_every_job(cli):
    _, _, err = cli("hydra.verbose=true", "n_trials=3")
    assert "n_components: 3" in err and all(f"[{number}/3] done" in err for number in (1, 2, 3))


def test_hydras_own_folders_are_there_if_asked_for(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not cli("hydra=standard", "seed=4")[0]
    (written,) = tmp_path.glob("outputs/*/*/.hydra/config.yaml")
    assert "seed: 4" in written.read_text()
    assert not cli("-m", "hydra=standard", "seed=4,5")[0]
    jobs = sorted(tmp_path.glob("multirun/*/*/*/.hydra/config.yaml"))
    assert [path.parts[-3] for path in jobs] == ["0", "1"] and "seed: 5" in jobs[1].read_text()


OPTIMISER = Path(__file__).parent / "optimiser"


@pytest.mark.parametrize("launcher", ["pool", "sequential"])
def test_a_sweeper_that_optimises_is_given_the_first_metric(launcher, cli, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(OPTIMISER)
    plugin = importlib.import_module("hydra_plugins.halving_sweeper")
    Plugins.instance().register(plugin.HalvingSweeper)
    words = ["hydra/sweeper=halving", f"hydra.searchpath=[file://{OPTIMISER}/conf]"]
    words += [f"hydra/launcher={launcher}"]
    code, _, _ = cli("-m", *words, "metric=[empirical_error,runtime]", "kernel.gamma=interval(0.01,100)")
    assert not code
    tried = dict(json.loads((tmp_path / "tried.json").read_text()))
    records = read_records(tmp_path / "smoke" / "custom" / "artificial2d.csv")
    records = records[records["metric"] == "empirical_error"]
    stored = dict(zip(records["kernel"].str.extract("gamma=([^)]+)")[0], records["value"]))
    assert len(tried) == 4 and {float(f"{float(gamma):.6g}"): value for gamma, value in tried.items()} == {
        float(gamma): value for gamma, value in stored.items()
    }


@pytest.mark.filterwarnings("ignore")  # of packages that are older than Python
def test_the_sweeper_of_optuna_finds_the_best_value_that_was_tried(cli, tmp_path):
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper", reason="needs hydra-optuna-sweeper")
    words = ["hydra/sweeper=optuna", "hydra.sweeper.n_trials=4", "hydra.sweeper.n_jobs=2"]
    code, _, _ = cli("-m", *words, "kernel.gamma=interval(0.01,100)")
    assert not code
    (found,) = tmp_path.glob("smoke/sweeps/*/optimization_results.yaml")
    best = yaml.safe_load(found.read_text())
    records = read_records(tmp_path / "smoke" / "custom" / "artificial2d.csv")
    errors = records[records["metric"] == "empirical_error"].set_index("kernel")["value"]
    assert len(errors) == 4 and best["best_value"] == errors.min()
    assert errors.idxmin() == f"rbf(gamma={best['best_params']['kernel.gamma']:.6g})"


def test_nothing_is_done_again_until_something_has_changed(tmp_path, capsys, monkeypatch):
    words = ["tables", "--profile", "smoke", "--only", "washizawa2012/table1", "--results-dir", str(tmp_path)]
    assert reproduce.main(words) == 0
    table = (tmp_path / "smoke/tables/washizawa2012/table1.md").read_text().rstrip()
    assert table in capsys.readouterr().out
    tables = sorted(path.name for path in tmp_path.glob("smoke/tables/*/*.md"))
    assert tables and all(name.startswith("table1") for name in tables), "that is written and nothing else"
    real = reproduce._run
    monkeypatch.setattr(reproduce, "_run", lambda chosen: pytest.fail("it is done again"))
    assert reproduce.main(words) == 0
    shown = capsys.readouterr()
    assert "nothing has changed" in shown.err and table in shown.out
    done = []
    monkeypatch.setattr(reproduce, "_run", lambda chosen: done.append(chosen) or real(chosen))
    next(tmp_path.glob("smoke/tables/*/*.md")).unlink()
    assert reproduce.main(words) == 0 and len(done) == 1
    assert reproduce.main(words) == 0 and len(done) == 1
    monkeypatch.setenv("KPCA_LAB_TIMEOUT", "17")
    assert reproduce.main(words) == 0 and len(done) == 2
    assert reproduce.main([*words, "--force"]) == 0 and len(done) == 3
