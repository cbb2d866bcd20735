# Two commands do all: `make run` sets up and trains on the built-in digits, `make test` sets up and tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# An environment keeps the Python that made it.
ifeq ($(origin PYTHON),command line)
ifneq ($(wildcard $(BIN)/python),)
VERSION := -c 'import sys; print(*sys.version_info[:2], sep=".")'
ifneq ($(shell $(PYTHON) $(VERSION)),$(shell $(BIN)/python $(VERSION)))
$(error $(VENV) has Python $(shell $(BIN)/python $(VERSION)), not $(PYTHON): name another folder by VENV=, or remove it)
endif
endif
endif
DATA ?=
ARGS ?=

.PHONY: help browser coverage run test torch tf paddle triton exhaustive fast gpu on-gpu lowest lint types editor imports stubs check bench docs clean

# Lists the targets, each with the comment behind its name.
help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python tools/install.py --upgrade pip

$(VENV)/.run: pyproject.toml | $(BIN)/python
	@echo 'make: setting up $(VENV) with what the examples need; this is done once'
	@$(BIN)/python tools/install.py -e '.[examples]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo 'make: setting up $(VENV) with what tests and tools need'
	@$(BIN)/python tools/install.py -e '.[dev]'
	touch $@

# The real DALI is only an oracle for tests: without it (not on Linux x86-64, say) they are skipped.
$(VENV)/.oracle: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet -e '.[oracle]' || echo "no oracle here: its tests will be skipped"
	touch $@

run: export DATA := $(DATA)
run: $(VENV)/.run  ## sets up, then trains a small model on digits; DATA=folder takes your own pictures
	@$(BIN)/python examples/flax/classification.py $(if $(DATA),--data "$$DATA") $(ARGS)
	@echo
	@echo 'What next:'
	@echo '  make run DATA=folder       trains on your pictures, one subfolder for each class'
	@echo '  make run ARGS=--help       lists the options of the script, examples/flax/classification.py'
	@echo '  docs/getting_started.md    writes such a pipeline in ten lines; docs/recipes.md has more for JAX'
	@echo '  . $(VENV)/bin/activate        makes jdali your python; then python -m jdali --help'

test: $(VENV)/.oracle  ## sets up, then runs the tests; ARGS=tests/readers runs some
	# A worker that dies ends the run: xdist would wait forever for the files that it had.
	$(BIN)/python -m pytest -n 2 --dist loadfile --max-worker-restart=0 -m 'not exhaustive' $(ARGS)

# PyTorch is no part of `make test`: on Linux its wheels bring gigabytes of CUDA with them. PIP='--index-url ...' takes
# another build. Once it is installed, `make test` runs these tests as well.
torch: $(VENV)/.torch  ## the tests that need PyTorch, which it installs
	$(BIN)/python -m pytest -n 2 --dist loadfile -m 'not exhaustive' -k 'torch or policy_contents' $(ARGS)

$(VENV)/.torch: $(VENV)/.oracle
	$(BIN)/python -m pip install --quiet $(PIP) -e '.[torch]'
	touch $@

# Debian's chromium, for tests/viewer/test_browser.py. It needs root, or sudo.
browser:  ## installs chromium, in which the viewer is tested; PICTURES=1 draws those of docs/viewer.md and README anew
	@command -v chromium >/dev/null || { $(if $(filter 0,$(shell id -u)),,sudo )apt-get update -q && $(if $(filter 0,$(shell id -u)),,sudo )apt-get install -q -y --no-install-recommends chromium; }
ifdef PICTURES
	VIEWER_PICTURES=docs/images $(BIN)/python -m pytest -n 0 -q tests/viewer/test_browser.py
	$(BIN)/python tools/viewer_film.py
endif

# The same for TensorFlow and for PaddlePaddle.
tf: $(VENV)/.tf  ## the same for TensorFlow
	$(BIN)/python -m pytest tests/plugin/test_tf.py tests/engine/test_function_saved_model.py tests/docs $(ARGS)

paddle: $(VENV)/.paddle  ## the same for PaddlePaddle
	$(BIN)/python -m pytest tests/plugin/test_paddle.py $(ARGS)

$(VENV)/.tf $(VENV)/.paddle: $(VENV)/.%: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet $(PIP) -e '.[$*]'
	touch $@

exhaustive: $(VENV)/.oracle  ## all tests with all cases and XLA's optimizations, those of operators also with the programs for accelerators
	JDALI_TESTS_DRAW=all $(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)
	JDALI_TESTS_DRAW=all JDALI_TRACE_FOR=gpu $(BIN)/python -m pytest -n 2 --dist loadfile -m 'not exhaustive' $(or $(ARGS),tests/ops)

