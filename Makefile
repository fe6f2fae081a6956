# The habits of this repository. `make` alone lists them.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# One environment in two steps: what the service needs, then what tests and checks need. Each step is repeated
# whenever pyproject.toml changes.
READY := .venv/.ready
READY_DEV := .venv/.ready-dev
FUZZ_SECONDS ?= 1200
# Scripts of tests/ find what tests share, as pytest does.
WITH_SUPPORT := PYTHONPATH=tests:tests/support $(BIN)/python

.PHONY: help install run test test-lowest lint lint-page check format openapi readings keep-schema fuzz soak bench screenshots
.DELETE_ON_ERROR:
help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(READY_DEV)  ## make the environment (.venv) with what tests and checks need
$(READY): pyproject.toml
	@echo "Creating .venv ..."
	@$(PYTHON) -m venv .venv
	@echo "Installing the service ..."
	@$(PIP) --editable .
	@touch $@
# pip before 25.1 has no --group.
$(READY_DEV): $(READY)
	@echo "Installing what tests and checks need ..."
	@$(PIP) --upgrade "pip>=25.1"
	@$(PIP) --group dev
	@$(BIN)/python -m compileall -q journal_api
	@touch $@

run: $(READY)  ## start the journal on 127.0.0.1:8000, print a link that opens its page signed in
	@echo "Starting the journal ..."
	@$(BIN)/journal-api serve --first-key

# The tests start many processes: let them compile the package once, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

test: $(READY_DEV)  ## run every test, or TESTS: a room of the package has its tests in the folder of its name
	$(BIN)/python -m pytest -n auto --dist worksteal $(TESTS)

# Every dependency at the version that its bound names; what belongs to development alone stays new.
LOWEST := .venv-lowest
$(LOWEST)/.ready: pyproject.toml tests/lowest.py
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(PYTHON) tests/lowest.py < pyproject.toml > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(LOWEST)/constraints.txt \
	  --editable . --group dev
	@touch $@

test-lowest: $(LOWEST)/.ready  ## run every test, or TESTS, with the oldest dependencies that pyproject.toml allows
	$(LOWEST)/bin/python -m pytest -n auto $(TESTS)

# What checks the page comes from npm; a machine without npm, or npm without a registry, does not check it.
PAGE_TOOLS := tests/javascript
lint-page:
	@cd $(PAGE_TOOLS); \
	if command -v npm > /dev/null && { [ node_modules/.ready -nt package-lock.json ] \
	  || { npm ci --silent --ignore-scripts 2> /dev/null && touch node_modules/.ready; }; }; \
	then npm run --silent check; \
	else echo "npm cannot install prettier and TypeScript here: the page is not checked"; fi

lint: $(READY_DEV) lint-page  ## ruff, mypy --strict, import-linter; prettier and tsc for the page
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test  ## lint, then test

format: $(READY_DEV)  ## let ruff and prettier write it properly
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	npm --prefix $(PAGE_TOOLS) run --silent format

fuzz: $(READY_DEV)  ## send the service random requests for 20 minutes, or FUZZ_SECONDS
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/python -m pytest -rP tests/openapi/test_fuzz.py

soak: $(READY_DEV)  ## prove docs/reliability.md in full numbers (an hour, 20 minutes of it fuzz), or TESTS of it
	JOURNAL_SOAK=1 $(BIN)/python -m pytest -m "promise or soak" -rs $(TESTS)

bench: $(READY_DEV)  ## measure what a trader waits for, in journals of three sizes, in half an hour; or BESIDE TradeTally
	$(WITH_SUPPORT) tests/bench.py $(BESIDE)

openapi: $(READY_DEV)  ## write journal_api/openapi/openapi.json, unless it takes something away from v1
	$(WITH_SUPPORT) tests/write_openapi.py
	$(WITH_SUPPORT) tests/page_enums.py

readings: $(READY_DEV)  ## record what is read of the unusual files in tests/data
	$(WITH_SUPPORT) tests/trade_files/test_unusual_files.py

keep-schema: $(READY_DEV)  ## record the triggers, views and indexes of this schema version, before the next one changes them
	$(WITH_SUPPORT) -m released_schemas

screenshots: $(READY_DEV)  ## photograph the page with the example journal: docs/page-*.png
	$(WITH_SUPPORT) tests/screenshots.py
