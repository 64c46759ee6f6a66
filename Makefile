# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
ifeq ($(origin CXX),default)  # make's own default is g++, which need not be there
CXX := c++
endif
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq install
SOURCES := pyproject.toml CMakeLists.txt $(shell find cpp src -name '*.hpp' -o -name '*.cpp' -o -name '*.toml')

.PHONY: demo docs load interrupts test python-test test-long coverage test-lowest test-newest wheel test-wheel fuzz mutation cpp-test check format stub pictures notebooks toolchain clean sanitize sanitize-address benchmark promises

demo: $(VENV)/.installed-demo
	@mkdir -p demo
	$(BIN)/sureleaf report examples/credit-g.csv --target class --label bad=default --label good=repaid --cost "0,200;100,0" --unit € -o demo/credit-g-report.html
	$(BIN)/sureleaf reproduce zhang2024 --figures demo
	@echo
	@echo "Open demo/credit-g-report.html in a browser. Then try:"
	@echo "  $(BIN)/sureleaf report YOUR.csv --target COLUMN"
	@echo "  $(BIN)/sureleaf plan --p-max 0.6:0.9 --rows 50"
	@echo "  $(BIN)/sureleaf --help"

# One process per core, each with a stretch of neighbouring tests, which share their fixtures.
PARALLEL := -n auto --dist worksteal

# Every process that a test starts would compile the sources anew if they were not kept compiled.
export PYTHONDONTWRITEBYTECODE :=

# The C++ tests are compiled while the Python tests wait for the browser and for processes.
# COVERAGE=1 counts lines and branches, and fails below the share in pyproject.toml.
test: $(VENV)/.installed-test
	@$(MAKE) --no-print-directory -j 2 cpp-test python-test

python-test: $(VENV)/.installed-test
	@rm -rf build/coverage && mkdir -p build/coverage
	$(BIN)/python $(if $(COVERAGE),-m coverage run )-m pytest $(PARALLEL) -m "not slow"
	$(if $(COVERAGE),$(BIN)/python -m coverage combine -q && $(BIN)/python -m coverage report)

# All tests with all their examples and runs, and the naive twins on large tables.
test-long: $(VENV)/.installed-test cpp-test
	SURELEAF_LONG_TESTS=1 $(BIN)/python -m pytest $(PARALLEL)

coverage:
	$(MAKE) test COVERAGE=1

# With the lowest versions that pyproject.toml declares, in an environment of its own: the tests of
# everything that meets another library.
LOWEST := .venv-lowest
test-lowest: $(BIN)/python
	@mkdir -p build
	$(BIN)/python -m tests.lowest > build/lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip -qq install "scikit-build-core>=0.11" "nanobind>=2.4" cmake ninja
	CXX="$(CXX)" $(LOWEST)/bin/python -m pip -qq install --no-build-isolation -c build/lowest.txt '.[test]'
	$(LOWEST)/bin/python -m pytest $(PARALLEL) -m "not slow" tests/files tests/table tests/exports tests/model tests/auditing tests/studies

# With the newest versions that pip finds, in an environment of its own: all tests.
NEWEST := .venv-newest
test-newest: $(BIN)/python
	$(PYTHON) -m venv $(NEWEST)
	CXX="$(CXX)" $(NEWEST)/bin/python -m pip -qq install --upgrade --upgrade-strategy eager '.[test]'
	$(NEWEST)/bin/python -m pytest $(PARALLEL) -m "not slow"

# The source archive and the wheel, in dist/.
wheel: $(BIN)/python
	$(PIP) build
	rm -rf dist
	CXX="$(CXX)" $(BIN)/python -m build --outdir dist . > /dev/null
	@ls -l dist

# All tests against the wheel, in an environment of its own without the source tree on its path.
RELEASED := .venv-wheel
test-wheel: wheel
	rm -rf $(RELEASED)
	$(PYTHON) -m venv $(RELEASED)
	$(RELEASED)/bin/python -m pip -qq install "$$(ls dist/*.whl)[test]"
	$(RELEASED)/bin/python -m pytest $(PARALLEL) -m "not slow"

# Hostile input: damaged files and wrong calls, ten minutes by default (MINUTES=60: an hour), the
# kernel under the address and undefined-behaviour sanitizers for a quarter of them.
MINUTES := 10
SANITIZED := build/sanitized
fuzz: $(VENV)/.installed-test
	$(BIN)/cmake -S . -B $(SANITIZED) -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER="$(CXX)" \
	  -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DPython_EXECUTABLE=$(abspath $(BIN)/python) \
	  -DSURELEAF_SANITIZE=address,undefined >/dev/null
	$(BIN)/cmake --build $(SANITIZED) >/dev/null
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	  SURELEAF_FUZZ_KERNEL=$$(ls $(SANITIZED)/_core*.so) \
	  $(BIN)/python -m tests.fuzz --minutes $$(( ($(MINUTES) + 3) / 4 )); sanitized=$$?; \
	$(BIN)/python -m tests.fuzz --minutes $$(( $(MINUTES) * 3 / 4 )) && exit $$sanitized