fast: $(VENV)/.dev  ## no slow tests, no oracle
	$(BIN)/python -m pytest -n 2 --dist loadfile -m 'not slow and not exhaustive and not oracle' $(ARGS)

# On one, in eight minutes; PIP='--no-index --find-links wheels' installs from a folder where there is no network.
gpu:  ## what needs an NVIDIA GPU: tests, values, times, DALI's backend beside; build/gpu.json and a table
	@if nvidia-smi -L 2>/dev/null; then $(MAKE) --no-print-directory on-gpu; \
	else echo "make gpu: there is no NVIDIA GPU here (nvidia-smi lists none), so nothing was run"; fi

on-gpu: $(VENV)/.cuda
	$(BIN)/python benchmarks/gpu.py $(ARGS)

$(VENV)/.cuda: $(VENV)/.oracle
	$(BIN)/python -m pip install --quiet $(PIP) -e '.[cuda12]'
	$(BIN)/python -m pip install --quiet $(PIP) -e '.[nvimgcodec]' || echo "no nvImageCodec here: its part will be left out"
	touch $@

# NVIDIA's Triton Inference Server, from the wheel nvidia-pytriton. Its Python backend wants NumPy 1, and the libpython of the
# system (Debian's 3.11, say), so it has an environment of its own; DALI in it is the rival of benchmarks/serve.py.
TRITON := .venv-triton
TRITON_PYTHON ?= /usr/bin/python3

$(TRITON)/.installed: | $(BIN)/python
	$(TRITON_PYTHON) -m venv $(TRITON)
	$(TRITON)/bin/python -m pip install --quiet nvidia-pytriton 'numpy<2' 'nvidia-dali-cuda120>=1.40'
	touch $@

triton: $(VENV)/.dev $(TRITON)/.installed  ## the tests that need Triton's server, which it installs
	$(BIN)/python -m pytest -m triton tests/plugin/triton $(ARGS)

# The oldest versions that pyproject.toml allows, in an environment of their own: each bound is one that was tried.
# They exist for Python 3.11 and 3.12.
LOWEST := .venv-lowest

$(LOWEST)/.installed: pyproject.toml tools/lower_bounds.py
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --upgrade pip
	$(LOWEST)/bin/python tools/lower_bounds.py test > $(LOWEST)/requirements.txt
	$(LOWEST)/bin/python -m pip install --quiet -r $(LOWEST)/requirements.txt
	$(LOWEST)/bin/python -m pip install --quiet --no-deps -e .
	touch $@

# jaxlib before 0.10.2 prints lines about features of the processor for each program that it reads from the cache.
lowest: export TF_CPP_MIN_LOG_LEVEL = 3
lowest: $(LOWEST)/.installed  ## the fast tests with the oldest allowed versions of all dependencies
	$(LOWEST)/bin/python -m pytest -n 2 --dist loadfile -m 'not slow and not exhaustive and not oracle' $(ARGS)

coverage: $(VENV)/.dev  ## the share of lines that the fast tests execute
	$(BIN)/python -m pytest -n 2 --dist loadfile -m 'not slow and not exhaustive and not oracle' --cov --cov-report=term $(ARGS)

lint: $(VENV)/.dev  ## lint and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev  ## mypy: the package and its tests, tools and examples, benchmarks
	$(BIN)/mypy
	MYPYPATH=tools:examples/flax:examples/custom_operator $(BIN)/mypy --disallow-untyped-defs tools examples
	MYPYPATH=benchmarks $(BIN)/mypy benchmarks

editor: $(VENV)/.dev  ## what mypy, pyright and a language server find of jdali outside of the repository
	$(BIN)/python -m pip install --quiet -e '.[editor]'
	$(BIN)/python -m pytest tests/editor $(ARGS)

imports: $(VENV)/.dev  ## the layers of the package
	$(BIN)/lint-imports --no-logo

stubs: $(VENV)/.dev  ## writes the catalog of operators and the .pyi files
	$(BIN)/python tools/make_stubs.py

check: lint types imports  ## all that CI checks beside the tests
	$(BIN)/python tools/make_stubs.py --check

bench: $(VENV)/.oracle  ## pipelines beside DALI
	$(BIN)/python benchmarks/pipelines.py $(ARGS)

# The site in build/docs: examples and tutorials run, links that lead nowhere are errors. Where Chromium is installed, all pages
# are opened in it.
docs: $(VENV)/.dev  ## the documentation as HTML, in build/docs
	$(BIN)/python tools/make_docs.py $(if $(shell command -v chromium || command -v chromium-browser),--look) $(ARGS)

clean:  ## removes environments and builds
	rm -rf $(VENV) .venv-oldest $(LOWEST) $(TRITON) build *.egg-info
