# Two commands do everything on a machine with python3 (3.11 to 3.14), make and git:
#   make figures   set up, run every notebook, renew figures/
#   make test      set up, run the unit tests, re-execute every notebook against its stored outputs
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
PAGES  := $(VENV)/.pages
# its modules, not the scripts beside it: pip lets a shell read the path of the checkout in those
# an environment that was half made, moved or copied here, or whose Python is gone, is made anew
SOUND := $(shell test -f $(STAMP) && { test ! -s $(STAMP) || test "$$(cat $(STAMP))" = "$$(pwd -P)"; } && $(BIN)/python -c 'import pip' 2>/dev/null && echo yes)
# one more than the cores: a kernel that starts or stops, or a test that waits, leaves its core idle
JOBS   ?= 3
TESTS  := tests ldpnb README.md
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export UV_SYSTEM_CERTS := true
# without compiled modules every kernel would compile its imports anew, which takes longer than most notebooks
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: figures test lint thorough nox bench site lab lock mutants clean help always

figures: $(STAMP) ## run every notebook and renew figures/
	@$(BIN)/python -m ldpnb run --jobs $(JOBS)

test: $(STAMP) $(if $(CI),$(PAGES)) ## check style and types, run the unit tests, compare every notebook with its stored outputs
	@mkdir -p build; $(MAKE) --no-print-directory lint >build/lint.log 2>&1 & lint=$$!; \
	$(BIN)/python -m pytest -n $(JOBS); tests=$$?; \
	wait $$lint || { cat build/lint.log >&2; echo "make lint failed" >&2; exit 1; }; exit $$tests

lint: $(STAMP) ## check style, types, the docstrings of public names, and the imports between folders
	@mkdir -p build
	@$(BIN)/python -m ruff check --quiet
	@$(BIN)/python -m ruff format --check --quiet
	@$(BIN)/python -m mypy --no-error-summary
	@$(BIN)/python tests/docstrings.py
	@$(BIN)/python -c 'from importlinter.cli import lint_imports_command as c; c()' --no-cache --no-logo >build/imports.log || { cat build/imports.log; exit 1; }

bench: $(STAMP) build/peers/.installed ## time every task, beside other libraries and the least that this machine needs
	@$(BIN)/python tests/bench/bench.py build/peers/bin/python

thorough: lint $(PAGES) ## run every test, including those marked nightly, in three random orders (hours)
	@LDPNB_THOROUGH=1 $(BIN)/python -m pytest -n $(JOBS) -m "" --random-order-seed=1 $(TESTS)
	@$(BIN)/python -m pytest -n $(JOBS) --random-order-seed=2 $(TESTS)
	@$(BIN)/python -m pytest -n $(JOBS) --random-order-seed=3 $(TESTS)
	@$(BIN)/python -m pytest -n $(JOBS) notebooks

nox: $(STAMP) ## check the numbers on other Pythons, dependencies and code paths (an hour); ARGS="-s ..." picks some
	@$(BIN)/python -m uv tool run nox $(ARGS)

mutants: $(STAMP) ## change formulas of ROOM=mechanisms in SAMPLE=40 small ways (SEED=0), and see whether tests notice
	@$(BIN)/python -m uv tool run --from cosmic-ray==8.7.0 python tests/mutants/sample.py \
	  $(or $(ROOM),mechanisms) $(or $(SAMPLE),40) $(or $(SEED),0)

build/peers/.installed: tests/bench/peers.txt | $(STAMP)
	@$(PYTHON) -m venv build/peers
	@$(BIN)/python -m uv pip install --quiet --python build/peers/bin/python -r tests/bench/peers.txt \
	  || build/peers/bin/python -m pip install --quiet -r tests/bench/peers.txt
	@touch $@

