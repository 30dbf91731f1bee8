# Every target sets itself up: all it needs is Python 3.11+, make and a package registry.
#   make demo     a private tour of a hospital's table
#   make test     the whole suite, but for the long forms of some tests
#   make slow     those long forms: another few minutes
#   make lint     ruff and mypy
#   make stubs    stub files and the docs' tables of parameters, after a change to a recipe's fields
#   make docs     the site, strictly, into build/site: open build/site/index.html
#   make dist     build the sdist, and from it the wheel, into dist/, with man pages and a bill of materials (SBOM)
#   make test-wheel    the fast tests against the installed wheel, on the newest Python of this machine that we claim
#   make test-oldest   the same on the oldest one, with the oldest scikit-learn and OpenDP that we claim
#   make fuzz     the encoding on 20,000 random typed tables (DRAWS=..., SEED=...)
#   make bench    the benchmarks
#   make test-engines  the full matrix of DuckDB, PostgreSQL and Spark, with kills: some ten minutes
#   make exports  exported models in every program they are for, on every real table (PRIVET_DATA): hours
#   make interrupts   300 times Ctrl-C in the middle of a fit: some ten minutes
#   make audit    every recipe, score, search and publication, exactly and by many fits, into docs/experiments/audits.md:
#                 an hour (FITS=4000 for each, WORKERS=2 for two cores; what is done is kept, so it can be interrupted)
#   make audit-libraries  diffprivlib and DP-EBM, in environments of their own: some twenty minutes
#   make kills    1,000 kills of fits with reservations: some ten minutes
#   make server-kills, server-timing, server-fuzz   the server's tests at length: an hour or so
#   make clean    remove the environment and all caches
# Settings: PYTHON=python3.12 (which interpreter), WORKERS=4 (test processes), UV= (do not use uv).

PYTHON ?= python3
# One more than the two cores that we have in mind: tests also wait, for servers, browsers and deadlines.
WORKERS ?= 3
# Tests start hundreds of Pythons: none need compile privet, or rewrite the tests, again.
unexport PYTHONDONTWRITEBYTECODE
UV ?= $(shell command -v uv 2>/dev/null)

VENV := .venv
COMMA := ,
BIN := $(VENV)/bin
# The product and what it needs; and all that tests need besides, which takes longer. A module is compiled when it is
# first imported: most of an installation never is.
PRODUCT := $(VENV)/.product
STAMP := $(VENV)/.installed
INSTALL = if [ -x $(BIN)/pip ]; then $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile $(1) -c constraints.txt; \
	else "$(UV)" pip install --quiet --python $(BIN)/python $(1) -c constraints.txt; fi

.PHONY: audit audit-libraries demo docs test test-engines exports slow lint stubs dist test-wheel test-oldest fuzz bench interrupts kills server-kills server-timing server-fuzz venv clean
.DEFAULT_GOAL := test

demo: $(PRODUCT)
	@$(BIN)/privet demo

# Kernels are compiled once, before the test processes would do it side by side.
test: $(STAMP)
	@$(BIN)/python tests/compile_kernels.py
	$(BIN)/python -m pytest -n $(WORKERS)

slow: $(STAMP)
	@$(BIN)/python tests/compile_kernels.py
	$(BIN)/python -m pytest -n $(WORKERS) -m slow

docs: $(STAMP)
	$(BIN)/python tools/site

# The wheel is built from the unpacked sdist, so the sdist holds all that a build needs.
dist: $(STAMP)
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --outdir dist experiments
	$(BIN)/python tools/sbom.py dist/privet.cdx.json
	$(BIN)/privet man --into dist/man

test-wheel: dist
	WORKERS=$(WORKERS) .ci/installed "$$($(PYTHON) .ci/pythons | tail -1)"

test-oldest: dist
	WORKERS=$(WORKERS) .ci/installed "$$($(PYTHON) .ci/pythons | head -1)" 'scikit-learn==1.6.*' 'opendp==0.14.*'

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src/privet experiments/src/privet_experiments

stubs: $(STAMP)
	$(BIN)/python tools/stubs.py

DRAWS ?= 20000
SEED ?= 1

fuzz: $(STAMP)
	PRIVET_FUZZ_DRAWS=$(DRAWS) PRIVET_FUZZ_SEED=$(SEED) $(BIN)/python -m pytest -n $(WORKERS) tests/tables/test_encoding_fuzz.py

bench: $(STAMP)
	@set -e; for f in benchmarks/[a-z]*.py; do \
	  test -e "$$f" || { echo "no benchmarks yet"; break; }; \
	  echo "== $$f"; $(BIN)/python "$$f"; done

# Every engine against the one in memory, at length, and what happens when a server or an executor dies.
test-engines: $(STAMP)
	$(BIN)/python -m pytest tests/engines -m "engines or not slow"

# Needs PRIVET_DATA, a PostgreSQL server and Java.
exports: $(STAMP)
	$(BIN)/python tests/models/export/matrix.py

FITS ?= 4000

audit: $(STAMP)
	@$(BIN)/python tests/compile_kernels.py
	$(BIN)/python tools/audits.py --fits $(FITS) --processes $(WORKERS)

audit-libraries: $(STAMP)
	$(BIN)/python tools/audit_libraries.py

kills: $(STAMP)
	PRIVET_KILLS=1000 $(BIN)/python -m pytest -q tests/privacy/test_killed_fits.py

# The server at length: kills, times of answers, requests by schemathesis.
server-kills: $(STAMP)
	PRIVET_SERVER_KILLS=1000 $(BIN)/python -m pytest -s -q tests/server/test_kills.py

server-timing: $(STAMP)
	PRIVET_TIMINGS=100 PRIVET_TIMINGS_RECORDS=100000 $(BIN)/python -m pytest -s -q tests/server/test_mutants.py -k time

server-fuzz: $(STAMP)
	PRIVET_SERVER_CASES=10000 $(BIN)/python -m pytest -s -q tests/server/test_fuzz.py

interrupts: $(STAMP)
	PRIVET_INTERRUPTS=300 $(BIN)/python -m pytest -s tests/cli/test_interrupts.py

venv: $(STAMP)

# A stamp is written last, so an interrupted installation starts again from an empty environment.
# pip stands in when uv fails: a registry mirror is often configured for pip alone.
$(PRODUCT): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("privet needs Python 3.11 or newer and $(PYTHON) is %d.%d: say make PYTHON=python3.11 $(MAKECMDGOALS)" % v[:2])'
	@echo "setting up $(VENV) (once)"
	@rm -rf $(VENV)
	@set -e; \
	if [ -n "$(UV)" ] && "$(UV)" venv --quiet --python "$(PYTHON)" $(VENV) && { $(call INSTALL,-e .); }; then :; \
	else \
	  rm -rf $(VENV); \
	  $(PYTHON) -m venv $(VENV); \
	  $(call INSTALL,-e .); \
	fi
	@touch $@

$(STAMP): $(PRODUCT) experiments/pyproject.toml
	@echo "adding what the tests need (once)"
	@$(call INSTALL,-e '.[test$(COMMA)browser$(COMMA)docs$(COMMA)duckdb$(COMMA)postgres$(COMMA)spark]' -e experiments)
	@touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests experiments -name __pycache__ -type d -prune -exec rm -rf {} +
