# One venv (.venv), one C++ build folder (build/); every target sets up what it needs.
#   make test-python PYTHON=python3.12    another Python, in a venv of its own (.venv-python3.12)
#   make test-python EXTRA=test-base      without PyTorch; tests that need it are skipped
SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv$(if $(filter file,$(origin PYTHON)),,-$(notdir $(PYTHON)))
EXTRA ?= test
BIN := $(VENV)/bin
JOBS ?= $(shell nproc)
# Tests wait for programs a sixth of their time. The files that take long come before those of
# tests/unit, which fill the end: xdist itself would begin with the files of the most tests.
WORKERS ?= $(shell echo $$(($(JOBS) + 1)))
BY_FILE := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
GPU_PYTHON ?= 12
# PyTorch for CUDA, another release than the tests' own, on simulated CUDA; everything else that it
# imports is that of $(VENV).
TORCH_CUDA_RELEASE := 2.11.0
TORCH_CUDA := .venv-torch-cuda$(VENV:.venv%=%)
PURELIB := -c "import sysconfig; print(sysconfig.get_path('purelib'))"
# $(call share,FOLDER): lets the venv in FOLDER import what $(VENV) has, after what it has itself.
share = @echo "import site; site.addsitedir('$$($(BIN)/python $(PURELIB))')" \
	    >"$$($(1)/bin/python $(PURELIB))/shared.pth"
# Venvs of the libraries that only some tests need, named after their extra in pyproject.toml.
IN_CI := simulators gym frameworks ray
EXTRA_VENVS := $(addprefix $(VENV)-,$(IN_CI) stopwatches)
IN_SIMULATORS := ale_py,Box2D,cv2,envpool,mujoco,pettingzoo,pybullet,pybullet_envs_gymnasium,pygame
LIBRARIES := tests/integration/test_automatic_libraries.py
# What depends on the release of CPython, or differs between the two engines.
INTERCEPTION := $(wildcard tests/integration/test_interception_*.py) \
    tests/integration/test_pickling.py \
    tests/integration/test_layers_simulators.py
# What depends on the patch release of CPython: programs that look into the interpreter, and the library.
PATCH_RELEASE := tests/integration/test_golden.py tests/integration/test_export_timelines.py \
    tests/integration/test_prof_bootstrap.py tests/integration/test_interception_calls.py \
    tests/unit/test_archives.py tests/unit/test_check_oldest_python.py tests/unit/test_system_python.py
# The byte code of all modules takes longer to compile than that of the few that are imported: 20 s for
# PyTorch's. The first import of each keeps it.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(BIN)/python -m pip install --quiet --no-compile
SOURCES := $(shell find csrc -type f) setup.py pyproject.toml rlscope/capture/rlscope.pth

.DEFAULT_GOAL := help
.PHONY: help demo quick test libraries test-cpp test-threads test-aarch64 test-python test-torch-cuda test-simulators test-gym test-frameworks test-ray test-monitoring test-system-python test-releases test-cupti test-root test-docker check check-long bench planted tutorial stopwatches wheel gpu-kit docs clean system-packages

help: ## print the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:[^#]*##/\t/' | expand -t 18

system-packages: ## install what the tests need from the system (Debian, root), or say what is missing
	@sh tests/system_packages.sh

$(BIN)/python:
	@$(PYTHON) tests/complete_python.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet 'pip>=22.3' # the first that knows --python

# Reinstalled when the C++ or the packaging changed; Python changes are seen at once.
$(VENV)/.installed: $(BIN)/python $(SOURCES)
	$(INSTALL) --editable '.[$(EXTRA)]'
	touch $@

# What the demo needs: the tests' libraries take longer to install than the demo runs. They come, and
# their byte code is made, while the compiler works: neither pip installs what the other does.
DEMO_LIBRARIES = $(shell sed -n 's/^demo = \[\(.*\)\]$$/\1/p' pyproject.toml | tr -d ',')
$(VENV)/.demo: $(BIN)/python $(SOURCES)
	@echo "compiling the C++ core and installing" $(DEMO_LIBRARIES) "into $(VENV)"
	@{ $(INSTALL) $(DEMO_LIBRARIES) && $(BIN)/python -c 'import gymnasium, torch._dynamo'; } & \
	libraries=$$!; $(INSTALL) --no-deps --editable .; installed=$$?; wait $$libraries && exit $$installed
	@$(INSTALL) 'rlscope[demo]' # installed already: only the libraries that are missing
	@touch $@

