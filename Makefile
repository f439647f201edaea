# Needs make and Python 3.11 or newer; everything else is installed into .venv. A C++ compiler is used if available.
#
#   make demo     install wellsvm and show what it does
#   make test     lint, type check and run the tests
#   make test-fast  run the tests that take less than about two seconds each
#   make lint     lint and type check only
#   make campaign attack the library: bad input, damaged files, kills, interrupts (hours; ARGS="--share 0.01": minutes)
#   make sanitize test the compiled kernels under address and undefined-behaviour sanitizers (needs GCC)
#   make docs     run the examples and build the documentation into docs/_build/html (a minute or two)
#   make docs-links  check every link inside the documentation that make docs built
#   make bench PROFILE=small          time and memory compared with scikit-learn (minutes; PROFILE=full: hours)
#   make reproduce TABLES="6 7"       the paper's tables with our figures next to them (hours; ARGS=--fast: minutes)
#   make study STUDIES="text uci"     the accuracies behind the defaults (hours)
#   make campaign-dask                rows in blocks and on Dask, with workers and drivers killed (half an hour)
#   make clean    remove everything that make created
#
# The last four are experiments: an interrupted run resumes, ARGS passes options (ARGS=--list lists the experiments), and the
# data sets come from the folder in WELLSVM_DATA, or from ../shared/data.

PYTHON  ?= python3
VENV    ?= .venv
JOBS    ?= 2
PROFILE ?= small
BIN     := $(VENV)/bin
PIP     := $(BIN)/python -m pip install --disable-pip-version-check -q

# Files and folders (so that a deleted file counts too) that make the installed package.
SOURCES := pyproject.toml CMakeLists.txt README.md \
    $(shell find cpp src -name __pycache__ -prune -o -name '*.pyc' -prune -o -print 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast lint campaign campaign-dask sanitize docs docs-links bench reproduce study clean

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
	@$(BIN)/clang-format --dry-run -Werror cpp/*.hpp cpp/*.cpp
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

test: lint
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(PYTEST_ARGS)

# The core: what fits and predicts. Rivals, experiments, command line, pages and scikit-learn's own checks are left out.
FAST := $(addprefix tests/,labels rows solver engine native estimators test_bags.py test_function.py test_losses.py \
    test_metrics.py test_model_selection.py test_options.py test_partial_labels.py test_persistence.py test_threads.py)

test-fast: $(VENV)/.installed-test
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow" --ignore=tests/estimators/test_sklearn_checks.py $(FAST) $(PYTEST_ARGS)

# What was tried already is in tests/campaign/journal.jsonl; the run ends by writing the table of docs/reliability.md.
campaign: $(VENV)/.installed-test
	@PYTHONPATH=tests:. OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m campaign $(ARGS)

# The compiled module once more, with sanitizers, in an environment of its own. Python itself has none, so their library
# is loaded ahead of it, and the C++ library with it, or exceptions could not be followed.
SANITIZED := build/sanitize
PRELOAD    = $(shell $(CXX) -print-file-name=libasan.so) $(shell $(CXX) -print-file-name=libstdc++.so)

$(SANITIZED)/.installed: $(SOURCES)
	@mkdir -p $(SANITIZED)
	@echo 'int main() { return 0; }' | \
	    $(CXX) -fsanitize=address,undefined -x c++ - -o $(SANITIZED)/probe 2>/dev/null && test -f $(firstword $(PRELOAD)) || \
	    { echo "make sanitize: $(CXX) has no sanitizers, or no libasan.so; nothing was tested. Install GCC with its" \
	      "libasan and libubsan, or name another compiler: make sanitize CXX=g++-13" >&2; exit 1; }
	@test -x $(SANITIZED)/venv/bin/python || $(PYTHON) -m venv $(SANITIZED)/venv
	@echo "Installing wellsvm with sanitizers into $(SANITIZED) (a few minutes)"
	@CXX=$(CXX) WELLSVM_REQUIRE_NATIVE=1 $(SANITIZED)/venv/bin/python -m pip install --disable-pip-version-check -q \
	    -C cmake.define.WELLSVM_SANITIZE=ON -C install.strip=false -C build-dir=$(SANITIZED)/module . pytest
	@touch $@

sanitize: $(SANITIZED)/.installed
	@env -u PYTHONPATH -u WELLSVM_BACKEND LD_PRELOAD="$(PRELOAD)" PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 \
	    UBSAN_OPTIONS=print_stacktrace=1 WELLSVM_SANITIZED=1 \
	    $(SANITIZED)/venv/bin/python -m pytest -p no:cacheprovider tests/native $(PYTEST_ARGS)

docs: $(VENV)/.installed-docs
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

docs-links: docs
	@$(BIN)/python docs/check_links.py docs/_build/html

bench: $(VENV)/.installed-experiments
	@$(BIN)/python -m experiments bench $(WORKLOADS) --profile $(PROFILE) $(ARGS)

reproduce: $(VENV)/.installed-experiments
	@$(BIN)/python -m experiments reproduce $(TABLES) --jobs $(JOBS) $(ARGS)

study: $(VENV)/.installed-experiments
	@$(BIN)/python -m experiments study $(STUDIES) $(ARGS)

campaign-dask: $(VENV)/.installed-dask,experiments
	@$(BIN)/python -m experiments campaign $(PARTS) --fill docs/guide_blocks.md $(ARGS)

clean:
	rm -rf $(VENV) wellsvm-demo.png build dist .pytest_cache .mypy_cache .ruff_cache
	rm -rf docs/_build docs/auto_examples docs/generated docs/sg_execution_times.rst
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