# Small changes of the formulas (pyproject.toml says which), one at a time: the tests must notice each.
# An hour or two; a run that was stopped goes on where it was. MUTANTS='sureleaf.levels.nodes*' for
# some of them. Not against the installed package in place, whose files would be found first.
MUTATED := .venv-mutation
mutation: | toolchain
	$(PYTHON) -m venv $(MUTATED)
	CXX="$(CXX)" $(MUTATED)/bin/python -m pip -qq install '.[test]' "mutmut>=3.8" "pytest<9"
	@mkdir -p mutants/src/sureleaf/_kernel
	cp $(MUTATED)/lib/python3*/site-packages/sureleaf/_kernel/_core*.so mutants/src/sureleaf/_kernel/
	$(MUTATED)/bin/python -m mutmut run $(MUTANTS)
	$(MUTATED)/bin/python -m mutmut results

# The kernel's own tests, without Python.
cpp-test: $(BIN)/python
	CXX="$(CXX)" cpp/tests/run plain

check: $(VENV)/.installed-check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/basedpyright
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

pictures: $(VENV)/.installed-test
	$(BIN)/python docs/draw_leaves.py > docs/leaves.svg
	$(BIN)/python docs/draw_plots.py docs/plots.png
	$(BIN)/python docs/draw_report.py > docs/report.png
	$(BIN)/python docs/draw_doors.py

# The documentation site, in build/docs/index.html. A warning is an error: a link that leads nowhere,
# a name that does not exist, a page that no other page lists.
docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -q -W --keep-going -b html -d build/doctrees docs build/docs

# Run the notebooks of examples/ and store what they print.
notebooks: $(VENV)/.installed-docs
	$(BIN)/python docs/notebook_pages.py

benchmark: $(VENV)/.installed-benchmark
	$(BIN)/python -m benchmarks.speed

# Many threads, fits, columns, classes, leaves and rows; about ten minutes.
load: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.load

# How long long operations go on after Ctrl-C; about ten minutes.
interrupts: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.interrupts

# What every interval and test keeps of its promise, under known truth; some minutes.
promises: $(VENV)/.installed-benchmark
	$(BIN)/python -m benchmarks.quality.promises

# Under the address and undefined-behaviour sanitizers; then under the thread sanitizer, too.
sanitize-address: $(BIN)/python
	CXX="$(CXX)" cpp/tests/run address,undefined

sanitize: sanitize-address
	CXX="$(CXX)" cpp/tests/run thread

clean:
	rm -rf build demo dist mutants $(VENV) $(LOWEST) $(NEWEST) $(RELEASED) $(MUTATED)

# What must be there already, said in a sentence where it is not.
HEADERS := import sys, sysconfig, pathlib; sys.exit(not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists())
toolchain:
	@command -v $(PYTHON) >/dev/null || { echo "Sureleaf needs Python 3.11 or later, and '$(PYTHON)' was not found. Install it, or say which to use: make PYTHON=/path/to/python3"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Sureleaf needs Python 3.11 or later; '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Say which to use: make PYTHON=/path/to/python3"; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing. On Debian and Ubuntu: apt-get install python3-venv"; exit 2; }
	@$(PYTHON) -c '$(HEADERS)' || { echo "Python's C headers are missing. On Debian and Ubuntu: apt-get install python3-dev"; exit 2; }
	@command -v $(CXX) >/dev/null || { echo "Sureleaf needs a C++20 compiler, and '$(CXX)' was not found. On Debian and Ubuntu: apt-get install g++; on macOS: xcode-select --install"; exit 2; }
	@echo '#include <span>' | $(CXX) -std=c++20 -fsyntax-only -x c++ - 2>/dev/null || { echo "Sureleaf needs a C++20 compiler; '$(CXX)' is too old: $$($(CXX) --version | head -n 1). Say which to use: make CXX=/path/to/g++"; exit 2; }

$(BIN)/python: | toolchain
	@echo "Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@echo "Downloading the build tools, up to a minute"
	@$(PIP) --upgrade pip
	@$(PIP) "scikit-build-core>=0.11" "nanobind>=2.4" cmake ninja "setuptools>=70.1"

# The package is installed in place: Python files are read from src, the kernel is built once
# and again whenever its sources change. Builds are not isolated, so what dependencies without a wheel
# (venn-abers, for the benchmarks) need to be built must be there: a setuptools that makes wheels.
EXTRAS-demo := [plot]
EXTRAS-test := [test]
EXTRAS-check := [test,check]
EXTRAS-docs := [docs]
EXTRAS-benchmark := [test,benchmark]
$(VENV)/.installed $(VENV)/.installed-demo $(VENV)/.installed-test $(VENV)/.installed-check $(VENV)/.installed-docs $(VENV)/.installed-benchmark: $(SOURCES) | $(BIN)/python toolchain
	@echo "Compiling the kernel and installing Sureleaf$(EXTRAS$(@:$(VENV)/.installed%=%)): a minute or two the first time, in silence"
	@CXX="$(CXX)" $(PIP) --no-build-isolation -e '.$(EXTRAS$(@:$(VENV)/.installed%=%))'
	@touch $@