demo: $(or $(wildcard $(VENV)/.installed),$(VENV)/.demo) ## train PPO on CartPole under rls-prof, print the breakdown and the report's path
	$(BIN)/rls-prof $(BIN)/python workloads/ppo_cartpole.py

# replay: thousands of damaged files. thin: a few made-up traces against the brute-force twin.
quick: system-packages build/tests/build.ninja $(VENV)/.installed ## C++ and Python units, SQL, a little ground truth
	cmake --build build/tests --parallel $(JOBS)
	ctest --test-dir build/tests --output-on-failure --parallel $(JOBS) --exclude-regex replay
	HYPOTHESIS_PROFILE=thin $(BIN)/pytest -q -n $(JOBS) --dist loadfile -m 'not slow and not gpu' \
	    tests/unit tests/sql tests/ground_truth/test_sweep.py

test: test-cpp test-python ## set up and run all tests, C++ included

build/tests/build.ninja:
	cmake -S csrc -B build/tests -G Ninja -DRLSCOPE_TESTS=ON -DRLSCOPE_PYTHON=OFF >/dev/null

test-cpp: system-packages build/tests/build.ninja ## C++ tests only
	cmake --build build/tests --parallel $(JOBS)
	ctest --test-dir build/tests --output-on-failure --parallel $(JOBS)

# Without address randomisation: ThreadSanitizer of GCC 12 does not start with 32 random bits.
test-threads: ## the recorder's C++ tests under ThreadSanitizer
	cmake -S csrc -B build/threads -G Ninja -DRLSCOPE_TESTS=ON -DRLSCOPE_PYTHON=OFF \
	    -DRLSCOPE_SANITIZE=thread >/dev/null
	cmake --build build/threads --parallel $(JOBS)
	setarch -R ctest --test-dir build/threads --output-on-failure -R 'Runtime|Calls'

test-aarch64: ## C++ for aarch64, its unit tests under qemu (Debian: g++-aarch64-linux-gnu qemu-user)
	cmake -S csrc -B build/aarch64 -G Ninja -DRLSCOPE_TESTS=ON -DRLSCOPE_PYTHON=OFF \
	    -DCMAKE_TOOLCHAIN_FILE=$(CURDIR)/tests/cpp/aarch64.cmake >/dev/null
	cmake --build build/aarch64 --parallel $(JOBS)
	ctest --test-dir build/aarch64 --output-on-failure --parallel $(JOBS)

test-python: system-packages $(VENV)/.installed ## Python tests only
	$(BIN)/pytest -q $(BY_FILE) -m 'not slow and not gpu and not torch_cuda' $(TESTS)

$(EXTRA_VENVS:%=%/.installed): $(VENV)-%/.installed: pyproject.toml | $(VENV)/.installed
	@echo "installing the extra test-$* into $(@D)"
	$(BIN)/python -m venv --without-pip $(@D)
	$(call share,$(@D))
	$(BIN)/python -m pip --python $(@D)/bin/python install --quiet --no-compile 'rlscope[test-$*]'
	touch $@

libraries: $(VENV)/.installed $(IN_CI:%=$(VENV)-%/.installed) $(TORCH_CUDA)/.installed-$(TORCH_CUDA_RELEASE) ## fetch what CI's test targets need, and test nothing

test-simulators: system-packages $(VENV)-simulators/.installed ## MuJoCo, Box2D, ALE, PyBullet, EnvPool and PettingZoo, in a venv of their own
	RLSCOPE_TEST_REQUIRE=$@,$(IN_SIMULATORS) $(VENV)-simulators/bin/python -m pytest -q -n $(JOBS) \
	    tests/integration/test_layers_simulators.py tests/integration/test_workloads_simulators.py \
	    tests/integration/test_workloads_brief.py \
	    $(LIBRARIES)::test_what_a_library_calls_is_found[{envpool,pettingzoo}]

test-gym: system-packages $(VENV)-gym/.installed ## gym 0.26 and its NumPy 1, in a venv of their own
	RLSCOPE_TEST_REQUIRE=gym,Box2D $(VENV)-gym/bin/python -m pytest -q -n $(JOBS) \
	    tests/integration/test_layers_simulators.py $(LIBRARIES) -k 'gym and not gymnasium'