site: $(PAGES) ## build the site into build/site, which opens from disk; LITE=1 adds links to run notebooks in a browser
	@test -z "$(LITE)" || { $(BIN)/python -m uv pip install --quiet --python $(BIN)/python --constraint requirements.lock \
	    jupyterlite-sphinx==0.23.0 jupyterlite-pyodide-kernel==0.8.6 \
	  && $(BIN)/python -m hatchling build --target wheel --directory build/lite/pypi >/dev/null; }
	@LDPNB_LITE=$(LITE) $(BIN)/python -m ldpnb.site

lab: $(STAMP) ## open JupyterLab on the tour; as root: make lab ARGS=--allow-root
	@test "$$(id -u)" != 0 || test -n "$(ARGS)" || { echo "JupyterLab does not run as root by default; to run it all the same, type: make lab ARGS=--allow-root"; exit 2; }
	@$(BIN)/python -m jupyterlab --log-level=ERROR --LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb $(ARGS)

lock: $(STAMP) ## resolve the dependencies again into requirements.lock
	@$(BIN)/python -m uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url --extra notebooks --group dev pyproject.toml --output-file requirements.lock
	@$(BIN)/python -m uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url --group pyproject.toml:site --constraint requirements.lock --output-file requirements-site.lock
	@! grep -nE 'https?://|file:' requirements.lock requirements-site.lock

clean: ## remove the environment and everything that is not committed
	rm -rf $(VENV) build

help: ## show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s  %s\n", $$1, $$2}'

# the stamp is newer than the lock only after every step has passed, so a broken set-up is repeated
$(STAMP): requirements.lock pyproject.toml $(if $(SOUND),,always)
	@command -v $(PYTHON) >/dev/null || { echo "ldpnb needs Python 3.11 to 3.14, but $(PYTHON) was not found (Debian, Ubuntu: apt-get install python3 python3-venv; macOS: brew install python)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 15) else "ldpnb needs Python 3.11 to 3.14, but this is %d.%d; try: make $(MAKECMDGOALS) PYTHON=python3.13" % sys.version_info[:2])'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "Python's venv module is missing (Debian, Ubuntu: apt-get install python3-venv)"; exit 1; }
	@echo "setting up $(VENV) (about half a minute, 1 GB)"
	@test -n "$(SOUND)" || $(PYTHON) -m venv --clear $(VENV)
	@# uv installs ten times faster, and not by what holds for making the lock when it starts elsewhere; pip, which honours pip.conf, is the fall-back
	@{ $(BIN)/python -m pip install --quiet uv \
	  && $(BIN)/python -m uv pip install --quiet --directory / --python "$$PWD/$(BIN)/python" \
	    --require-hashes -r "$$PWD/requirements.lock"; } >$(VENV)/uv.log 2>&1 \
	  || $(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q ldpnb
	@# not pip's own script, whose first line is the path of the checkout, which may hold blanks or be too long;
	@# -P: a random.py in the folder of the caller is not imported
	@printf '#!/bin/sh\nexec "$$(dirname -- "$$0")/python" -P -m ldpnb "$$@"\n' >$(BIN)/ldpnb && chmod +x $(BIN)/ldpnb
	@# JupyterLab saves when it is asked to, so that reading a notebook never writes it, and asks for no news
	@mkdir -p $(VENV)/share/jupyter/lab/settings
	@printf '%s\n' '{"@jupyterlab/docmanager-extension:plugin": {"autosave": false},' \
	  ' "@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}' \
	  >$(VENV)/share/jupyter/lab/settings/overrides.json
	@pwd -P >$(STAMP)

# what builds pages and drives a browser over them, beside the rest
$(PAGES): $(STAMP) requirements-site.lock
	@$(BIN)/python -m uv pip install --quiet --directory / --python "$$PWD/$(BIN)/python" \
	    --require-hashes -r "$$PWD/requirements-site.lock" >$(VENV)/uv.log 2>&1 \
	  || $(BIN)/python -m pip install --quiet --require-hashes -r requirements-site.lock
	@touch $@
