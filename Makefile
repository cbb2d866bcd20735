# Two commands do all: `make run` sets up and trains on the built-in digits, `make test` sets up and tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?=
ARGS ?=

.PHONY: run test torch tf paddle exhaustive fast gpu on-gpu lowest lint types imports words stubs check bench docs clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.run: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[examples]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@

# The real DALI is only an oracle for tests: without it (not on Linux x86-64, say) they are skipped.
$(VENV)/.oracle: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet -e '.[oracle]' || echo "no oracle here: its tests will be skipped"
	touch $@

run: $(VENV)/.run
	$(BIN)/python examples/flax/classification.py $(if $(DATA),--data $(DATA)) $(ARGS)

test: $(VENV)/.oracle
	$(BIN)/python -m pytest -n 2 --dist loadfile -m 'not exhaustive' $(ARGS)

# PyTorch is no part of `make test`: on Linux its wheels bring gigabytes of CUDA with them. PIP='--index-url ...' takes
# another build. Once it is installed, `make test` runs these tests as well.
torch: $(VENV)/.torch
	$(BIN)/python -m pytest -n 2 --dist loadfile -m 'not exhaustive' -k 'torch or policy_contents' $(ARGS)

$(VENV)/.torch: $(VENV)/.oracle
	$(BIN)/python -m pip install --quiet $(PIP) -e '.[torch]'
	touch $@

# The same for TensorFlow and for PaddlePaddle.
tf: $(VENV)/.tf
	$(BIN)/python -m pytest tests/plugin/test_tf.py tests/docs $(ARGS)

paddle: $(VENV)/.paddle
	$(BIN)/python -m pytest tests/plugin/test_paddle.py $(ARGS)

$(VENV)/.tf $(VENV)/.paddle: $(VENV)/.%: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet $(PIP) -e '.[$*]'
	touch $@

exhaustive: $(VENV)/.oracle
	$(BIN)/python -m pytest -n 2 --dist loadfile -m exhaustive $(ARGS)

fast: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadfile -m 'not slow and not exhaustive and not oracle' $(ARGS)

# What is marked `gpu`, on one, and the pipelines beside DALI's GPU backend (left out where it is not installed).
gpu:
	@if nvidia-smi -L 2>/dev/null; then $(MAKE) --no-print-directory on-gpu; \
	else echo "make gpu: there is no NVIDIA GPU here (nvidia-smi lists none), so nothing was run"; fi

on-gpu: $(VENV)/.cuda
	JAX_PLATFORMS=cuda,cpu $(BIN)/python -m pytest -m gpu $(ARGS)
	XLA_PYTHON_CLIENT_PREALLOCATE=false $(BIN)/python benchmarks/pipelines.py --rivals dali_gpu jdali_gpu

$(VENV)/.cuda: $(VENV)/.oracle
	$(BIN)/python -m pip install --quiet -e '.[cuda12]'
	touch $@

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

lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -n 2 --dist loadfile -m 'not slow and not exhaustive and not oracle' $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports --no-logo

words: $(VENV)/.dev
	$(BIN)/python tools/check_words.py

stubs: $(VENV)/.dev
	$(BIN)/python tools/make_stubs.py

check: lint types imports words
	$(BIN)/python tools/make_stubs.py --check

bench: $(VENV)/.oracle
	$(BIN)/python benchmarks/pipelines.py $(ARGS)

# The guides, a page for each operator and a gallery, as HTML in build/docs.
docs: $(VENV)/.dev
	$(BIN)/python tools/make_docs.py $(ARGS)

clean:
	rm -rf $(VENV) $(LOWEST) build *.egg-info