test-frameworks: system-packages $(VENV)-frameworks/.installed ## TensorFlow, JAX, Numba and scikit-learn, in a venv of their own
	RLSCOPE_TEST_REQUIRE=tensorflow,jax,numba,sklearn $(VENV)-frameworks/bin/python -m pytest -q -n $(JOBS) \
	    --dist loadfile tests/integration/test_layers_frameworks.py tests/integration/test_layers_names.py \
	    tests/integration/test_automatic_compiled.py tests/integration/test_automatic_compilers.py \
	    tests/integration/test_automatic_results.py \
	    tests/integration/test_automatic_keras.py tests/integration/test_automatic_scikit_learn.py \
	    tests/integration/test_automatic_stopwatch.py tests/integration/test_import_jax.py \
	    tests/integration/test_first_sentences_frameworks.py \
	    tests/integration/test_workloads_frameworks.py tests/integration/test_workloads_equal.py \
	    tests/integration/test_workloads_brief.py

test-ray: system-packages $(VENV)-ray/.installed ## actors and tasks of Ray, and RLlib, in a venv of their own
	RLSCOPE_TEST_REQUIRE=ray,tree $(VENV)-ray/bin/python -m pytest -q -n $(JOBS) \
	    tests/integration/test_process_tree_ray.py tests/integration/test_waits_ray.py \
	    tests/integration/test_first_sentences_rllib.py tests/integration/test_roles.py \
	    tests/integration/test_automatic_libraries.py -k 'ray or rllib'

test-monitoring: ## native calls on Python 3.12 or 3.13, where sys.monitoring can record them too
	@python=$$(sh tests/newest_python.sh 12) || { \
	    echo "SKIP: no Python 3.12 or 3.13 with a GIL is installed"; exit 0; }; \
	RLSCOPE_TEST_REQUIRE=ale_py,Box2D,gymnasium,mujoco $(MAKE) --no-print-directory test-python \
	    PYTHON="$$python" VENV=.venv-monitoring EXTRA=test-monitoring TESTS="$(INTERCEPTION)"

test-releases: system-packages $(VENV)/.installed ## source lines on the other releases of Python that are here, 3.10 to 3.14; SKIP says which are not
	$(BIN)/python -m pytest -q -rs tests/integration/test_source_lines_releases.py

$(VENV)-system/.installed: | $(VENV)/.installed
	"$$(sh tests/system_python.sh $(BIN)/python)" -m venv --clear --without-pip $(@D)
	$(call share,$(@D))
	touch $@

test-system-python: system-packages $(VENV)/.installed ## some tests on the Python of /usr/bin, if it is another patch release than that of $(VENV)
	@python=$$(sh tests/system_python.sh $(BIN)/python) || { \
	    echo "SKIP: /usr/bin has no other patch release of $$($(BIN)/python --version)"; exit 0; }; \
	$(MAKE) --no-print-directory $(VENV)-system/.installed && "$$python" --version && \
	$(VENV)-system/bin/python -m pytest -q -n $(JOBS) --dist loadfile \
	    -m 'not slow and not gpu and not torch_cuda' $(PATCH_RELEASE)

$(TORCH_CUDA)/.installed-$(TORCH_CUDA_RELEASE): | $(VENV)/.installed
	@echo "installing PyTorch $(TORCH_CUDA_RELEASE) for CUDA into $(TORCH_CUDA): 530 MB, once"
	rm -rf $(TORCH_CUDA)
	$(BIN)/python -m venv --without-pip $(TORCH_CUDA)
	@$(BIN)/python -m pip --python $(TORCH_CUDA)/bin/python install --no-deps --no-compile \
	    torch==$(TORCH_CUDA_RELEASE) || { echo "make: PyTorch's CUDA wheel," \
	    "torch==$(TORCH_CUDA_RELEASE), cannot be had: see pip's lines above" >&2; exit 1; }
	$(call share,$(TORCH_CUDA))
	touch $@

test-torch-cuda: system-packages $(VENV)/.installed $(TORCH_CUDA)/.installed-$(TORCH_CUDA_RELEASE) ## PyTorch's CUDA wheel (530 MB, once) on simulated CUDA
	TORCH_CUDA_PYTHON=$(TORCH_CUDA)/bin/python $(BIN)/pytest -q -n $(JOBS) --dist loadfile \
	    -m 'torch_cuda and not slow' tests/torch_cuda
	tests/simcuda/run $(TORCH_CUDA)/bin/python -m pytest -q -m 'not slow' \
	    tests/integration/test_layers_torch_coverage.py

test-cupti: system-packages $(VENV)/.installed ## declarations of CUPTI, and the simulated one, against NVIDIA's (17 releases, 210 MB, once)
	$(BIN)/python tests/cupti/fetch.py build/cupti
	$(BIN)/pytest -q -n $(JOBS) tests/cupti

test-root: $(VENV)/.installed ## the wheel in the roots of other Debian releases (root, debootstrap; 270 MB each, once)
	RLSCOPE_TEST_REQUIRE=clean_root $(BIN)/pytest -q tests/integration/test_clean_root.py

