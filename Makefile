# The everyday commands. `make` alone lists them. Nothing needs to be set up first.

PYTHON ?= python3
LANE ?=
ARGS ?=
TIMES ?= 10

BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest
# quick tests first; the folders that hold the others, whatever they are called, after them
QUICK := tests/architecture tests/unit
OTHER := $(filter-out $(QUICK) tests/__pycache__,$(patsubst %/,%,$(wildcard tests/*/)))

# a sentence instead of a traceback, on Pythons of any age or none
define require-python
command -v $(PYTHON) >/dev/null || { echo "setup: there is no $(PYTHON); install Python 3.11, 3.12 or 3.13, or name it: make PYTHON=..." >&2; exit 1; }; \
$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14) and "setup: Hopyard needs Python 3.11, 3.12 or 3.13 and $(PYTHON) is %d.%d; name another: make PYTHON=..." % sys.version_info[:2])'
endef

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# one venv, one pip at a time
.NOTPARALLEL:
.PHONY: help setup demo test check bench soak clean java

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.dev-ready ## Make .venv with all that development needs

demo: .venv/.demo-ready java ## Train a small model on an embedded Spark and show what is kept of it
	@$(BIN)/hopyard demo $(ARGS)

# The quick tests take every core. The others wait for processes more than they compute: two at a time, each with a
# Spark, an HDFS and an S3 server of its own.
test: .venv/.dev-ready $(if $(filter unit,$(LANE)),,java) ## Run the tests; LANE=unit runs one lane, ARGS="-k name" goes to pytest
ifeq ($(LANE),unit)
	@$(PYTEST) -n logical --dist loadfile -m unit $(ARGS) $(QUICK)
else ifneq ($(LANE)$(ARGS),)
	@$(PYTEST) $(if $(LANE),-m "$(LANE)") $(ARGS) $(QUICK) $(OTHER)
else
	@failed=0; \
	$(PYTEST) -n logical --dist loadfile $(QUICK) || failed=1; \
	$(PYTEST) -n 2 --dist loadfile $(OTHER) || failed=1; \
	exit $$failed
endif

check: .venv/.dev-ready ## Lint, format, types and layers
	@echo "check: ruff" && $(BIN)/ruff check . && $(BIN)/ruff format --check .
	@echo "check: mypy" && $(BIN)/mypy
	@echo "check: layers" && $(BIN)/lint-imports

bench: .venv/.dev-ready java ## Run the benchmarks; ARGS="wire" runs one of them
	@$(BIN)/python -m benchmarks $(ARGS)

soak: .venv/.dev-ready java ## Run the lanes that start and kill processes TIMES times, up to the first failure
	@for round in $$(seq $(TIMES)); do \
	    echo "soak: round $$round of $(TIMES)"; \
	    $(PYTEST) -q -x -m "$(or $(LANE),cluster or spark)" $(ARGS) || exit 1; \
	done

clean: ## Remove .venv, caches and build output
	rm -rf .venv build dist facades/*/dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src facades tests benchmarks examples scripts -name __pycache__ -type d -prune -exec rm -rf {} +

java:
	@scripts/ensure_java.sh

.venv/.demo-ready: pyproject.toml $(wildcard facades/*/pyproject.toml) constraints.txt
	@$(require-python)
	@$(PYTHON) scripts/install.py demo
	@touch $@

.venv/.dev-ready: pyproject.toml $(wildcard facades/*/pyproject.toml) constraints.txt
	@$(require-python)
	@$(PYTHON) scripts/install.py dev
	@touch .venv/.demo-ready $@
