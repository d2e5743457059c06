# Everything that is done with a checkout. `make` alone lists it.

PYTHON ?= python3
# More arguments for pytest: make test ARGS="-k retry"
ARGS ?=

BIN := .venv/bin
INSTALLED := .venv/.installed

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup check format test demo playground backends dashboards bench lock clean

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(INSTALLED) ## Make .venv and install loopspan with all it needs (PYTHON=python3)

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "$(PYTHON) is older than Python 3.11; name a newer one: make setup PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -c constraints.txt
	@touch $@

check: $(INSTALLED) ## Check format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(INSTALLED) ## Format the code and mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: $(INSTALLED) ## Run the tests (ARGS="-k retry")
	$(BIN)/pytest $(ARGS)

demo: $(INSTALLED) ## Trace one run of the embedded model: no account, no key
	$(BIN)/loopspan run "What time is it, and which Python is this?" --model demo:

playground: $(INSTALLED) ## Serve the page with the example catalogue: no account, no key
	$(BIN)/loopspan playground --catalogue examples/catalogue/loopspan.toml --config shop \
	    --prompt "Where is order 1002, and can I send it back?"

backends: $(INSTALLED) ## Make the backends of the tests ahead (needs Go and a C++ compiler)
	$(BIN)/python -m tests.backends.build jaeger collector
	$(BIN)/python -m tests.backends.local_model

dashboards: $(INSTALLED) ## Write the dashboards and alert rules from the names of the metrics
	$(BIN)/python -m dashboards.generate

bench: $(INSTALLED) ## Measure what tracing costs, as ratios (benchmarks/results.json)
	$(BIN)/python -m benchmarks

lock: ## Pin the newest releases in constraints.txt
	@set -e; fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(PYTHON) -m venv "$$fresh"; \
	"$$fresh/bin/python" -m pip install --quiet --disable-pip-version-check -e '.[dev]'; \
	"$$fresh/bin/python" -m pip freeze --exclude-editable > "$$fresh/pins"; \
	if grep -n '[@/]' "$$fresh/pins"; then echo "these pins hold a place, not a version" >&2; exit 1; fi; \
	{ echo "# Made by \`make lock\` with $$($(PYTHON) --version): what pip gives for '.[dev]'."; \
	  cat "$$fresh/pins"; } > constraints.txt; \
	echo "constraints.txt: $$(wc -l < "$$fresh/pins") pins"

clean: ## Remove .venv, caches and builds
	rm -rf .venv .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