test-docker: $(VENV)/.installed ## the steps of docker/Dockerfile in a root of its Debian release (root, debootstrap; minutes)
	RLSCOPE_TEST_REQUIRE=docker_root $(BIN)/pytest -q -s tests/unit/test_docker.py \
	    tests/integration/test_docker_root.py

check: $(VENV)/.installed ## format, lint, types, layers, oldest Python
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files 'csrc/*.h' 'csrc/*.cc' 'tests/*.cc')
	$(BIN)/python tests/check_includes.py
	$(BIN)/vermin --target=3.10- --violations --quiet --exclude long $$(git ls-files '*.py')
	$(BIN)/python tests/check_oldest_python.py $$(git ls-files '*.py' '*.md')

check-long: system-packages $(VENV)-frameworks/.installed $(TORCH_CUDA)/.installed-$(TORCH_CUDA_RELEASE) ## the long matrices: 200 kills, 10,000 flips, slow tests
	cmake -S csrc -B build/apart -G Ninja -DRLSCOPE_TESTS=ON -DRLSCOPE_PYTHON=OFF \
	    -DCMAKE_UNITY_BUILD=OFF >/dev/null
	cmake --build build/apart --parallel $(JOBS)
	RLSCOPE_TEST_KILLS=200 ctest --test-dir build/apart --output-on-failure
	HYPOTHESIS_PROFILE=long RLSCOPE_TEST_KILLS=200 $(BIN)/pytest -q -n $(JOBS) --dist loadfile \
	    -m 'not gpu and not torch_cuda'
	RLSCOPE_TEST_REQUIRE=tensorflow,jax $(VENV)-frameworks/bin/python -m pytest -q -n $(JOBS) -m slow \
	    tests/integration/test_workloads_learn.py -k 'tensorflow or jax'
	TORCH_CUDA_PYTHON=$(TORCH_CUDA)/bin/python $(BIN)/pytest -q -m 'torch_cuda and slow' tests/torch_cuda
	sh tests/fuzz/run.sh 10000

bench: $(VENV)/.installed ## the benchmarks; results as JSON under build/benchmarks
	$(BIN)/python tests/benchmarks/run.py

planted: $(VENV)/.installed $(TORCH_CUDA)/.installed-$(TORCH_CUDA_RELEASE) ## advice on programs with a known bottleneck, and on their mended twins: a page of the reference, anew
	TORCH_CUDA_PYTHON=$(TORCH_CUDA)/bin/python $(BIN)/python tests/planted

tutorial: $(VENV)/.installed ## what the tutorial shows, anew: docs/tutorial.md
	$(BIN)/python tests/tutorial.py

# Sample Factory wants a Gymnasium before 1.0, and runs with a later one.
stopwatches: $(VENV)-stopwatches/.installed ## operations of public libraries against stopwatches: a page of the reference, anew
	$(BIN)/python -m pip --python $(VENV)-stopwatches/bin/python install --quiet --no-deps sample-factory
	$(VENV)-stopwatches/bin/python tests/stopwatches

wheel: $(BIN)/python ## sdist and wheel under dist/, with the manylinux tag that auditwheel computes
	$(BIN)/python -m pip install --quiet build auditwheel wheel
	rm -rf build/wheel
	$(BIN)/python -m build --outdir build/wheel
	sh tests/tag_wheel.sh build/wheel dist $(BIN)/python

gpu-kit: ## the folder to carry to a GPU machine, whose Python 3 is of minor version GPU_PYTHON (12)
	@python=$$(sh tests/newest_python.sh $(GPU_PYTHON) $(GPU_PYTHON)) || { echo "make: no Python" \
	    "3.$(GPU_PYTHON) with headers is installed: GPU_PYTHON=11 makes a kit for 3.11" >&2; exit 1; }; \
	$(MAKE) --no-print-directory wheel PYTHON="$$python" VENV=.venv-gpu-kit && \
	.venv-gpu-kit/bin/python tests/gpu/kit.py \
	    --wheel "$$(ls -t dist/rlscope-*-cp3$(GPU_PYTHON)-*.whl | head -1)"

docs: $(VENV)/.installed ## HTML documentation under build/docs
	$(BIN)/python -m pip install --quiet 'rlscope[docs]' # installed already: only what the extra adds
	$(BIN)/sphinx-build -W -b html docs build/docs

clean: ## remove everything that make made
	rm -rf build dist .venv .venv-* rlscope_out rlscope/*.so *.egg-info
