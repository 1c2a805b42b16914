# goliath-local: each target is a line or two; the logic is in the package or in scripts/.
SHELL := /bin/bash
PYTHON ?= python3
ASK ?= What is on my list today?
BIN := .venv/bin
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup run chat test test-plain test-model check grammars eval eval-ci bench sizes clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 14

.venv/ready: requirements.lock pyproject.toml scripts/setup.sh
	@PYTHON="$(PYTHON)" scripts/setup.sh

setup: .venv/ready  ## make .venv and install the locked dependencies (builds llama.cpp once, ~5 min)

run: setup  ## one ask on the demo tools: make run ASK="What is on my list today?"
	@$(BIN)/goliath-local run --pull -T demo "$(ASK)" < /dev/null

chat: setup  ## talk to it, with the demo tools
	@$(BIN)/goliath-local chat --pull -T demo

test: setup  ## every test: plain, slow and on real weights, in two processes with a core each
	@$(BIN)/goliath-local models pull smollm2-135m qwen2.5-coder-0.5b
	$(BIN)/pytest -q -n $(WORKERS) --dist worksteal

test-plain: setup  ## only what needs no weights and takes moments
	$(BIN)/pytest -q -n $(WORKERS) --dist worksteal -m "not model and not slow"

test-model: setup  ## only the tests on real weights
	$(BIN)/pytest -q -m model

check: setup  ## format, lint, types, import contract
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/write_grammars.py --check

grammars: setup  ## write grammars/ anew from the built-in schemas
	$(BIN)/python scripts/write_grammars.py

eval: setup  ## run every eval set on the 1.5B model, plain loops beside the harness
	$(BIN)/goliath-local models pull qwen2.5-coder-1.5b
	$(BIN)/python -m evals builtin --runs 3
	$(BIN)/python -m evals dev --against plain --against native
	$(BIN)/python -m evals bfcl/simple_python bfcl/multiple bfcl/irrelevance --limit 50 --against plain

eval-ci: setup  ## the gate: pinned weights, a fixed part of the sets (ACCEPT=1 keeps the run as the record)
	$(BIN)/goliath-local models pull smollm2-135m qwen2.5-coder-1.5b
	$(BIN)/python -m evals.ci $(if $(ACCEPT),--accept)

bench: setup  ## measure this machine against named peers
	$(BIN)/python -m bench

sizes:  ## the longest files and functions
	@$(PYTHON) scripts/sizes.py

clean:  ## remove the virtual environment and caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
