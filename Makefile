# Two commands matter: `make run` and `make test`. Both set up what they need, without root. `make help` lists all.
SHELL := /bin/sh
PYTHON ?= python3
UV := UV_PYTHON_DOWNLOADS=never .tools/bin/uv
# A person sees how far the first run is, which fetches what is needed; a program sees what goes wrong.
QUIET := $(shell test -t 2 || echo --quiet)
# Compiled bytecode is what makes commands and the daemon start fast.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test check lint types imports drift readme docs pages bare lock clean distclean site

.tools/bin/uv:
	$(PYTHON) -m pip install $(QUIET) --disable-pip-version-check --target .tools uv

# Development environment: everything the tests and linters need.
.venv/.dev: .tools/bin/uv requirements.lock pyproject.toml
	test -x .venv/bin/python || $(UV) venv $(QUIET) --python "$$(command -v $(PYTHON))" .venv
	$(UV) pip sync $(QUIET) --compile-bytecode --require-hashes requirements.lock
	$(UV) pip install $(QUIET) --no-deps -e .
	touch .venv/.dev .venv/.run

# Run-time environment: what the daemon needs and nothing else.
.venv/.run: .tools/bin/uv requirements-run.lock pyproject.toml
	test -x .venv/bin/python || $(UV) venv $(QUIET) --python "$$(command -v $(PYTHON))" .venv
	$(UV) pip install $(QUIET) --compile-bytecode --require-hashes -r requirements-run.lock
	$(UV) pip install $(QUIET) --no-deps -e .
	touch .venv/.run

help:  ## say what there is
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 12

run: .venv/.run  ## serve a shelf in .run/ on embedded defaults
	install -d -m 700 .run
	SHELFD_STARTED_BY="make run" .venv/bin/shelfd run --data-dir .run --socket .run/shelfd.sock --embedded-broker

test: .venv/.dev  ## run the test suite
	.venv/bin/python -m pytest -n auto $(PYTEST_ARGS)

check: lint types imports drift readme site test  ## everything CI checks but a bare machine

lint: .venv/.dev  ## style and format
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

types: .venv/.dev  ## types, by two checkers
	.venv/bin/mypy
	.venv/bin/basedpyright

imports: .venv/.dev  ## who imports whom
	.venv/bin/lint-imports

drift: .venv/.dev  ## generated documents still say what the models say
	.venv/bin/python docs/generate.py --check

# The pages whose output is what their commands print.
PAGES := moving knowledge sessions tending

readme: .venv/.dev  ## every command in README.md and the pages does what it says (needs jq)
	for page in readme $(PAGES); do .venv/bin/python docs/$$page.py --check || exit 1; done
	.venv/bin/python docs/shown.py

pages: .venv/.dev  ## write what the commands in README.md and the pages print now (needs jq)
	for page in readme $(PAGES); do .venv/bin/python docs/$$page.py || exit 1; done

site: .venv/.dev  ## the documentation as HTML, in dist/site
	.venv/bin/python -m sphinx --quiet --fail-on-warning --keep-going --builder html docs dist/site

docs: .venv/.dev  ## write the generated documents anew
	.venv/bin/python docs/generate.py

bare:  ## the README and all tests on a machine with nothing on it (needs root and debootstrap; some minutes)
	.ci/bare all

lock: .tools/bin/uv  ## resolve dependencies anew (needs the network)
	$(UV) lock --upgrade
	$(UV) export --quiet --no-emit-project --all-groups --all-extras --format requirements-txt --no-header --output-file requirements.lock
	$(UV) export --quiet --no-emit-project --no-default-groups --extra broker --extra llm --extra pii --format requirements-txt --no-header --output-file requirements-run.lock

clean:  ## remove what can be made again; what was remembered stays
	rm -rf .venv .tools .mypy_cache .ruff_cache .hypothesis dist

distclean:  ## remove the shelf of `make run` as well; asks first
	@if [ -e .run ] && [ "$(CONFIRM)" != yes ]; then \
		if ! [ -t 0 ]; then \
			echo "make: .run holds what was remembered; to delete that, too: make distclean CONFIRM=yes" >&2; exit 1; \
		fi; \
		printf 'Delete .run and everything remembered in it? Type yes: '; read -r answer; \
		if [ "$$answer" != yes ]; then echo "nothing was deleted"; exit 1; fi; \
	fi
	rm -rf .run
	$(MAKE) --no-print-directory clean
