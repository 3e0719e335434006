# One set-up path for people, CI and the flywheel: system packages -> .venv from the hashed lock -> the command.
#
# Settings, all from the environment or the command line:
#   CUAMASTER_WORKSPACE  where a run writes            (default ./workspace)
#   CUAMASTER_CACHE      guest images, downloads       (default ~/.cache/cuamaster)
#   VENV, PYTHON         the environment and the Python it is made with
#   WORKERS              processes that run the tests  (default 2; 0 = in this process)
#   TORCH_INDEX          where torch comes from for train-smoke, such as PyTorch's index of CPU builds (default: pip's own)
#   BOOTSTRAP=true       skip the system packages      (a system without apt)

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

export CUAMASTER_WORKSPACE ?= $(CURDIR)/workspace
export CUAMASTER_CACHE ?= $(HOME)/.cache/cuamaster
# Tools keep their files in the same cache, so that nothing is written anywhere else.
export UV_CACHE_DIR ?= $(CUAMASTER_CACHE)/uv
export PREFECT_HOME ?= $(CUAMASTER_CACHE)/prefect
export DO_NOT_TRACK := 1
export HF_HUB_OFFLINE ?= 1
export PYTHON
# Without compiled files beside the sources every command would compile hundreds of modules before its first line.
unexport PYTHONDONTWRITEBYTECODE

VENV ?= .venv
BIN := $(VENV)/bin
LOCKED := $(VENV)/.locked
INSTALLED := $(VENV)/.installed
UV := $(BIN)/uv
BOOTSTRAP ?= scripts/bootstrap.sh
WORKERS ?= 2
TRAIN_VENV ?= .venv-train
TRAIN_LOCKED := $(TRAIN_VENV)/.locked
TORCH_INDEX ?=
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist loadgroup

.PHONY: help flywheel test test-fast test-images check format lock bench bench-rollback train-smoke deploy setup system clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

flywheel: setup ## Set up, then run one round over the bundled tutorials and show what came out
	@$(BIN)/cuamaster flywheel run $(ARGS)

test: setup ## Every test, those on real guests included
	@$(PYTEST) $(ARGS)

test-fast: setup ## The tests without a guest, speech recognition or a server
	@$(PYTEST) -m "not vm and not slow" $(ARGS)

test-images: setup ## Build the images office and web-media and try their applications: half an hour under emulation
	@CUAMASTER_TEST_IMAGES=1 $(BIN)/pytest tests/images $(ARGS)

check: setup ## ruff, mypy --strict and the import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy cuamaster flows scripts
	@$(BIN)/lint-imports

format: setup ## Format and fix what can be fixed safely
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: setup ## Measure the claims, but for the hours of bench-rollback; results as JSON under benchmarks/results
	@mkdir -p benchmarks/results
	@shopt -s nullglob; for script in benchmarks/[!_]*.py; do \
	  name=$$(basename "$$script" .py); \
	  [ "$$name" != rollback ] || continue; echo "== $$name"; \
	  $(BIN)/python "$$script" >"benchmarks/results/$$name.json.part"; \
	  mv "benchmarks/results/$$name.json.part" "benchmarks/results/$$name.json"; \
	done

bench-rollback: setup ## Rollback against from-scratch on the whole grid: goes on where it was ended, then prints the table
	@mkdir -p benchmarks/results
	@$(BIN)/python benchmarks/rollback.py $(ARGS) >benchmarks/results/rollback.json.part
	@mv benchmarks/results/rollback.json.part benchmarks/results/rollback.json

train-smoke: $(TRAIN_LOCKED) ## Train a tiny model on the CPU: SFT on exported demonstrations, GRPO on the simulated desktop; figures as JSON
	@$(TRAIN_VENV)/bin/python -m scripts.train_smoke $(ARGS)

lock: setup ## Resolve pyproject.toml into requirements.lock (hashed, no index addresses); UPGRADE=1 takes newer versions
	@$(UV) pip compile pyproject.toml --group dev --group bench --all-extras --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --no-emit-index-url --no-emit-find-links $(if $(UPGRADE),--upgrade) --quiet -o requirements.lock

deploy: setup ## Create the Prefect work pool, limits, schedules and deployments on the configured server
	@$(BIN)/python -m flows.deploy

setup: system $(INSTALLED)

system:
	@$(BOOTSTRAP)

# uv itself comes out of the lock with its hashes, through pip; the rest of the lock through uv.
$(LOCKED): requirements.lock | system
	@$(BIN)/python -c "import pip" 2>/dev/null || { \
	  python=$$(scripts/find-python.sh) || { echo "no Python >= 3.11: make PYTHON=/path/to/python" >&2; exit 2; }; \
	  "$$python" -m venv --clear $(VENV); }
	@[ -x $(UV) ] || { \
	  awk '/^uv==/ {on = 1} on {print} on && !/\\$$/ {exit}' requirements.lock >$(VENV)/uv.lock; \
	  $(BIN)/python -m pip install --quiet --no-cache-dir --disable-pip-version-check --no-deps --require-hashes -r $(VENV)/uv.lock; }
	@[ -t 2 ] || { quiet=--quiet; echo "installing the locked Python packages" >&2; }; \
	$(UV) pip sync $${quiet:-} --python $(BIN)/python --require-hashes --build-constraints requirements.lock requirements.lock
	@touch $@

# The checkout itself, editable; again when its entry points may have changed.
$(INSTALLED): pyproject.toml $(LOCKED)
	@$(UV) pip install --python $(BIN)/python --quiet --no-deps --no-build-isolation -e .
	@touch $@

# torch stays out of the everyday environment: this is the lock again, and torch beside it.
$(TRAIN_LOCKED): requirements.lock requirements-train.txt | setup
	@$(TRAIN_VENV)/bin/python -c "import pip" 2>/dev/null || $(BIN)/python -m venv --clear $(TRAIN_VENV)
	@echo "installing the packages of train-smoke" >&2
	@$(UV) pip sync --quiet --python $(TRAIN_VENV)/bin/python --require-hashes --build-constraints requirements.lock requirements.lock
	@$(TRAIN_VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) -r requirements-train.txt
	@$(UV) pip install --python $(TRAIN_VENV)/bin/python --quiet --no-deps --no-build-isolation -e .
	@touch $@

clean: ## Remove the environment and tool caches; the workspace and the image cache stay
	rm -rf $(VENV) $(TRAIN_VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
