# Shardlings. `make help` lists the targets. Everything is built under build/.
#
#   make MPI=mpich …                       with MPICH instead of OpenMPI
#   make V=1 …                            to see the commands
#   make SANITIZE=address,undefined …      with sanitizers
#   make MINE="01 02" …                    with exercises/01_* and 02_* linked in place of those solutions

MPI ?= openmpi
SANITIZE ?=
MINE ?=
MARCH ?= native
WERROR ?=
CXX ?= g++
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

comma := ,
variant := $(if $(filter mpich,$(MPI)),-mpich)$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))
BUILD := build$(if $(variant),/variant$(variant))
V ?=
quiet := $(if $(V),,@)
MAKEFLAGS += --no-builtin-rules --no-print-directory $(if $(V),,--silent)
.SUFFIXES:
.DELETE_ON_ERROR:

# --- compiler and libraries -------------------------------------------------------------------------------------

mpi_package := $(if $(filter mpich,$(MPI)),mpich,ompi-cxx)
common_libraries := -lfmt -lpugixml -ldw -lelf
packages := $(shell pkg-config --cflags $(mpi_package) openblas 2>/dev/null)
libraries := $(shell pkg-config --libs $(mpi_package) openblas 2>/dev/null) $(common_libraries)
eigen := $(patsubst -I%,-isystem %,$(shell pkg-config --cflags-only-I eigen3 2>/dev/null))
catch_libraries := $(shell pkg-config --libs catch2-with-main 2>/dev/null)

# Sums keep their written order and products are not fused into them: that is what "bitwise" in the promises rests on.
numerics := -ffp-contract=off -fno-math-errno -fno-trapping-math
sanitizer := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer)
warnings := -Wall -Wextra -Werror=missing-declarations -Wno-maybe-uninitialized $(if $(WERROR),-Werror)
CXXFLAGS ?= -g1
# What computes is optimised; the rest is compiled fast.
fast := lib/machine/% lib/tools/train/% lib/tools/bench/% solutions/% exercises/%
optimise = $(if $(filter $(fast),$<),-O3,-O1)
flags = -std=c++20 $(optimise) $(CXXFLAGS) -march=$(MARCH) $(numerics) $(sanitizer) $(warnings) -I. $(eigen) $(packages) \
	-DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -DEIGEN_MPL2_ONLY -DEIGEN_DONT_PARALLELIZE -MMD -MP
# An exercise may leave things unused while it is being written; its errors come first and few. A call at the end of a
# function is a call, so that a deadlock's stack shows the line.
exercise_flags := -Wno-unused -Wno-unused-parameter -Werror=return-type -fmax-errors=3 -fno-optimize-sibling-calls

# --- what there is ----------------------------------------------------------------------------------------------

