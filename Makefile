# Every target does its own set-up: the first makes .venv from a bare Python 3.11+, the next ones find the stamp.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.paraform-installed
PIP := $(BIN)/python -m pip --disable-pip-version-check

define WRITE_PINS
import json, sys
found = [(item["metadata"]["name"], item["metadata"]["version"]) for item in json.load(sys.stdin)["install"]]
pins = [name + "==" + version.split("+")[0] for name, version in found if not name.startswith("paraform")]
print("# Every version that the Makefile installs; regenerate with: make constraints")
print("\n".join(sorted(pins, key=str.lower)))
endef
export WRITE_PINS

.DEFAULT_GOAL := help
.PHONY: help demo test lint format docs bench wheel constraints clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

demo: $(STAMP) ## Paraphrase, embed and interpolate sentences with the embedded models
	@$(BIN)/paraform fetch smollm2 || echo "without it rules alone answer"
	@$(BIN)/python examples/demo.py

test: lint ## Lint, check types, run the tests of the library, then of the laboratory
	$(BIN)/python -m pytest -n logical --maxprocesses 4 --dist worksteal tests
	$(BIN)/python -m pytest -n logical --maxprocesses 4 --dist worksteal papers/tests

lint: $(STAMP) ## Check style (ruff) and types (mypy)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(STAMP) ## Format the code and mend what ruff can mend
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(STAMP) ## Build the documentation into site/
	$(PIP) install -qq -c constraints.txt -e '.[docs]'
	$(BIN)/mkdocs build --strict

bench: $(STAMP) ## Run the benchmarks, each against its peer, and make the page of figures anew
	$(BIN)/python benchmarks/run.py

wheel: $(STAMP) ## Build both wheels into dist/ and try them in fresh environments, without a network
	$(BIN)/python tools/wheel.py dist

# Every extra.
constraints: $(STAMP) ## Resolve the newest versions of everything and write them to constraints.txt
	$(PIP) install -qq --dry-run --ignore-installed --report pins.unfinished \
	  setuptools torch==2.13.0 '.[offline,mine,train,eval,elmo,onnx,sentencepiece,cluster,search,serve,demo,spacy,stanza,corenlp,docs,dev]'
	$(BIN)/python -c "$$WRITE_PINS" < pins.unfinished > constraints.unfinished
	mv constraints.unfinished constraints.txt
	rm pins.unfinished

clean: ## Remove .venv and everything that was built or cached
	rm -rf .venv build dist site src/*.egg-info papers/src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("paraform needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; name another: make PYTHON=python3.11 …")'
	$(PYTHON) -m venv .venv

# torch goes first and alone: a machine that has its own build of that version (CPU, CUDA) then keeps it.
$(STAMP): pyproject.toml papers/pyproject.toml constraints.txt | $(BIN)/pip
	@echo "Setting up .venv: a few minutes the first time"
	$(PIP) install -qq -c constraints.txt torch==2.13.0
	$(PIP) install -qq -c constraints.txt -e '.[offline,train,eval,demo,dev]' -e papers
	@touch $@
