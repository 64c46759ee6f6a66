# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(shell find cpp src -name '*.hpp' -o -name '*.cpp' -o -name '*.toml')

.PHONY: demo test check format stub toolchain clean sanitize benchmark promises

demo: $(VENV)/.installed
	$(BIN)/sureleaf plan --p-max 0.75 --confidence 0.95
	$(BIN)/sureleaf reproduce zhang2024

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto

check: $(VENV)/.installed-check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $$(find cpp -name '*.hpp' -o -name '*.cpp')
	$(BIN)/python -m nanobind.stubgen -q -m sureleaf._kernel._core -o build/_core.pyi
	diff build/_core.pyi src/sureleaf/_kernel/_core.pyi  # if this fails: make stub
	$(BIN)/python -m pytest -q tests/api

format: $(VENV)/.installed-check
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $$(find cpp -name '*.hpp' -o -name '*.cpp')

stub: $(VENV)/.installed
	$(BIN)/python -m nanobind.stubgen -q -m sureleaf._kernel._core -o src/sureleaf/_kernel/_core.pyi

benchmark: $(VENV)/.installed-benchmark
	$(BIN)/python -m benchmarks.speed

# What every interval and test keeps of its promise, under known truth; some minutes.
promises: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.quality.promises docs/promises.md

sanitize:
	cpp/tests/sanitize

clean:
	rm -rf build $(VENV)

# What must be there already, said in a sentence where it is not.
toolchain:
	@command -v $(PYTHON) >/dev/null || { echo "Sureleaf needs Python 3.11 or later, and '$(PYTHON)' was not found. Install it, or say which to use: make PYTHON=/path/to/python3"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Sureleaf needs Python 3.11 or later; '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Say which to use: make PYTHON=/path/to/python3"; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing. On Debian and Ubuntu: apt-get install python3-venv"; exit 2; }
	@command -v $${CXX:-c++} >/dev/null || { echo "Sureleaf needs a C++20 compiler, and '$${CXX:-c++}' was not found. On Debian and Ubuntu: apt-get install g++; on macOS: xcode-select --install"; exit 2; }

$(VENV)/bin/python: | toolchain
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q "scikit-build-core>=0.11" "nanobind>=2.4" cmake ninja

# The package is installed in place: Python files are read from src, the kernel is built once
# and again whenever its sources change.
$(VENV)/.installed: $(SOURCES) | $(VENV)/bin/python toolchain
	$(BIN)/python -m pip install -q --no-build-isolation -e '.'
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install -q --no-build-isolation -e '.[test]'
	@touch $@

$(VENV)/.installed-check: $(VENV)/.installed-test
	$(BIN)/python -m pip install -q --no-build-isolation -e '.[test,check]'
	@touch $@

$(VENV)/.installed-benchmark: $(VENV)/.installed-test
	$(BIN)/python -m pip install -q --no-build-isolation -e '.[test,benchmark]'
	@touch $@
