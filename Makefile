# A thin Makefile for people: CMake does the work (CMakeLists.txt, CMakePresets.json).

MAKEFLAGS += --no-print-directory
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 20

BUILD = cmake --build $(1) -j $(JOBS)
CTEST = ctest --test-dir $(1) -j $(JOBS) --output-on-failure --no-label-summary
THREADED = test_pool test_train test_source test_training test_infer test_smc test_eval test_view test_learn test_study test_api_posterior
C     = $(wildcard src/*/*.[ch] src/*/*/*.[ch] cli/*.[ch] tests/*.[ch] bench/*.[ch] fuzz/*.[ch] examples/*.[ch] python/src/*.c include/*.h)

.PHONY: build pictures demo test bench bench-jags bench-defaults bench-messages posteriors answers reproduce-quick fuzz tsan soak check-all sanitize valgrind tidy cppcheck format install wheel clean help

build: ## build the program: build/nami
	@scripts/setup.sh --check build
	@cmake --preset release >/dev/null
	@$(call BUILD,build)

demo: ## install what is missing, build, show what NaMI does
	@scripts/setup.sh build
	@$(MAKE) -s build
	@scripts/demo.sh

pictures: build ## draw the example models again: docs/models/*.svg
	@scripts/pictures.sh build/nami docs/models

test: ## install what is missing, build, run all tests (also under sanitizers and valgrind)
	@scripts/setup.sh build test
	@cmake --preset release >/dev/null
	@$(call BUILD,build)
	@$(MAKE) sanitize SLOW='-LE slow'
	@$(call CTEST,build) -LE sanitized

bench: ## time inversion (SuiteSparse), sampling (NumPy, JAGS), products (OpenBLAS), training (PyTorch)
	@scripts/setup.sh build bench
	@$(MAKE) build
	@build/bench/bench_graph $(CASES)
	@build/bench/bench_tensor
	@bench/simulate.sh
	@build/bench/bench_product
	@build/bench/bench_ais examples/models/vae.nami examples/models/vae.json
	@build/bench/bench_exact
	@build/bench/bench_collapse 100000
	@bench/train.py

bench-jags: ## posteriors of 1,000 data sets, side by side with JAGS: a quarter of an hour
	@scripts/setup.sh build bench
	@$(MAKE) build
	@bench/amortise.py

bench-defaults: ## default settings on all classic models, without and with exact elimination (MODELS='rats epil'): hours
	@scripts/setup.sh build bench
	@$(MAKE) build
	@bench/defaults.py $(MODELS)

bench-messages: ## cost of message networks by the size of the data, beside explicit inputs: minutes
	@scripts/setup.sh build bench
	@$(MAKE) build
	@bench/messages.py | tee bench/results/messages.txt

posteriors: ## posteriors of classic models against long runs of JAGS (JAGS=--jags: made anew): minutes
	@scripts/setup.sh build bench
	@$(MAKE) build
	@bench/jags_posteriors.py $(JAGS) $(MODELS)

answers: ## answers on the classic models as they are written, beside JAGS (METHOD=auto, LIMIT=300): hours
	@scripts/setup.sh build bench
	@$(MAKE) build
	@verify/answers.py --method $(or $(METHOD),mcmc) --limit $(or $(LIMIT),300) --table build/answers.md $(MODELS)

reproduce-quick: build ## the paper's experiments in small: minutes, to build/reproduce
	@mkdir -p build/reproduce
	@for e in $$(sed -n 's/^STUDY(\(.*\))/\1/p' src/study/study.def); do \
	    runs=7; [ $$e = vae ] && runs=1; \
	    build/nami reproduce $$e --quick --runs $$runs -o build/reproduce/$$e || exit 1; \
	done

fuzz: ## fuzz every reader, FUZZ_SECONDS each [20]
	@scripts/setup.sh build fuzz
	@JOBS=$(JOBS) fuzz/run.sh $(FUZZ_SECONDS) $(FORMATS)

oracle: build ## JAGS's densities and moments against ours, with 10^5 draws each: minutes
	@scripts/setup.sh test
	@NAMI_ORACLE=full /usr/bin/python3 tests/test_jags.py build/nami

check-all: ## the long checks: all tests under sanitizers and valgrind, clang-tidy, cppcheck
	@scripts/setup.sh build test lint
	@$(MAKE) cppcheck
	@$(MAKE) sanitize
	@$(MAKE) build
	@$(call CTEST,build)
	@$(MAKE) valgrind
	@$(MAKE) tidy

sanitize: ## all tests with address and undefined-behaviour sanitizers
	@cmake --preset sanitize >/dev/null
	@$(call BUILD,build-sanitize)
	@$(call CTEST,build-sanitize) $(SLOW)

tsan: ## what runs in threads, with the thread sanitizer
	@cmake -S . -B build-tsan -DNAMI_TSAN=ON -DNAMI_WERROR=OFF >/dev/null
	@cmake --build build-tsan -j $(JOBS) --target $(THREADED) >build-tsan/log
	@for t in $(THREADED); do echo "tsan $$t"; build-tsan/tests/$$t >build-tsan/log 2>&1 || { cat build-tsan/log; exit 1; }; done

soak: build ## 10^5 steps of training, then 10^7 draws: memory must not grow
	@/usr/bin/python3 bench/soak.py

valgrind: build ## the test programs under valgrind: minutes
	@for t in test_nomem test_report test_io_tables test_io; do \
	    echo "valgrind $$t"; \
	    valgrind -q --error-exitcode=9 build/tests/$$t >build/valgrind.log 2>&1 || \
	        { cat build/valgrind.log; exit 1; }; \
	done

tidy: build ## clang-tidy (.clang-tidy says which checks)
	@printf '%s\n' $(wildcard src/*/*.c src/*/*/*.c cli/*.c) | \
	    xargs -P $(JOBS) -n 4 clang-tidy -p build --quiet --warnings-as-errors='*' 2>build/tidy.log

# Suppressed: declarations at the head of a function, vec()'s members, and what it gets wrong: minima taken
# for their arguments, arrays that a callee fills, tiles that a condition excludes, kernels of one type.
cppcheck: ## cppcheck
	@cppcheck -j $(JOBS) --quiet --error-exitcode=1 --std=c11 --inline-suppr \
	    --enable=warning,style,performance,portability --suppress=variableScope \
	    --suppress=unusedStructMember --suppress=knownConditionTrueFalse \
	    --suppress=oppositeExpression:src/base/rng.c --suppress=invalidPointerCast:src/train/training.c \
	    --suppress=arrayIndexOutOfBounds:src/tensor/product_weights.inc --suppress=constParameter:src/infer/exact_axes.c \
	    --suppress=unreadVariable:cli/calibrate_show.c --suppress=unassignedVariable:src/net/match_fit.c --suppress=memleak:bench/bench_train.c --suppress=legacyUninitvar:src/net/family_match.c \
	    --suppress=uninitvar:src/net/* --suppress=uninitvar:src/dist/block.h --suppress=legacyUninitvar:src/net/family_spline.c \
	    -Iinclude -Isrc -Icli src cli bench fuzz examples

format: ## clang-format all C files in place
	@clang-format -i $(C)

install: build ## install to PREFIX [/usr/local], under DESTDIR if given
	@cmake --install build --prefix $(PREFIX)

wheel: ## the Python package with the library inside: build/wheel/*.whl
	@scripts/setup.sh build python
	@$(MAKE) build
	@scripts/wheel.sh build

clean: ## remove all build directories
	@rm -rf build build-*

help: ## show this
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-18s %s\n", $$1, $$2}'
