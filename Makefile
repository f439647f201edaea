# Needs make and Python 3.11 or newer; everything else is installed into .venv. A C++ compiler is used if there is one.
#
#   make demo     install wellsvm and show what it does
#   make test     lint, type check and run the tests
#   make test-fast  run the tests that take less than about two seconds each
#   make lint     lint and type check only
#   make docs     run the examples and build the documentation into docs/_build/html (a minute or two)
#   make bench    run the accuracy benchmarks (hours; WELLSVM_DATA names the data folder; a stopped run goes on)
#   make clean    remove everything that make created

PYTHON ?= python3
VENV   ?= .venv
JOBS   ?= 2
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --disable-pip-version-check -q

# Files and folders (so that a deleted file counts too) that make the installed package.
SOURCES := pyproject.toml CMakeLists.txt README.md \
    $(shell find cpp src -name __pycache__ -prune -o -name '*.pyc' -prune -o -print 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast lint docs bench clean

help:
	@sed -n 's/^#   //p' Makefile

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "wellsvm needs Python 3.11 or newer; try: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# One stamp per set of extras: the package is built again only after a change. The package itself is not editable:
# the tests run what users get.
$(VENV)/.installed-%: $(SOURCES) | $(BIN)/python
	@echo "Installing wellsvm[$*] into $(VENV) (a few minutes the first time)"
	@$(PIP) ".[$*]"
	@touch $@

demo: $(VENV)/.installed-cli,plot
	@$(BIN)/wellsvm demo

lint: $(VENV)/.installed-test
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

test: lint
	@$(BIN)/python -m pytest -n $(JOBS) $(PYTEST_ARGS)

test-fast: $(VENV)/.installed-test
	@$(BIN)/python -m pytest -n $(JOBS) -m "not slow" $(PYTEST_ARGS)

docs: $(VENV)/.installed-docs
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

bench: $(VENV)/.installed-bench
	@for profile in text text_cv uci_cv_linear uci_cv_rbf uci text_init text_balance text_tol text_prices large; do \
	    echo "benchmarks/results/$$profile.jsonl"; $(BIN)/python benchmarks/semi_supervised_accuracy.py $$profile; done

clean:
	rm -rf $(VENV) wellsvm-demo.png build dist .pytest_cache .mypy_cache .ruff_cache
	rm -rf docs/_build docs/auto_examples docs/generated docs/sg_execution_times.rst
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
