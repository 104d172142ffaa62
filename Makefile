# The commands of the project; `make help` lists them.

BUILD := build
# Parallel jobs, as cores and memory allow. `make build JOBS=4` sets another number.
JOBS := $(shell scripts/jobs.sh)
export JOBS
# ccache finds cached objects after the checkout has been moved.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
# Without these, ccache does not cache what is compiled with precompiled headers.
export CCACHE_SLOPPINESS := pch_defines,time_macros
# It finds objects of another checkout; see cmake/PrecompiledHeaders.cmake.
export CCACHE_PCH_EXTSUM := 1
TOOLS := zero-opt zero-translate zeroc zero-run zero-sim zero-check

.PHONY: help setup configure build run test test-full bench bench-peers arm64 arm64-test-programs wheel wheel-test gpu-bundle docs \
  docs-setup format check-format clean
help:
	@echo "make run      install what is missing, build, and train a GPT-2 under ZeRO 0 to 3"
	@echo "make test     install what is missing, build, and run all tests"
	@echo "make test-full  the same with every combination of stage, precision and the rest"
	@echo "make bench    step and compile times"
	@echo "make bench-peers  the same beside its peers, which are installed (8 GiB)"
	@echo "make arm64    cross-compile the runtime for 64-bit ARM: $(BUILD)/arm64/install"
	@echo "make wheel    build the Python package with all it needs: $(BUILD)/wheel/dist"
	@echo "make gpu-bundle  make $(BUILD)/gpu-bundle, which tests and measures a machine with a GPU"
	@echo "make wheel-test  test it in a system that has nothing else (root)"
	@echo "make build    build everything into $(BUILD)/"
	@echo "make docs     the documentation as a web site, in $(BUILD)/site"
	@echo "make format   format the sources with clang-format"
	@echo "make check-format  list the sources that make format would change"
	@echo "make clean    remove $(BUILD)/; what was installed into .deps/ stays"

setup:
	@scripts/setup.sh
	@$(MAKE) -s --no-print-directory test/data/.restored

test/data/.restored: test/data/graphs.tar.xz scripts/test-data.py
	@.deps/venv/bin/python scripts/test-data.py
	@touch $@

configure: setup
	@test -f $(BUILD)/build.ninja || cmake --preset release

build: configure
	@cmake --build $(BUILD) --parallel $(JOBS)

run: configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target $(TOOLS)
	@scripts/run-demo.sh $(BUILD)

test: build docs-setup arm64-test-programs
	@scripts/test.sh $(BUILD)

test-full: build docs-setup arm64-test-programs
	@scripts/test.sh $(BUILD) full

bench: configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target $(TOOLS)
	@bench/run.sh $(BUILD)

bench-peers: configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target $(TOOLS)
	@bench/run.sh $(BUILD) peers

wheel: setup
	@scripts/wheel.sh

gpu-bundle: wheel
	@scripts/gpu-bundle.sh

wheel-test: gpu-bundle
	@scripts/wheel-test.sh

$(BUILD)/arm64/build.ninja: setup
	@scripts/setup-arm64.sh
	@test -f $@ || cmake --preset arm64 >/dev/null

# Everything for a board, in one directory.
arm64: $(BUILD)/arm64/build.ninja
	@cmake --build $(BUILD)/arm64 --parallel $(JOBS)
	@cmake --install $(BUILD)/arm64 --strip --prefix $(BUILD)/arm64/install >/dev/null
	@ls -l $(BUILD)/arm64/install/bin $(BUILD)/arm64/install/lib | grep zero

# What the tests run under emulation. Without it they are left out: not every mirror has packages for
# arm64.
arm64-test-programs: setup
	@if scripts/setup-arm64.sh; then \
	  $(MAKE) -s --no-print-directory $(BUILD)/arm64/build.ninja && \
	  cmake --build $(BUILD)/arm64 --parallel $(JOBS) --target zero-run zero_mini; \
	else echo "make: the tests of ARM are left out" >&2; fi

docs-setup:
	@scripts/site/setup.sh

# With a page of --report if zeroc has been built.
docs: docs-setup
	@scripts/site/build.sh $(BUILD)/site $(wildcard $(BUILD)/bin/zeroc)

check-format:
	@scripts/check-format.sh

format:
	@git ls-files '*.cpp' '*.h' '*.c' | xargs clang-format-22 -i

clean:
	@rm -rf $(BUILD)
