# Needs python3 (3.11 or newer) and pip alone; everything else is set up in this folder.
UV_VERSION := 0.13.8
UV := .tools/bin/uv
RUN := $(UV) run --locked
export UV_PYTHON_DOWNLOADS := never
# Tests start many processes: what one has compiled to byte code the others read.
unexport PYTHONDONTWRITEBYTECODE

PYTEST := pytest --numprocesses=auto
# A file's tests stay in one process: its kernels are compiled and its laws computed once.
FAST := --dist=loadfile -m "not slow"
PYTHON ?= 3.13
PACKAGES := $(notdir $(wildcard packages/*))

.PHONY: demo screens pages test test-fast test-of test-slow test-python test-lowest spark witness check types style format docs report notebooks dist clean

demo: .venv
	$(RUN) --no-default-groups --extra standard python examples/demo.py dpselect-demo.png

test: style
	$(MAKE) --no-print-directory --jobs=2 types test-fast

test-fast: .venv
	$(RUN) $(PYTEST) $(FAST)

# The fast tests of one room or package: make test-of ROOM=keys
test-of: .venv
	$(RUN) pytest -q -m "not slow" $(firstword $(wildcard tests/$(ROOM) packages/$(ROOM)/tests) $(ROOM))

test-slow: docs
	$(RUN) $(PYTEST) --dist=loadgroup -m slow

# What commands print, at tests/screens; the tests compare it.
screens: .venv
	$(RUN) python tests/support/screens.py

# What pages say that commands print.
pages: .venv
	PYTHONPATH=. $(RUN) python tests/support/pages.py

# PYTHON is a version or a path; the locked versions of all packages.
test-python: $(UV)
	UV_PROJECT_ENVIRONMENT=.venv-python $(RUN) --python $(PYTHON) $(PYTEST) $(FAST)

# The lowest versions that pyproject.toml allows, beside the libraries that ask for them.
test-lowest: $(UV)
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .venv-lowest
	$(UV) pip install --quiet --python .venv-lowest --resolution lowest-direct --group dev \
		--editable . $(PACKAGES:%=--editable packages/%) --editable studies \
		'opendp[polars]' 'diffprivlib>=0.6.6'
	.venv-lowest/bin/$(PYTEST) $(FAST)

# The tests of Spark in its own Java process, which plain tests run on Sail, and on a cluster
# of a master and two workers on this machine.
spark: .venv
	DPSELECT_SPARK=java $(RUN) pytest -m spark

# Auditors of others, fetched at one commit each, on our releases.
witness: .venv
	$(RUN) --with etils --with tensorboard --with torch \
		--with dp-accounting --with tqdm python benchmarks/witness.py

check: style types

style: .venv
	$(RUN) ruff format --check
	$(RUN) ruff check
	$(RUN) lint-imports

types: .venv
	$(RUN) mypy

format: .venv
	$(RUN) ruff format
	$(RUN) ruff check --fix

docs: .venv
	$(RUN) python -m site_build

# The technical report, printed from its one page; needs Chromium.
report: docs
	chromium --headless --no-sandbox --no-pdf-header-footer \
		--print-to-pdf=site/report/dpselect-report.pdf file://$(CURDIR)/site/report/print/index.html

notebooks: .venv
	$(RUN) python -m site_build.notebooks docs/notebooks/*.ipynb

# Twice, and the same bytes; with a bill of materials of what is locked.
dist: .venv
	rm -rf dist
	$(UV) build --quiet --all-packages --out-dir dist/first
	$(UV) build --quiet --all-packages --out-dir dist
	for file in dist/first/dpselect*; do cmp $$file dist/$${file##*/} || exit 1; done
	rm -r dist/first
	$(UV) export --quiet --locked --package dpselect --all-extras --no-dev \
		--format cyclonedx1.5 --output-file dist/dpselect.cdx.json

clean:
	rm -rf .tools .venv .venv-lowest .venv-python build dist site

.venv: $(UV) uv.lock
	$(UV) venv --allow-existing --quiet
	@touch .venv

# --target works where python3 has no venv module and where the system forbids pip.
$(UV):
	python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
		--target .tools uv==$(UV_VERSION)
