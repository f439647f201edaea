# Needs make and Python 3.11 or newer; everything else is installed into .venv. A C++ compiler is used if available.
#
#   make demo     install wellsvm and show what it does
#   make test     lint, type check and run the tests
#   make test-fast  run the tests that take less than about two seconds each
#   make lint     lint and type check only
#   make campaign attack the library: bad input, damaged files, kills, interrupts (hours; ARGS="--share 0.01": minutes)
#   make test-oldest  run the tests with the oldest dependencies that pyproject.toml allows (PYTHON=python3.11)
#   make strangers  install the source archive into a fresh environment and do six new users' tasks (PYTHON=python3.14)
#   make dist     build and check the source archive and the wheel
#   make sanitize test the compiled kernels under address and undefined-behavior sanitizers (needs GCC)
#   make docs     run the examples and build the documentation into docs/_build/html (a minute or two)
#   make docs-links  check every link inside the documentation that make docs built
#   make bench PROFILE=small          time and memory compared with scikit-learn (minutes; PROFILE=full: hours)
#   make reproduce TABLES="6 7"       the paper's tables with our figures next to them (hours; ARGS=--fast: minutes)
#   make study STUDIES="text uci"     the accuracies behind the defaults (hours)
#   make campaign-dask                rows in blocks and on Dask, with workers and drivers killed (half an hour)
#   make clean    remove everything that make created
#
# bench, reproduce, study and campaign-dask are experiments: an interrupted run resumes, ARGS passes options (ARGS=--list lists the experiments), and the
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
.PHONY: help demo test test-fast test-oldest strangers dist lint campaign campaign-dask sanitize docs docs-links bench reproduce study clean

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

# What a user gets: the source archive and the wheel built from it, checked. uv is here because it can install the oldest
# versions that are allowed.
RELEASE := build/release

$(RELEASE)/bin/python:
	@$(PYTHON) -m venv $(RELEASE)
	@$(RELEASE)/bin/python -m pip install --disable-pip-version-check -q uv build twine check-wheel-contents

dist/.checked: $(SOURCES) CHANGELOG.md CITATION.cff LICENSE | $(RELEASE)/bin/python
	@rm -rf dist
	@$(RELEASE)/bin/python -m build
	@$(RELEASE)/bin/python -m twine check --strict dist/*
	@$(RELEASE)/bin/check-wheel-contents dist/*.whl
	@touch $@

dist: dist/.checked

# One fresh environment for each Python and each choice of dependencies: RESOLUTION=highest takes the newest versions,
# RESOLUTION=lowest-direct the oldest that pyproject.toml allows. uv takes the bounds of an unpacked archive only.
RESOLUTION ?= highest
FRESH       = $(CURDIR)/build/fresh/$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
fresh       = rm -rf $(1) && $(PYTHON) -m venv --without-pip $(1) && \
    $(RELEASE)/bin/uv pip install -q --python $(1)/bin/python --resolution $(2)

strangers: NEW = $(FRESH)-$(RESOLUTION)
strangers: dist/.checked
	@rm -rf build/archive && mkdir -p build/archive && tar -xzf dist/*.tar.gz --strip-components 1 -C build/archive
	@$(call fresh,$(NEW),$(RESOLUTION)) "build/archive[cli,plot]" "pandas>=2.1"
	@cp -r examples/strangers $(NEW)/tasks
	@cd $(NEW)/tasks && unset PYTHONPATH && $(NEW)/bin/wellsvm versions && \
	    for task in *.py; do echo "== $$task" && $(NEW)/bin/python $$task || exit 1; done

test-oldest: | $(RELEASE)/bin/python
	@$(call fresh,$(FRESH)-tests,lowest-direct) ".[test]"
	@env -u PYTHONPATH $(FRESH)-tests/bin/python -m pytest -n $(JOBS) --dist worksteal -m "not slow" $(PYTEST_ARGS)

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
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m experiments study $(STUDIES) $(ARGS)

campaign-dask: $(VENV)/.installed-dask,experiments
	@$(BIN)/python -m experiments campaign $(PARTS) --fill docs/guide_blocks.md $(ARGS)

clean:
	rm -rf $(VENV) wellsvm-demo.png build dist .pytest_cache .mypy_cache .ruff_cache
	rm -rf docs/_build docs/auto_examples docs/generated docs/sg_execution_times.rst
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
