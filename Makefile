# One environment in .venv, made from constraints.txt the first time that a target needs it.

PYTHON ?= python3
PROFILE ?= quick
BENCH ?= full
VENV := .venv
OLDEST := .venv-oldest
RUN := $(VENV)/bin/python
export PYTHONHASHSEED := 0

.DEFAULT_GOAL := help

.PHONY: help
help: ## Print this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  %-20s %s\n", $$1, $$2 }'

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(OLDEST)/.installed: $(VENV)/.installed
	$(RUN) -m uv venv --quiet --clear --seed --python 3.11 $(OLDEST)
	$(RUN) -m uv pip compile --quiet --resolution lowest-direct --python-version 3.11 --extra dev \
	  --output-file $(OLDEST)/requirements.txt pyproject.toml
	$(RUN) -m uv pip install --quiet --python $(OLDEST)/bin/python --requirement $(OLDEST)/requirements.txt
	$(RUN) -m uv pip install --quiet --python $(OLDEST)/bin/python --no-deps --editable .
	@touch $@

.PHONY: setup
setup: $(VENV)/.installed ## Make the environment (other targets do it themselves)

.PHONY: test
test: setup ## Run all tests
	$(RUN) -m pytest -n 2 --dist worksteal

.PHONY: test-oldest
test-oldest: $(OLDEST)/.installed ## Run all tests with the oldest packages that pyproject.toml allows
	$(OLDEST)/bin/python -m pytest -n 2 --dist worksteal

.PHONY: lint
lint: setup ## Check style, format, layers and types
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(VENV)/bin/lint-imports --no-cache --no-logo
	$(RUN) -m mypy

.PHONY: fuzz
fuzz: setup ## Try 5000 random cases: each must end in a result or in an error that says what to do
	$(RUN) scripts/fuzz.py --cases 5000

.PHONY: bench
bench: setup ## Measure speed, memory and error beside named peers (BENCH=quick|full, ONLY=); writes results/bench/
	@$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt nystrompca || echo 'nystrompca cannot be installed'
	$(RUN) -m scripts.bench $(if $(filter quick,$(BENCH)),--quick) $(foreach item,$(ONLY),--only $(item))

.PHONY: torture
torture: setup ## Kill, fill, damage and overload runs of the suite, and count what is lost (nothing)
	$(RUN) scripts/torture.py

.PHONY: audit
audit: setup ## Licences and known vulnerabilities of what constraints.txt pins
	@$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt pip-audit || echo 'pip-audit cannot be installed'
	$(RUN) scripts/audit.py

.PHONY: data
data: setup ## Fetch and verify every data set that can be had; print a table
	$(RUN) -m kpca_lab.datasets fetch

REPRODUCE = $(RUN) -m experiments.reproduce
SELECTION = --profile $(PROFILE) $(foreach item,$(ONLY),--only $(item)) $(if $(filter-out 0 false no,$(FORCE)),--force)

.PHONY: reproduce-tables
reproduce-tables: setup ## Compute the papers' tables, scoreboard and claims (PROFILE=smoke|quick|paper, ONLY=, FORCE=1)
	$(REPRODUCE) tables $(SELECTION)

.PHONY: reproduce-figures
reproduce-figures: setup ## Compute the papers' figures (same options)
	$(REPRODUCE) figures $(SELECTION)

.PHONY: report
report: setup ## Write results/PROFILE/report/index.html from what was computed
	$(REPRODUCE) report --profile $(PROFILE)

.PHONY: article
article: setup ## Write the replication report, results/PROFILE/report/article.html and .pdf (with LaTeX)
	$(REPRODUCE) article --profile $(PROFILE)

.PHONY: leaderboard
leaderboard: setup ## Compare all methods on all data sets, one job at a time; writes results/leaderboard (PROFILE=quick|full)
	$(RUN) -m kpca_lab.cli.main leaderboard --profile $(PROFILE) $(if $(filter-out 0 false no,$(FORCE)),--force)

$(VENV)/.documented: $(VENV)/.installed
	$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	@touch $@

.PHONY: docs
docs: $(VENV)/.documented ## Build the documentation, gallery included, into docs/_build/html
	@rm -rf docs/api_pages docs/_generated docs/_build
	$(RUN) -m sphinx -W --keep-going -q -b html docs docs/_build/html

.PHONY: clean
clean: ## Remove the environment and what is not committed of the results
	rm -rf $(VENV) $(OLDEST) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis outputs multirun
	rm -rf results/smoke results/quick docs/_build docs/_generated docs/auto_gallery docs/api_pages
