# A thin Makefile for people: CMake does the work (CMakeLists.txt, CMakePresets.json).

MAKEFLAGS += --no-print-directory
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 20

BUILD = cmake --build $(1) -j $(JOBS)
CTEST = ctest --test-dir $(1) -j $(JOBS) --output-on-failure --no-label-summary
THREADED = test_pool test_train test_source test_training test_infer test_smc test_eval test_view test_learn test_study test_api_posterior
C     = $(wildcard src/*/*.[ch] src/*/*/*.[ch] cli/*.[ch] mpi/*.[ch] serve/*.[ch] tests/*.[ch] bench/*.[ch] fuzz/*.[ch] examples/*.[ch] python/src/*.c include/*.h)

# The folder of the npm packages that drive pages.
PAGES = $(or $(NAMI_PAGES),$(HOME)/.cache/nami/pages)

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*## .*/\1/p' Makefile)

PAGES_TOOLS = [ -d $(PAGES)/node_modules/axe-core ] || { mkdir -p $(PAGES) && \
	    npm install --prefix $(PAGES) --no-audit --no-fund --ignore-scripts puppeteer-core axe-core; }

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
	@scripts/setup.sh build test r
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

bench-mpi: ## nami-mpi: 2 processes beside 2 threads, killed processes, 10^5 data sets, a model of many machines: minutes
	@scripts/setup.sh build bench
	@$(MAKE) build
	@cmake --build build --target mpi_latency >/dev/null
	@bench/mpi.py | tee bench/results/mpi.txt

bench-simulator: ## what the Python package costs: a simulator in NumPy, threads, import, calls: a minute
	@scripts/setup.sh build python
	@$(MAKE) build
	@bench/simulator.py | tee bench/results/simulator.txt

bench-mcmc: ## effective draws a second of Markov chains, beside JAGS, on ten classic models: minutes
	@scripts/setup.sh build bench
	@$(MAKE) build
	@bench/mcmc.py $(MODELS) | tee bench/results/mcmc.txt

bench-messages: ## cost of message networks by the size of the data, beside explicit inputs: minutes
	@scripts/setup.sh build bench
	@$(MAKE) build
	@bench/messages.py | tee bench/results/messages.txt

bench-cases: ## open networks on three case studies, beside JAGS and Markov chains (CASES='schools', SIZE=1): an hour
	@scripts/setup.sh build bench
	@$(MAKE) build
	@bench/cases.py $(CASES) --size $(or $(SIZE),0) | tee bench/results/cases.txt

bench-rules: ## losses by several rules of training at equal processor time: about an hour
	@scripts/setup.sh build bench
	@$(MAKE) build
	@bench/rules.py

bench-workflow: ## 1,000 posteriors of a Bernoulli GLM and of a GEV by one network, and how many are trusted: minutes
	@scripts/setup.sh build bench
	@$(MAKE) build
	@bench/workflow.py | tee bench/results/workflow.txt

bench-nets: ## losses of messages, made, mlp and auto at equal training time, everything learnt (SECONDS_EACH=60): half an hour
	@scripts/setup.sh build bench
	@$(MAKE) build
	@bench/nets.py --seconds $(or $(SECONDS_EACH),60) | tee bench/results/nets.txt

missing: ## calibration of networks for missing data, and one pattern beside a network of its own: minutes
	@$(MAKE) build
	@verify/missing.py | tee bench/results/missing.txt

bench-serve: ## requests a second of `nami serve`, with percentiles, with and without batching: a minute
	@scripts/setup.sh build serve
	@$(MAKE) build
	@/usr/bin/python3 bench/serve.py build/nami | tee bench/results/serve.txt

soak-serve: ## `nami serve` under load for SECONDS=3600, at most RATE requests a second: memory must not grow
	@scripts/setup.sh build serve
	@$(MAKE) build
	@/usr/bin/python3 bench/serve.py build/nami --soak $(or $(SECONDS),3600) $(RATE)

test-pages: ## the pages of `nami serve` in headless Chromium, screenshots to build/pages
	@scripts/setup.sh build pages
	@$(MAKE) build
	@$(PAGES_TOOLS)
	@NAMI_PAGES=$(PAGES) tests/test_pages.sh build/nami build/pages

site: ## the documentation as static pages with search, build/site; minutes the first time (the figures of the cookbook)
	@$(MAKE) build
	@cmake --build build --target man >/dev/null
	@python3 scripts/site.py build

check-site: site ## links, HTML, search, tabs, light and dark, accessibility of build/site; screenshots to build/pages
	@scripts/setup.sh site
	@$(PAGES_TOOLS)
	@NAMI_PAGES=$(PAGES) /usr/bin/python3 tests/test_site.py build/site build/pages

test-proxy: ## `nami serve` behind nginx with TLS, as in docs/serve.md
	@scripts/setup.sh build serve
	@$(MAKE) build
	@tests/test_proxy.sh build/nami

posteriors: ## posteriors of classic models against long runs of JAGS (JAGS=--jags: made anew): minutes
	@scripts/setup.sh build bench
	@$(MAKE) build
	@bench/jags_posteriors.py $(JAGS) $(MODELS)

answers: ## answers on models as they are written, beside JAGS: table of docs/answers.md (MODELS='seeds examples'; METHOD=mcmc: no table; LIMIT=120 s of processor time): hours
	@scripts/setup.sh build bench
	@$(MAKE) build
	@verify/answers.py $(if $(METHOD),--method $(METHOD)) --limit $(or $(LIMIT),120) $(MODELS)

trust: ## how often is an answer trusted and wrong? random models with known posteriors (COUNT=1000): minutes
	@$(MAKE) build
	@verify/trust.py --count $(or $(COUNT),1000)

reproduce-quick: build ## the paper's experiments in small: minutes, to build/reproduce
	@mkdir -p build/reproduce
	@for e in $$(sed -n 's/^STUDY(\(.*\))/\1/p' src/study/study.def); do \
	    runs=7; [ $$e = vae ] && runs=1; \
	    build/nami reproduce $$e --quick --runs $$runs -o build/reproduce/$$e || exit 1; \
	done

fuzz: ## fuzz every reader, FUZZ_SECONDS each [20]
	@scripts/setup.sh build fuzz
	@JOBS=$(JOBS) fuzz/run.sh $(FUZZ_SECONDS) $(FORMATS)

numerics: build ## densities, distribution functions and quantiles against mpmath: docs/numerics.md; half an hour
	@scripts/setup.sh test
	@cmake --build build --target numbers
	@/usr/bin/python3 verify/numerics.py --table docs/numerics.md --points tests/numerics_reference.inc

campaign: ## hours of fuzzing, faults and kills, resumable: FUZZ_SECONDS=3600 each, or rounds until EXECUTIONS=1e8; summary in build/campaign
	@scripts/setup.sh build test fuzz
	@$(MAKE) build
	@cmake --build build --target faulty
	@JOBS=$(JOBS) scripts/campaign.sh $(FUZZ_SECONDS) $(EXECUTIONS)

oracle: build ## JAGS's densities and moments against ours, with 10^5 draws each: minutes
	@scripts/setup.sh test
	@NAMI_ORACLE=full /usr/bin/python3 tests/test_jags.py build/nami

check-all: ## the long checks: all tests under sanitizers and valgrind, clang-tidy, cppcheck, mypy
	@scripts/setup.sh build test r lint
	@$(MAKE) cppcheck types
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
	@printf '%s\n' $(wildcard src/*/*.c src/*/*/*.c cli/*.c serve/*.c) | \
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
	    -Iinclude -Isrc -Icli -Iserve src cli serve bench fuzz examples

types: ## type hints of the Python package: mypy --strict
	@/usr/bin/python3 -m mypy --strict --cache-dir build/mypy python/nami

format: ## clang-format all C files in place
	@clang-format -i $(C)

install: build ## install to PREFIX [/usr/local], under DESTDIR if given
	@cmake --install build --prefix $(PREFIX)

wheel: ## the Python package with the library inside: build/wheel/*.whl
	@scripts/setup.sh build python
	@$(MAKE) build
	@scripts/wheel.sh build

r: ## the R package: build/r/nami_VERSION.tar.gz
	@scripts/setup.sh r
	@mkdir -p build
	@scripts/r.sh build

check-r: ## R CMD check of the R package, with the tests and the examples of the documentation
	@scripts/setup.sh build r
	@$(MAKE) build
	@scripts/r.sh build check
	@tests/test_r_package.sh build/nami README.md docs/r.md docs/tutorial.md

deb: ## Debian packages (libnami0, libnami-dev, nami, python3-nami): build-deb/packages/*.deb
	@scripts/setup.sh build deb
	@JOBS=$(JOBS) scripts/deb.sh build-deb

check-deb: deb ## install the packages by apt in a fresh root, and use them there (as root; needs network)
	@scripts/setup.sh root
	@scripts/check_deb.sh build-deb

portable: ## proxies of other systems: build with clang, compile for musl and compare results
	@scripts/setup.sh build portable
	@$(MAKE) build
	@JOBS=$(JOBS) scripts/portable.sh

bench-python: ## the Python package: size of the wheel, fresh environment, import, a query beside the command
	@scripts/setup.sh build python
	@$(MAKE) build
	@bench/python.py build | tee bench/results/python.txt

test-onnx: ## exported networks of all families, as C and in ONNX Runtime (onnxruntime-node, from npm): minutes
	@scripts/setup.sh build onnx
	@$(MAKE) build
	@mkdir -p build/onnx
	@cd build/onnx && { test -d node_modules/onnxruntime-node || npm install --ignore-scripts --no-audit --no-fund onnxruntime-node@1; }
	@rm -rf build/onnx/nets
	@TRAVEL_ALL=1 TRAVEL_DIR=build/onnx/nets python3 tests/test_travel.py build/nami
	@cd build/onnx && node ../../tests/test_onnx.mjs nets

abi: ## record the binary interface of nami.h after a deliberate change: tests/abi.txt (docs/release.md)
	@scripts/abi.sh >tests/abi.txt

abidiff: build ## compare the binary interface with that of SINCE=revision [the last tag], type by type
	@scripts/setup.sh abi
	@scripts/abidiff.sh $(SINCE)

clean: ## remove all build directories
	@rm -rf build build-*

help: ## show this
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-18s %s\n", $$1, $$2}'
