# Needs python3 (3.11 to 3.13) and pip alone; everything else is set up in this folder.
UV_VERSION := 0.13.8
UV := .tools/bin/uv
RUN := $(UV) run --locked
export UV_PYTHON_DOWNLOADS := never

.PHONY: demo test test-slow check format docs benchmarks clean

demo: .venv
	$(RUN) --no-default-groups --extra standard dpselect demo

test: check
	$(RUN) pytest --numprocesses=auto --dist=loadgroup -m "not (slow or spark)"

test-slow: .venv
	$(RUN) pytest --numprocesses=auto --dist=loadgroup -m "slow or spark"

check: .venv
	$(RUN) ruff format --check
	$(RUN) ruff check
	$(RUN) mypy
	$(RUN) lint-imports
	$(RUN) python -m site_build

format: .venv
	$(RUN) ruff format
	$(RUN) ruff check --fix

docs: .venv
	$(RUN) python -m site_build

clean:
	rm -rf .tools .venv build site

.venv: $(UV) uv.lock
	$(UV) venv --allow-existing --quiet
	@touch .venv

# --target works where python3 has no venv module and where the system forbids pip.
$(UV):
	python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
		--target .tools uv==$(UV_VERSION)