lessons := $(notdir $(patsubst %/,%,$(sort $(wildcard solutions/*/))))
number = $(firstword $(subst _, ,$1))
lesson_of = $(or $(filter $1_%,$(lessons)),$(error there is no lesson '$1'; the lessons are $(lessons)))
stems = $(basename $(notdir $(wildcard solutions/$1/*.cpp)))
object = $(patsubst %.cpp,$(BUILD)/obj/%.o,$1)

machine_objects := $(call object,$(wildcard lib/machine/*/*.cpp))
driver_objects := $(call object,$(wildcard lib/tools/grade/driver*.cpp))
judge_objects := $(call object,$(wildcard lib/tools/grade/judge*.cpp lib/tools/launch/*.cpp) \
	lib/tools/grade/sandbox.cpp lib/tools/grade/seccomp.cpp \
	lib/tools/train/file.cpp lib/tools/train/safetensors.cpp)
only_simulated := $(addprefix lib/tools/simgrid/,simulate.cpp start_simulated.cpp times.cpp)
tool_objects := $(call object,$(filter-out lib/tools/grade/driver%.cpp $(only_simulated),$(wildcard lib/tools/*/*.cpp)))
verify_objects := $(call object,$(wildcard lib/tools/verify/*.cpp lib/tools/launch/*.cpp)) $(machine_objects)
solution_objects := $(foreach l,$(lessons),$(foreach s,$(call stems,$l),$(BUILD)/obj/solutions/$l/$s.o))
# The stack as MINE asks for it: the student's object for the lessons named, the reference for the others.
unknown := $(filter-out $(foreach l,$(lessons),$(call number,$l)),$(MINE))
$(if $(unknown),$(error MINE="$(MINE)": there is no lesson '$(firstword $(unknown))'; write MINE="00 01" for these two))
whose = $(if $(filter $(call number,$1),$(MINE)),exercises,solutions)
stack_objects := $(foreach l,$(lessons),$(foreach s,$(call stems,$l),$(BUILD)/obj/$(call whose,$l)/$l/$s.o))
up_to = $(wordlist 1,$(words $(foreach l,$(lessons),$(if $(filter-out $l,$(firstword $(sort $l $1))),,$l))),$(lessons))

.PHONY: help all demo test build lint format clean setup exercises check-exercises check-skeletons wrong bench progress watch
.DEFAULT_GOAL := help

# --- the first commands -----------------------------------------------------------------------------------------

help: ## list what can be made
	@echo "Shardlings: make TARGET [MPI=mpich] [SANITIZE=address,undefined] [MINE=\"01 02\"]"
	@sed -n -e 's/^# --- \(.*[^ -]\) -*$$/\1:/p' -e 's/^\([a-zA-Z0-9_%-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | sed 's/%/NN/' | \
		awk '/^  /{ if (heading) print "\n" heading; heading = ""; print; next } { heading = $$0 }' | expand -t 24

demo: ## install what is missing, build, train a small model on the lessons' text
	@lib/scripts/setup.sh build
	@$(MAKE) -j$(JOBS) $(BUILD)/shardlings
	@lib/scripts/demo.sh $(BUILD)/shardlings

test: ## install what is missing, build, run all tests
	@lib/scripts/setup.sh build grade
	@lib/scripts/setup.sh browser || true # without it the tests of the report fail, and only those
	@$(MAKE) -j$(JOBS) all
	@lib/scripts/test.sh $(BUILD)

setup: ## install what is missing for building, testing and linting
	@lib/scripts/setup.sh build lint

watch_programs := $(BUILD)/libmpiwatch.so $(BUILD)/mpiwatch
build: $(BUILD)/shardlings $(watch_programs) ## build the program alone

# --- objects and the program ------------------------------------------------------------------------------------

$(BUILD)/obj/exercises/%.o: exercises/%.cpp
	@mkdir -p $(@D)
	@echo "  compile $<"
	$(quiet)$(CXX) $(flags) $(exercise_flags) -c -o $@ $< 2>$(@:.o=.err) || { cat $(@:.o=.err) >&2; exit 1; }

$(BUILD)/obj/wrong/%.o: $(BUILD)/wrong/%.cpp
	@mkdir -p $(@D)
	@echo "  compile $<"
	$(quiet)$(CXX) $(flags) $(exercise_flags) -c -o $@ $<

# A submission's is compiled in a sandbox when the grader says with which headers, SANDBOX=folder; each function in a
# section of its own, so that what one calls is seen (lib/tools/grade/verdict.cpp).
apart = $(if $(SANDBOX),$(BUILD)/shardlings course compile-apart $(SANDBOX) $< $@ -- $(filter-out ccache,$(CXX)),$(CXX))
$(BUILD)/obj/submission/%.o: $(BUILD)/submission/%.cpp
	@mkdir -p $(@D)
	@echo "  compile $<"
	$(quiet)$(apart) $(flags) $(exercise_flags) -ffunction-sections -c -o $@ $< 2>$(@:.o=.err) || { cat $(@:.o=.err) >&2; exit 1; }

$(BUILD)/obj/%.o: %.cpp
	@mkdir -p $(@D)
	@echo "  compile $<"
	$(quiet)$(CXX) $(flags) -c -o $@ $<

# Changes only when MINE does, so that the program is linked anew then.
$(BUILD)/mine: always
	@mkdir -p $(@D)
	@echo "$(MINE)" | cmp -s - $@ || echo "$(MINE)" > $@
.PHONY: always

$(BUILD)/shardlings: $(stack_objects) $(tool_objects) $(machine_objects) $(BUILD)/mine
	@echo "  link    $@"
	$(quiet)$(CXX) $(sanitizer) -o $@ $(filter %.o,$^) $(libraries)

# All ranks in one process, by SimGrid: the objects that know MPI are made anew with SimGrid's, the rest is as above.
knows_mpi := $(shell grep -lE '<mpi\.h>|comm/state\.hpp' lib/machine/*/*.cpp lib/tools/*/*.cpp)
simulated = $(patsubst %.cpp,$(BUILD)/obj/simulated/%.o,$1)
simulated_objects := $(call simulated,$(sort $(filter-out lib/tools/simgrid/times.cpp,$(knows_mpi)) lib/tools/simgrid/start_simulated.cpp))
replaced_objects := $(call object,$(knows_mpi) lib/tools/cli/start_processes.cpp)
$(BUILD)/obj/simulated/%.o: packages = -isystem $(shell pkg-config --variable=includedir simgrid)/smpi
$(BUILD)/obj/simulated/%.o: %.cpp
	@mkdir -p $(@D)
	@echo "  compile $< for simulated ranks"
	$(quiet)$(CXX) $(flags) -c -o $@ $<

$(BUILD)/shardlings-simulated: $(simulated_objects) $(filter-out $(replaced_objects),$(stack_objects) $(tool_objects) $(machine_objects)) \
		$(BUILD)/mine
$(BUILD)/simulated-times: $(call simulated,lib/tools/simgrid/times.cpp) \
		$(filter $(foreach f,lib/machine lib/tools/launch lib/tools/simgrid/simulate,$(BUILD)/obj/simulated/$f%),$(simulated_objects)) \
		$(filter-out $(replaced_objects),$(stack_objects) $(call object,$(wildcard $(foreach t,data schedule trace train launch,lib/tools/$t/*.cpp)) \
		lib/tools/simgrid/platform.cpp) $(machine_objects)) $(BUILD)/mine
$(BUILD)/shardlings-simulated $(BUILD)/simulated-times:
	@echo "  link    $@"
	$(quiet)$(CXX) $(sanitizer) -o $@ $(filter %.o,$^) $(shell pkg-config --libs simgrid openblas) $(common_libraries)

simulated: ## build the program whose ranks SimGrid simulates in one process: needs libsimgrid-dev
	@lib/scripts/setup.sh build simulate
	@$(MAKE) -j$(JOBS) $(BUILD)/shardlings-simulated

test-simulated: simulated ## simulated ranks do what ranks that are processes do
	@$(MAKE) -j$(JOBS) $(BUILD)/shardlings $(BUILD)/simulated-times
	@tests/lib/simulated/run.sh $(BUILD)

simulated-times: ## our virtual time beside SimGrid's simulated time: ring, pipeline, 3D step; needs libsimgrid-dev
	@lib/scripts/setup.sh build simulate
	@$(MAKE) -j$(JOBS) $(BUILD)/simulated-times
	@lib/tools/simgrid/times.sh $(BUILD)
.PHONY: simulated test-simulated simulated-times

# The library that watches MPI programs, preloaded into them: with no C++ library of its own to show, and no
# sanitizer, which would have to be in the program too. It is also loaded where there is no MPI: what it calls is
# looked for when it is called.
watch_objects := $(call object,$(wildcard lib/tools/watch/preload/*.cpp))
$(watch_objects): sanitizer :=
$(watch_objects): private optimise := -O3 -flto=auto -fPIC -fvisibility=hidden
$(BUILD)/libmpiwatch.so: $(watch_objects)
	@echo "  link    $@"
	$(quiet)$(CXX) -shared -O3 -flto=auto -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,lazy -o $@ $^
watch-library: $(BUILD)/libmpiwatch.so

# The supervisor of a driver in a sandbox, where nothing of the course may be seen.
$(BUILD)/mpiwatch: $(call object,$(wildcard lib/tools/watch/inside/*.cpp lib/tools/watch/*.cpp lib/tools/launch/*.cpp lib/machine/base/*.cpp))
	@echo "  link    $@"
	$(quiet)$(CXX) $(sanitizer) -o $@ $^ $(common_libraries)
.PHONY: watch-library

# --- tests ------------------------------------------------------------------------------------------------------

ifeq ($(catch_libraries),)
catch_main := $(BUILD)/obj/tests/lib/catch_main.o
endif

# The judge of a lesson: its tests, the reference, and no student's code.
define judge_rules
$(BUILD)/tests/$1/test: $(call object,$(filter-out %/driver.cpp,$(wildcard tests/$1/*.cpp))) $(judge_objects) \
		$(foreach l,$(call up_to,$1),$(foreach s,$(call stems,$l),$(BUILD)/obj/solutions/$l/$s.o)) \
		$(machine_objects) $(catch_main)
	@mkdir -p $$(@D)
	@echo "  link    $$@"
	$(quiet)$(CXX) $(sanitizer) -o $$@ $$(filter %.o,$$^) $(catch_libraries) $(libraries)
judges += $(BUILD)/tests/$1/test
endef

# A driver counts its heap (lib/tools/grade/driver_heap.cpp).
wrap_malloc := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=__cxa_allocate_exception
count_heap := $(if $(and $(filter Linux,$(shell uname)),$(if $(findstring address,$(SANITIZE)),,yes)),$(wrap_malloc))

# A driver runs one file of somebody's code, with the reference for everything else: $1 lesson, $2 file, $3 object,
# $4 program. That object comes last: of a template's instance that several objects hold the first is taken.
define driver_rule
$4: $(BUILD)/obj/tests/$1/driver.o $(driver_objects) $(machine_objects) \
		$(filter-out $(BUILD)/obj/solutions/$1/$2.o,$(foreach l,$(call up_to,$1),$(foreach s,$(call stems,$l),$(BUILD)/obj/solutions/$l/$s.o))) $3
	@mkdir -p $$(@D)
	@echo "  link    $$@"
	$(quiet)$(CXX) $(sanitizer) -o $$@ $$(filter %.o,$$^) $(count_heap) $(libraries) 2>$$@.err || { cat $$@.err >&2; exit 1; }
endef

$(foreach l,$(lessons),$(if $(wildcard tests/$l/driver.cpp),$(eval $(call judge_rules,$l))))
$(foreach l,$(lessons),$(if $(wildcard tests/$l/driver.cpp),\
	$(eval $(call driver_rule,$l,$(firstword $(call stems,$l)),$(BUILD)/obj/solutions/$l/$(firstword $(call stems,$l)).o,$(BUILD)/drivers/solution/$l/all))\
	$(foreach s,$(call stems,$l),$(eval $(call driver_rule,$l,$s,$(BUILD)/obj/exercises/$l/$s.o,$(BUILD)/drivers/exercise/$l/$s)))))

# Planted bugs: $(BUILD)/wrong/LESSON/BUG/FILE.cpp, written by `shardlings course plant`.
wrong_sources := $(wildcard $(BUILD)/wrong/*/*/*.cpp)
$(foreach w,$(wrong_sources:$(BUILD)/wrong/%.cpp=%),$(eval $(call driver_rule,$(firstword $(subst /, ,$w)),$(notdir $w),$(BUILD)/obj/wrong/$w.o,$(BUILD)/drivers/wrong/$w)))
.PHONY: wrong-drivers
wrong-drivers: $(patsubst $(BUILD)/wrong/%.cpp,$(BUILD)/drivers/wrong/%,$(filter $(BUILD)/wrong/$(ONLY)%,$(wrong_sources)))

# A submission being graded: $(BUILD)/submission/$(SUBMISSION)/LESSON/FILE.cpp, copied by `shardlings grade`.
ifneq ($(SUBMISSION),)
submitted := $(patsubst $(BUILD)/submission/%.cpp,%,$(wildcard $(BUILD)/submission/$(SUBMISSION)/*/*.cpp))
$(foreach s,$(submitted),$(eval $(call driver_rule,$(word 2,$(subst /, ,$s)),$(notdir $s),$(BUILD)/obj/submission/$s.o,$(BUILD)/drivers/submission/$s)))
endif

lib_tests := $(basename $(notdir $(filter-out %/catch_main.cpp,$(wildcard tests/lib/*.cpp))))
$(BUILD)/tests/lib/test: $(patsubst %,$(BUILD)/obj/tests/lib/%.o,$(lib_tests)) $(solution_objects) $(judge_objects) \
		$(filter-out $(BUILD)/obj/lib/tools/cli/main.o $(judge_objects),$(tool_objects)) $(machine_objects) $(catch_main)
	@mkdir -p $(@D)
	@echo "  link    $@"
	$(quiet)$(CXX) $(sanitizer) -o $@ $(filter %.o,$^) $(catch_libraries) $(libraries)

# Programs that the library's tests start on several ranks.
rank_programs := $(patsubst tests/lib/%.cpp,$(BUILD)/tests/lib/%,$(wildcard tests/lib/ranks/*.cpp))
$(rank_programs): $(BUILD)/tests/lib/%: $(BUILD)/obj/tests/lib/%.o $(machine_objects)
	@mkdir -p $(@D)
	@echo "  link    $@"
	$(quiet)$(CXX) $(sanitizer) -o $@ $^ $(libraries)

# The example of lesson 03 and wrong collectives, checked as a user's own would be.
$(BUILD)/tests/lib/collectives/program: $(BUILD)/obj/tests/lib/collectives/program.o $(verify_objects)
	@mkdir -p $(@D)
	@echo "  link    $@"
	$(quiet)$(CXX) $(sanitizer) -o $@ $^ $(libraries)
rank_programs += $(BUILD)/tests/lib/collectives/program

# Plain MPI programs that are watched, one with the project's Comm among them.
watched_programs := $(patsubst tests/lib/%.cpp,$(BUILD)/tests/lib/%,$(wildcard tests/lib/watch/*.cpp))
$(BUILD)/tests/lib/watch/comm: $(machine_objects)
$(watched_programs): $(BUILD)/tests/lib/%: $(BUILD)/obj/tests/lib/%.o
	@mkdir -p $(@D)
	@echo "  link    $@"
	$(quiet)$(CXX) $(sanitizer) -o $@ $^ $(libraries)
watch-programs: $(watched_programs) $(BUILD)/shardlings $(BUILD)/libmpiwatch.so
RUNS ?= 200
watch-no-false-alarms: ## RUNS=200 correct programs under watch on busy cores, and nothing said of them
	@$(MAKE) -j$(JOBS) watch-programs
	@tests/lib/watch/no_false_alarms.sh $(BUILD) $(RUNS)
.PHONY: watch-programs watch-no-false-alarms

solution_drivers := $(foreach l,$(lessons),$(if $(wildcard tests/$l/driver.cpp),$(BUILD)/drivers/solution/$l/all))
demos := $(patsubst lessons/%.cpp,$(BUILD)/lessons/%,$(wildcard lessons/*/*.cpp))
all: $(BUILD)/shardlings $(watch_programs) $(demos) $(judges) $(solution_drivers) $(if $(lib_tests),$(BUILD)/tests/lib/test) $(rank_programs) $(watched_programs) ## build everything

# --- the course -------------------------------------------------------------------------------------------------

lesson exercise solution hint reset:
	@echo "make $@: of which lesson? make $@-00, for instance" >&2; exit 2
.PHONY: lesson exercise solution hint reset

lesson-%: ## run lesson NN's demo
	@$(MAKE) -j$(JOBS) $(BUILD)/shardlings $(filter $(BUILD)/lessons/$*_%,$(demos))
	@lessons/$(call lesson_of,$*)/demo.sh $(BUILD)

lesson-09-1024: ## one step on 1024 devices (PP 16 x DP 8 x TP 8), simulated in one process: needs libsimgrid-dev
	@lib/scripts/setup.sh build simulate
	@$(MAKE) -j$(JOBS) $(BUILD)/shardlings $(BUILD)/shardlings-simulated $(BUILD)/lessons/09_3d/beside
	@lessons/09_3d/thousand.sh $(BUILD)
two-hosts: ## train on two hosts, made of network namespaces on this machine, over TCP (needs root)
	@$(MAKE) -j$(JOBS) $(BUILD)/shardlings $(BUILD)/lessons/09_3d/beside
	@lessons/09_3d/two_hosts.sh $(BUILD)
.PHONY: lesson-09-1024 two-hosts

# What a page's programs use of the tools: traces, the trainer with all that it needs, and the ledger.
demo_tool_objects := $(call object,$(wildcard $(foreach t,data schedule trace train,lib/tools/$t/*.cpp) \
  $(foreach f,activations ledger,lib/tools/agreement/$f.cpp)))
$(demos): $(BUILD)/lessons/%: $(BUILD)/obj/lessons/%.o $(stack_objects) $(demo_tool_objects) $(machine_objects) $(BUILD)/mine
	@mkdir -p $(@D)
	@echo "  link    $@"
	$(quiet)$(CXX) $(sanitizer) -o $@ $(filter %.o,$^) $(libraries)

exercise-%: ## test your code of lesson NN (PART=01.3 for one part)
	@$(MAKE) -j$(JOBS) build $(BUILD)/tests/$(call lesson_of,$*)/test
	@$(MAKE) -k -j$(JOBS) exercise-drivers-$* 2>&1 | $(BUILD)/shardlings course compiler-output || true
	@$(BUILD)/shardlings course test $* --code exercise --build $(BUILD) $(if $(PART),--part $(PART)) $(if $(V),--verbose)

exercise-drivers-%: always
	@$(MAKE) -k -j$(JOBS) $(foreach s,$(call stems,$(call lesson_of,$*)),$(BUILD)/drivers/exercise/$(call lesson_of,$*)/$s)

solution-%: ## test the reference of lesson NN with the same tests
	@$(MAKE) -j$(JOBS) build $(BUILD)/tests/$(call lesson_of,$*)/test $(BUILD)/drivers/solution/$(call lesson_of,$*)/all
	@$(BUILD)/shardlings course test $* --code solution --build $(BUILD) $(if $(PART),--part $(PART)) $(if $(V),--verbose)

# A collective of one's own, in a header: the example's main with the header, function and kind put in its place,
# linked with lesson 03's collectives, which can be checked too (FUNCTION=collectives::ring_all_reduce).
HEADER ?= lessons/03_collectives/own/my_all_reduce.hpp
FUNCTION ?= my_all_reduce
KIND ?= all-reduce
collective_kinds := all-reduce reduce-scatter all-gather broadcast
SAMPLE ?= 40
verify: $(BUILD)/shardlings ## every layout of up to 8 ranks against the single process, in fp64, and samples in other dtypes
	@$(BUILD)/shardlings verify --sweep 8 --json $(BUILD)/verify.json
	@for dtype in fp32 bf16 fp16; do \
		echo; $(BUILD)/shardlings verify --sweep 8 --dtype $$dtype --sample $(SAMPLE) || exit 1; \
	done
.PHONY: verify

verify-collective: ## check your own all-reduce: HEADER=path/mine.hpp FUNCTION=my_all_reduce KIND=all-reduce
	@test -f "$(HEADER)" || { echo "HEADER=$(HEADER): there is no such file; expected a path as seen from here" >&2; exit 2; }
	@test -n "$(filter $(KIND),$(collective_kinds))" || { echo "KIND=$(KIND): expected one of $(collective_kinds)" >&2; exit 2; }
	@mkdir -p $(BUILD)/verify
	@sed -e 's|"lessons/.*[.]hpp"|"$(HEADER)"|; s|Collective::[a-z_]*, [a-z_]*|Collective::$(subst -,_,$(KIND)), $(FUNCTION)|' \
		lessons/03_collectives/own/verify.cpp > $(BUILD)/verify/collective.new
	@cmp -s $(BUILD)/verify/collective.new $(BUILD)/verify/collective.cpp || mv $(BUILD)/verify/collective.new $(BUILD)/verify/collective.cpp
	@$(MAKE) -j$(JOBS) $(BUILD)/verify/collective
	@$(BUILD)/verify/collective $(ARGS)
.PHONY: verify-collective

$(BUILD)/obj/verify/collective.o: $(BUILD)/verify/collective.cpp
	@mkdir -p $(@D)
	@echo "  compile $(HEADER)"
	$(quiet)$(CXX) $(flags) $(exercise_flags) -c -o $@ $< 2>$(@:.o=.err) || { cat $(@:.o=.err) >&2; exit 1; }

$(BUILD)/verify/collective: $(BUILD)/obj/verify/collective.o $(foreach o,$(stack_objects),$(if $(findstring /03_collectives/,$o),$o)) \
		$(verify_objects) $(BUILD)/mine
	@echo "  link    $@"
	$(quiet)$(CXX) $(sanitizer) -o $@ $(filter %.o,$^) $(libraries)

hint-%: $(BUILD)/shardlings ## the next hint for lesson NN (PART=01.3 for one part)
	@$(BUILD)/shardlings course hint $* $(if $(PART),--part $(PART)) $(if $(SOLUTION),--solution)

reset-%: $(BUILD)/shardlings ## put back lesson NN's skeleton, keeping a copy of your code
	@$(BUILD)/shardlings course reset $* $(if $(PART),--part $(PART))

progress: $(BUILD)/shardlings ## all exercises: done, failing, not started
	@$(BUILD)/shardlings progress

watch: $(BUILD)/shardlings ## rerun the exercise you save
	@$(BUILD)/shardlings course watch

# --- the course, for its authors ---------------------------------------------------------------------------------

exercises: $(BUILD)/shardlings ## write exercises/ from solutions/ (for authors: overwrites)
	@$(BUILD)/shardlings course generate

exercise_objects := $(solution_objects:$(BUILD)/obj/solutions/%=$(BUILD)/obj/exercises/%)
check-exercises: $(BUILD)/shardlings $(solution_objects) ## fail when exercises/ is not what solutions/ gives, or defines other symbols
	@$(BUILD)/shardlings course generate --check
	@$(MAKE) -j$(JOBS) $(exercise_objects)
	@lib/scripts/check_symbols.sh $(BUILD)

check-skeletons: all check-exercises ## skeletons fail every test as "not implemented", solutions pass
	@$(MAKE) -j$(JOBS) $(foreach l,$(lessons),$(foreach s,$(call stems,$l),$(BUILD)/drivers/exercise/$l/$s))
	@$(BUILD)/shardlings course judge-skeletons --build $(BUILD)

wrong: all ## every planted bug must be found by the tests (those of one lesson: ONLY=08)
	@$(BUILD)/shardlings course plant --build $(BUILD)
	@$(MAKE) -j$(JOBS) wrong-drivers
	@$(BUILD)/shardlings course judge-wrong --build $(BUILD) --only "$(ONLY)"

bug: ## what the tests say about a planted bug: make bug BUG=00_devices/ring_passes_the_sum
	@test -f "tests/$(dir $(BUG))wrong/$(notdir $(BUG)).toml" || \
		{ echo "make bug BUG=LESSON/NAME: expected the name of a tests/LESSON/wrong/NAME.toml" >&2; exit 2; }
	@$(MAKE) -j$(JOBS) build $(BUILD)/tests/$(firstword $(subst /, ,$(BUG)))/test >/dev/null
	@$(BUILD)/shardlings course plant --build $(BUILD)
	@$(MAKE) -j$(JOBS) bug-driver >/dev/null
	@$(BUILD)/shardlings course show-bug $(BUG) --build $(BUILD)
.PHONY: bug bug-driver
bug-driver: $(patsubst $(BUILD)/wrong/%.cpp,$(BUILD)/drivers/wrong/%,$(wildcard $(BUILD)/wrong/$(BUG)/*.cpp))

pages = $(shell git ls-files '*.md')
docs: all ## fill the excerpts and transcripts of the pages
	@lib/scripts/docs.py $(pages)

docs-check: all ## fail when a page's excerpt or transcript is not what its command gives
	@lib/scripts/docs.py --check $(pages)
.PHONY: docs docs-check

# --- notebooks and grading ---------------------------------------------------------------------------------------

grader: $(BUILD)/shardlings $(watch_programs) $(judges) $(solution_drivers) ## build what grading needs
# Debian's packages are for Debian's Python, whatever other comes first in PATH.
PYTHON ?= $(or $(wildcard /usr/bin/python3),python3)
notebook: ## open the notebooks in a browser
	@lib/scripts/setup.sh build notebooks jupyter
	@$(MAKE) -j$(JOBS) $(BUILD)/shardlings
	@cd notebooks && $(PYTHON) -m notebook $(if $(filter 0,$(shell id -u)),--allow-root)

notebooks: ## execute the notebooks and compare what they show with what is committed (WRITE=1: store it)
	@lib/scripts/setup.sh build notebooks
	@$(MAKE) -j$(JOBS) $(BUILD)/shardlings
	@cd notebooks && $(PYTHON) -W ignore -m unittest -q test_run
	@$(PYTHON) notebooks/run.py $(if $(WRITE),--write)
.PHONY: notebook notebooks

grade: ## score a submission: make grade DIR=path [JSON=file]; more in lib/tools/marks/README.md
	@test -n "$(DIR)" || { echo "make grade DIR=path-to-a-submission [JSON=file]" >&2; exit 2; }
	@$(MAKE) -j$(JOBS) grader
	@$(BUILD)/shardlings grade $(DIR) --build $(BUILD) $(if $(JSON),--json $(JSON))

test-grading: ## cheats earn nothing from the grader, honest variants everything: needs bubblewrap
	@lib/scripts/setup.sh build grade
	@$(MAKE) -j$(JOBS) grader
	@tests/grade/run.sh $(BUILD)

gradescope: ## the zip file for Gradescope's autograder
	@lib/tools/marks/gradescope/bundle.sh $(BUILD)/gradescope.zip
.PHONY: grader grade test-grading gradescope

# --- for authors ------------------------------------------------------------------------------------------------

bench: ## measure collectives, the training step and overheads
	@$(MAKE) -j$(JOBS) build
	@$(BUILD)/shardlings bench messages
	@$(BUILD)/shardlings bench watch
	@$(BUILD)/shardlings bench collectives
	@$(BUILD)/shardlings bench scaling
	@$(BUILD)/shardlings bench step

sources = $(shell git ls-files '*.cpp' '*.hpp')
lint: ## format, tidy, shellcheck, includes
	@lib/scripts/setup.sh build lint
	@lib/scripts/lint.sh "$(filter-out -MMD -MP,$(flags))"

format: ## format the sources in place
	clang-format -i $(sources)

clean: ## remove build/
	rm -rf build

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
