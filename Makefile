# Set-up and checks. Needs python3 (3.11 or newer), make and git; everything else is installed from the lock files.
#
#   make run [ARGS="..."]   start the application on this directory       make test         every check that CI runs
#   make demo               a guided session, no key and no network       make lint         style, types, layers
#   make bench              speed, as ratios measured side by side        make screenshots  pictures from real sessions
#   make lock               pin the dependencies of pyproject.toml anew   make docs     write the pages that follow from the program

PYTHON ?= python3
VENV ?= .venv
TEST_VENV ?= $(VENV)-test
ARGS ?=

# Many tests wait for terminals and processes: one worker more than there are processors keeps those busy.
WORKERS ?= $(shell cores=$$(getconf _NPROCESSORS_ONLN); echo $$(( cores < 4 ? cores + 1 : 4 )))

SHELL := /bin/sh
FOLDERS := stet app core widgets
RUN := $(VENV)/bin/python
CHECK := $(TEST_VENV)/bin/python

# An environment is as new as the content of its lock files: the stamps carry its checksum.
RUN_STAMP := $(VENV)/installed-$(shell cat requirements.lock | cksum | tr ' ' '-')
TEST_STAMP := $(TEST_VENV)/installed-$(shell cat requirements.lock tests/requirements.lock | cksum | tr ' ' '-')

INSTALL := -m pip install --quiet --disable-pip-version-check --no-input --no-deps --no-compile --require-hashes

.PHONY: run demo test lint bench screenshots docs lock

run: $(RUN_STAMP)
	@$(RUN) -m compileall -q $(FOLDERS)
	@$(RUN) -m stet $(ARGS)

demo: $(RUN_STAMP)
	@$(RUN) -m compileall -q $(FOLDERS)
	@$(RUN) -m stet demo $(ARGS)

test: lint
	@$(CHECK) -m compileall -q $(FOLDERS)
	$(CHECK) -m pytest -q --numprocesses=$(WORKERS) --dist=worksteal $(ARGS)

lint: $(TEST_STAMP)
	$(CHECK) -m ruff check --quiet
	$(CHECK) -m ruff format --check --quiet
	$(CHECK) -m mypy
	$(CHECK) -c "from importlinter.cli import lint_imports_command; lint_imports_command()" --no-cache

bench: $(TEST_STAMP)
	@$(CHECK) -m compileall -q $(FOLDERS)
	@$(CHECK) -m tests.bench $(ARGS)

screenshots: $(TEST_STAMP)
	@$(CHECK) -m compileall -q $(FOLDERS)
	@$(CHECK) -m screenshots $(ARGS)

docs: $(TEST_STAMP)
	@$(CHECK) -m docs

COMPILE := UV_PYTHON_DOWNLOADS=never $(CHECK) -m uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header

lock: $(TEST_STAMP)
	$(COMPILE) --upgrade pyproject.toml --output-file requirements.lock
	$(COMPILE) --upgrade --group pyproject.toml:dev --constraints requirements.lock --output-file tests/requirements.lock

$(RUN_STAMP):
	$(call check_before,$(VENV))
	@echo "Making the environment in $(VENV) ..."
	@$(RUN) -c "import pip" 2>/dev/null || "$(PYTHON)" -m venv --clear "$(VENV)"
	@$(RUN) $(INSTALL) -r requirements.lock
	@$(call compile_installed,$(RUN))
	@rm -f $(VENV)/installed-* && touch $@

# Always from nothing, so that what the tests see is what the lock files say.
$(TEST_STAMP):
	$(call check_before,$(TEST_VENV))
	@echo "Making the environment of the tests in $(TEST_VENV) ..."
	@"$(PYTHON)" -m venv --clear "$(TEST_VENV)"
	@$(CHECK) $(INSTALL) -r requirements.lock -r tests/requirements.lock
	@$(call compile_installed,$(CHECK))
	@touch $@

# Compiled imports are twice as fast. Some packages carry templates that are no valid Python: they stay as they are.
compile_installed = $(1) -m compileall -q -j 0 "$$($(1) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" >/dev/null 2>&1 || true

# A fitting Python, and no folder of someone's that would be cleared.
define check_before
@command -v "$(PYTHON)" >/dev/null || { echo "$(PYTHON) was not found: install Python 3.11 or newer, or say make PYTHON=..." >&2; exit 1; }
@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "stet needs Python 3.11 or newer; $(PYTHON) is $$("$(PYTHON)" -V 2>&1). Say make PYTHON=python3.12, for one." >&2; exit 1; }
@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) lacks the venv module: install it (Debian and Ubuntu: apt install python3-venv)." >&2; exit 1; }
@test ! -e "$(1)" || test -e "$(1)/pyvenv.cfg" || { echo "$(1) is there and no virtual environment: choose another VENV." >&2; exit 1; }
endef
