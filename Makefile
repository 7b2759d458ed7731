# SPDX-License-Identifier: BSD-3-Clause
# ucxbpf. `make setup` first on a new machine, or `make demo` / `make check`, which do it themselves.
# What there is to make: the table in CONTRIBUTING.md.
#
#   V=1               show commands
#   DEVELOPER=1       all warnings, as errors
#   SANITIZE=address  (or undefined, thread) a second build in build/address
#   STATIC=1          libraries linked statically where Debian has them
#   PREFIX=/usr/local where `make install` puts things

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.SUFFIXES:

PREFIX ?= /usr/local
CC := gcc
CLANG ?= clang
BPFTOOL ?= bpftool
O := build$(if $(SANITIZE),/$(SANITIZE))

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2:$(O)/%=%))

#-- What there is ----------------------------------------------------------------------------------

BPF_HOT := mpi ucp uct count count_xfer count_error
BPF_SRC := $(filter-out $(BPF_HOT:%=bpf/%.bpf.c),$(sort $(wildcard bpf/*.bpf.c)))
TRAFFIC_SRC := $(sort $(wildcard user/site/traffic/*.c))
USER_SRC := $(sort $(filter-out $(TRAFFIC_SRC) user/tools.c,$(shell find user -name '*.c')))
UNIT_SRC := $(sort $(wildcard tests/unit/*_test.c))
MPI_SRC := $(sort $(wildcard tests/progs/mpi_*.c tests/progs/cg.c))
FORTRAN_SRC := $(sort $(wildcard tests/progs/mpi_*.f90))
UCP_SRC := $(sort $(wildcard tests/progs/ucp_*.c))
SHMEM_SRC := $(sort $(wildcard tests/progs/shmem_*.c))
DL_SRC := $(sort $(wildcard tests/progs/dl_*.c))
LIB_SRC := $(sort $(wildcard tests/progs/lib_*.c))
WITNESS_SRC := $(sort $(wildcard tests/witness/*.c))
BENCH_SRC := $(sort $(filter-out %.bpf.c,$(wildcard tests/bench/*.c)))
MAN_SRC := $(sort $(wildcard docs/*.1.md))

BPF_OBJ := $(BPF_SRC:bpf/%.bpf.c=$(O)/bpf/%.bpf.o)
BPF_ARM64 := $(BPF_SRC:bpf/%.bpf.c=$(O)/bpf-arm64/%.bpf.o)
USER_OBJ := $(USER_SRC:%.c=$(O)/obj/%.o)
LIB_OBJ := $(filter-out %/user/main.o,$(USER_OBJ))
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(O)/tests/unit/%)
BENCH_BIN := $(BENCH_SRC:tests/bench/%.c=$(O)/tests/bench/%)
TRAFFIC_OBJ := $(patsubst %,$(O)/obj/user/%.o,base/alloc base/readable base/shape base/text base/vec $(addprefix site/plan/,json plan))
TRAFFIC := $(foreach m,openmpi mpich,$(O)/ucxbpf-traffic-$(m))
TRUST_BIN := $(basename $(patsubst tests/trust/%,$(O)/tests/trust/%,$(wildcard tests/trust/*.c tests/trust/*.cc)))
BENCH_JOB := $(addprefix $(O)/tests/bench/job/,pingpong node shim.so flood libflood.so)
MPIS := openmpi mpich
PROG_BIN := $(foreach m,$(MPIS),$(MPI_SRC:tests/progs/%.c=$(O)/tests/progs/$(m)/%)) \
	$(foreach m,$(MPIS),$(FORTRAN_SRC:tests/progs/%.f90=$(O)/tests/progs/$(m)/%)) \
	$(UCP_SRC:tests/progs/%.c=$(O)/tests/progs/ucp/%) \
	$(SHMEM_SRC:tests/progs/%.c=$(O)/tests/progs/shmem/%) \
	$(DL_SRC:tests/progs/%.c=$(O)/tests/progs/dl/%) \
	$(LIB_SRC:tests/progs/%.c=$(O)/tests/progs/lib/%.so) \
	$(foreach m,$(MPIS),$(WITNESS_SRC:tests/witness/%.c=$(O)/tests/witness/$(m)/%.so))
MAN := $(MAN_SRC:docs/%.md=$(O)/man/%)
SKEL := $(if $(BPF_SRC),$(O)/include/ucxbpf.skel.h)
VIEWER := build/viewer
VIEWER_SRC := $(shell find user/show/viewer -name node_modules -prune -o -type f -print)
PROTO_SRC := $(sort $(shell find user -name '*.proto'))
PROTO_OBJ := $(PROTO_SRC:%.proto=$(O)/obj/%.pb-c.o)
PROTO_H := $(foreach p,$(PROTO_SRC),$(O)/include/$(notdir $(p:.proto=.pb-c.h)))
GENERATED := $(O)/include/commands.inc $(O)/include/version.h $(SKEL) $(PROTO_H)

#-- Flags ------------------------------------------------------------------------------------------

WARN := -Wall -Wextra
ifdef DEVELOPER
WARN += -Werror -Wmissing-prototypes -Wstrict-prototypes -Wold-style-definition -Wshadow=local \
	-Wpointer-arith -Wvla -Wundef -Wwrite-strings -Wformat=2 -Wno-format-nonliteral
endif
CFLAGS ?= -O2 -g
# The compiler finds an object's counts by the object that counted, and those of a static function only if that has the same
# name: -dumpdir gives it. A function without counts is an error, an object without is compiled as usual.
counts = $(and $(PROFILE),$(wildcard $(@:$(O)/%.o=$(PROFILE)/%.gcda)))
with_counts = $(if $(counts),-fprofile-use -fprofile-partial-training -Werror=missing-profile -dumpdir $(dir $(counts)))
SAN := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all)
# A build has no path of its machine in it: built elsewhere, it has the same bytes.
ANYWHERE := -ffile-prefix-map=$(CURDIR)=.
BASE_CFLAGS := -std=gnu11 -D_GNU_SOURCE $(WARN) -Iuser -Ibpf -I$(O)/include $(CFLAGS) $(SAN) $(ANYWHERE)

# Asked of pkg-config in a recipe, never while reading this file: `make setup` may not have run yet.
PKGS := libbpf libdw libelf libzstd zlib jansson libxxhash libprotobuf-c sqlite3 yaml-0.1 nettle otf2 ncursesw \
	libevent_extra libevent_core
# Debian has no static Zydis.
# what comes with the C library stays with it
static_libs = -Wl,-Bstatic $$(pkg-config --static --libs $(PKGS) | sed 's/ -l\(m\|dl\|rt\)\>//g') \
	-Wl,-Bdynamic -lZydis -pthread -lm
# GCC's demangler comes with g++ and needs no more than libc: its archive, not the whole libstdc++.
DEMANGLE := -l:libsupc++.a
libs = $(if $(STATIC),$(static_libs),$$(pkg-config --libs $(PKGS)) -lZydis -pthread -lm) $(DEMANGLE)

BPF_CFLAGS := -target bpf -g -O2 -mcpu=v3 -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
	$(if $(DEVELOPER),-Werror) -Ibpf $(ANYWHERE)

#-- The program ------------------------------------------------------------------------------------

.PHONY: all
all: $(O)/ucxbpf $(O)/verifier.txt $(TRAFFIC)

$(O)/ucxbpf: $(O)/obj/user/main.o $(O)/libucxbpf.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(SAN) $^ $(libs) -o $@

# The sweep's traffic, once per MPI that is here. No other libraries: nodes may lack them.
$(O)/ucxbpf-traffic-%: $(TRAFFIC_SRC) user/site/traffic/traffic.h $(TRAFFIC_OBJ)
	$(call say,MPICC,$@)
	$(Q)if command -v mpicc.$* >/dev/null; then mpicc.$* $(BASE_CFLAGS) $(filter %.c %.o,$^) \
		-l:libjansson.a -l:libxxhash.a -ldl -o $@; \
		else echo "no mpicc.$*: without ucxbpf-traffic-$*, sweeps need another MPI" >&2; fi

$(O)/libucxbpf.a: $(LIB_OBJ) $(PROTO_OBJ) $(O)/obj/viewer.o
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $^

$(O)/obj/%.o: %.c $(O)/flags | $(GENERATED)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(BASE_CFLAGS) $(with_counts) -MMD -MP -c $< -o $@

# the skeleton's functions are known by its path, which has another folder where they are counted
$(O)/obj/user/observe/capture/kernel.o: private with_counts :=

$(O)/include/%.pb-c.h: user/show/export/%.proto
	$(call say,PROTOC,$@)
	$(Q)mkdir -p $(@D) && protoc-c --proto_path=$(<D) --c_out=$(@D) $<

.SECONDARY: $(PROTO_H)

# Not our code: no warnings of ours.
$(O)/obj/user/show/export/%.pb-c.o: $(O)/include/%.pb-c.h $(O)/flags
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -w -I$(O)/include $(CFLAGS) $(SAN) $(ANYWHERE) -c $(<:.h=.c) -o $@

# Rewritten only when the text changes, so that what depends on it is rebuilt only then.
update = mkdir -p $(@D); cmp -s $@.new $@ && rm -f $@.new || mv $@.new $@

$(O)/flags: FORCE
	@mkdir -p $(@D); echo '$(BASE_CFLAGS) $(BPF_CFLAGS) $(if $(PROFILE),$(shell cat $(PROFILE)/trained))' >$@.new; $(update)

$(O)/include/version.h: FORCE
	@mkdir -p $(@D); scripts/version-header >$@.new; $(update)

$(O)/include/commands.inc: FORCE
	@mkdir -p $(@D); scripts/command-table >$@.new; $(update)

#-- The page of an HTML report, which the program has in it --------------------------------------------

# Once per machine and lockfile; the only step that may need a network.
$(VIEWER)/packages: user/show/viewer/package.json user/show/viewer/package-lock.json
	$(call say,NPM,$@)
	$(Q)mkdir -p $(@D) && npm --prefix user/show/viewer ci --no-audit --no-fund --loglevel=error >$@.log 2>&1 || { \
		cat $@.log; echo 'the packages in user/show/viewer/package-lock.json could not be installed: npm' \
		'needs a registry or its cache' >&2; exit 1; }
	$(Q)touch $@

VIEWER_OUT := $(foreach p,index verdict,$(VIEWER)/$(p).js $(VIEWER)/$(p).css)

$(VIEWER_OUT) &: $(VIEWER)/packages $(VIEWER_SRC)
	$(call say,VITE,$(VIEWER))
	$(Q)npm --prefix user/show/viewer run --silent build && touch $(VIEWER_OUT)

$(O)/obj/viewer.S: scripts/embed-viewer $(VIEWER_OUT)
	$(Q)mkdir -p $(@D) && scripts/embed-viewer $(VIEWER) >$@

$(O)/obj/viewer.o: $(O)/obj/viewer.S
	$(call say,AS,$@)
	$(Q)$(CC) -c $< -o $@

#-- Completion of shells, from the tables of options -----------------------------------------------

COMPLETION := $(addprefix $(O)/completion/,ucxbpf.bash _ucxbpf ucxbpf.fish)

$(O)/completion/options: packaging/completion/options.c $(O)/libucxbpf.a
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(BASE_CFLAGS) -MMD -MP $< $(O)/libucxbpf.a -Wl,--wrap=argp_parse $(libs) -o $@

$(O)/completion/options.txt: $(O)/completion/options
	$(Q)ASAN_OPTIONS=detect_leaks=0 $< >$@

$(COMPLETION) &: packaging/completion/write $(O)/completion/options.txt
	$(call say,SHELLS,$(O)/completion)
	$(Q)$< $(O)/completion <$(O)/completion/options.txt

# Commands of the tracer, which the program without it does not complete.
NOT_IN_TOOLS := $(shell sed -n 's/^ELSEWHERE(\(.*\))/\1/p' user/tools.c)

$(O)/completion/tools/_ucxbpf: packaging/completion/write $(O)/completion/options.txt user/tools.c
	$(Q)mkdir -p $(@D) && $< $(@D) $(NOT_IN_TOOLS) <$(O)/completion/options.txt

.PHONY: completion
completion: $(COMPLETION) $(O)/completion/tools/_ucxbpf

#-- BPF --------------------------------------------------------------------------------------------

$(O)/bpf/%.bpf.o: bpf/%.bpf.c $(O)/flags
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D) && $(CLANG) $(BPF_CFLAGS) -D__TARGET_ARCH_x86 -Ivmlinux/x86_64 -MMD -MP -c $< -o $@

$(O)/bpf-arm64/%.bpf.o: bpf/%.bpf.c $(O)/flags
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D) && $(CLANG) $(BPF_CFLAGS) -D__TARGET_ARCH_arm64 -Ivmlinux/arm64 -MMD -MP -c $< -o $@

$(O)/bpf/linked/ucxbpf.bpf.o: $(BPF_OBJ)
	$(call say,BPFLINK,$@)
	$(Q)mkdir -p $(@D) && $(BPFTOOL) gen object $@ $^

$(O)/include/ucxbpf.skel.h: $(O)/bpf/linked/ucxbpf.bpf.o
	$(call say,SKEL,$@)
	$(Q)mkdir -p $(@D) && $(BPFTOOL) gen skeleton $< name ucxbpf >$@

# Counted anew when the programs have changed. Root only: others are told why not.
$(O)/verifier.txt: $(SKEL) | $(O)/tests/bench/verifier
	$(Q)scripts/verifier-counts $| $@

.PHONY: bpf bpf-arm64
bpf: $(SKEL)
bpf-arm64: $(BPF_ARM64)

#-- Tests ------------------------------------------------------------------------------------------

$(O)/tests/unit/%: tests/unit/%.c $(O)/libucxbpf.a
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(BASE_CFLAGS) -Itests -MMD -MP $< $(O)/libucxbpf.a $(libs) -lcmocka -o $@

# BPF logic on the host (tests/unit/bpf_host.h), with the warnings that BPF_CFLAGS leaves out.
$(O)/tests/unit/bpf_%: private BASE_CFLAGS += -Ivmlinux/x86_64 -Wno-unused-parameter -Wno-sign-compare \
	-Wno-attributes -Wno-missing-prototypes

$(O)/include/floor.skel.h: tests/bench/floor.bpf.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(O)/bpf && $(CLANG) $(BPF_CFLAGS) -D__TARGET_ARCH_x86 -Ivmlinux/x86_64 -c $< -o $(O)/bpf/floor.o
	$(Q)$(BPFTOOL) gen skeleton $(O)/bpf/floor.o name floor_bpf >$@

$(O)/tests/bench/floor: $(O)/include/floor.skel.h

$(O)/tests/bench/job/%: tests/bench/job/%.c
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && mpicc.openmpi -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -g -MMD -MP $< -o $@

$(O)/tests/bench/job/%.so: tests/bench/job/%.c
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && mpicc.openmpi -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -g -MMD -MP -shared -fPIC $< -o $@

$(O)/tests/bench/%: tests/bench/%.c $(O)/libucxbpf.a
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(BASE_CFLAGS) -Itests -MMD -MP $< $(O)/libucxbpf.a $(libs) -o $@

define mpi_rules
$(O)/tests/progs/$(1)/%: tests/progs/%.c
	$$(call say,MPICC,$$@)
	$$(Q)mkdir -p $$(@D) && mpicc.$(1) -std=gnu11 -D_GNU_SOURCE -Wall -O2 -g -MMD -MP $$< -o $$@ $$(LINK) -lm -pthread

# each subroutine a function of its own, each call one that returns to its line
$(O)/tests/progs/$(1)/%: tests/progs/%.f90
	$$(call say,MPIFORT,$$@)
	$$(Q)mkdir -p $$(@D) && mpifort.$(1) -cpp -Wall -O1 -g -fno-inline -fno-optimize-sibling-calls \
		-ffree-line-length-none -J $$(@D) $$< -o $$@

$(O)/tests/progs/$(1)/mpi_beside: private LINK := -lucp -lucs

$(O)/tests/witness/$(1)/%.so: tests/witness/%.c
	$$(call say,MPICC,$$@)
	$$(Q)mkdir -p $$(@D) && mpicc.$(1) -std=gnu11 -D_GNU_SOURCE -Wall -O2 -g -MMD -MP -shared -fPIC $$< -o $$@
endef
$(foreach m,$(MPIS),$(eval $(call mpi_rules,$(m))))

$(O)/tests/progs/ucp/%: tests/progs/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -g -MMD -MP $< -o $@ -lucp -lucs -pthread

$(O)/tests/progs/shmem/%: tests/progs/%.c
	$(call say,OSHCC,$@)
	$(Q)mkdir -p $(@D) && oshcc -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -g -MMD -MP $< -o $@

$(O)/tests/progs/dl/%: tests/progs/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -g -MMD -MP $< -o $@ -ldl -pthread

# Without symbols and debug information.
$(O)/tests/progs/lib/%.so: tests/progs/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -MMD -MP -shared -fPIC -s $< -o $@

# What the rows of the list R1 to R30 need.
$(O)/tests/trust/%: tests/trust/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -g -MMD -MP $< -o $@ $(TRUST_LIBS_$*) -pthread

$(O)/tests/trust/%: tests/trust/%.cc
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D) && $(CXX) -Wall -Wextra -O2 $< -o $@ $(TRUST_LIBS_$*)

$(O)/tests/trust/throws: TRUST_LIBS_throws = -lucp -lucs
$(O)/tests/trust/faultfs: TRUST_LIBS_faultfs = $$(pkg-config --cflags --libs fuse3)
$(O)/tests/trust/flow: TRUST_LIBS_flow = -lucp -lucs
$(O)/tests/trust/objects: TRUST_LIBS_objects = -lucp -lucs
$(O)/tests/trust/mutants: $(O)/libucxbpf.a
$(O)/tests/trust/mutants: TRUST_LIBS_mutants = $(BASE_CFLAGS) -Itests $(O)/libucxbpf.a $(libs)

#-- Fuzzers (tests/fuzz/README.md) -------------------------------------------------------------------

# What they run in: all that is read without root.
FUZZ_SRC := $(filter-out user/main.c user/cmd/% user/observe/capture/% user/observe/probe/keeper.c user/observe/probe/links% user/observe/doctor/%,$(USER_SRC)) tests/fuzz/harness.c tests/fuzz/mutate.c
FUZZ_TARGETS := replay site reader elf
FUZZ_LIBS_reader := -ldw -lelf -lZydis
FUZZ_LIBS_elf := $(FUZZ_LIBS_reader)
FUZZ_CFLAGS := -std=gnu11 -D_GNU_SOURCE -Wall -Iuser -Ibpf -Itests -I$(O)/include -O1 -gline-tables-only \
	-fno-omit-frame-pointer $(ANYWHERE)
FUZZ_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fsanitize-coverage=inline-8bit-counters,pc-table
FUZZ_COVER := -fprofile-instr-generate -fcoverage-mapping
# Without AddressSanitizer; one run of FUZZ_FAST writes its results.
FUZZ_FAST := -DFUZZ_FAST=256 -O2 -fsanitize=undefined -fsanitize-trap=undefined \
	-fsanitize-coverage=inline-8bit-counters,pc-table -fsanitize-coverage-ignorelist=tests/fuzz/fast.ignore
# libFuzzer alone: what it puts around strcmp() takes a tenth of the time.
FUZZ_BARE := $(shell $(CLANG) -print-resource-dir)/lib/linux/libclang_rt.fuzzer-$(shell uname -m).a -lstdc++
FUZZ_WRAP := -Wl,--wrap=ZSTD_createDCtx,--wrap=ZSTD_freeDCtx,--wrap=ZSTD_createCCtx,--wrap=ZSTD_freeCCtx
FUZZ_WRAP_replay := -Wl,--wrap=decoder_new,--wrap=decoder_free,--wrap=sorted_new,--wrap=sorted_free
FUZZ_PKGS := libzstd zlib jansson libxxhash libprotobuf-c yaml-0.1 nettle sqlite3 otf2

# folder, flags of the compiler, libFuzzer: with sanitizers, fast, and to see which lines were run
define fuzz_rules
$(O)/$(1)/flags: FORCE
	@mkdir -p $$(@D); echo '$(FUZZ_CFLAGS) $(2)' >$$@.new; $$(update)

$(O)/$(1)/obj/%.o: %.c $(O)/$(1)/flags | $(O)/include/version.h $(PROTO_H)
	$$(call say,CLANG,$$@)
	$$(Q)mkdir -p $$(@D) && $(CLANG) $(FUZZ_CFLAGS) $(2) -MMD -MP -c $$< -o $$@

$(O)/$(1)/obj/%.pb-c.o: $(O)/include/%.pb-c.h $(O)/$(1)/flags
	$$(call say,CLANG,$$@)
	$$(Q)mkdir -p $$(@D) && $(CLANG) $(FUZZ_CFLAGS) -w $(2) -c $$(<:.h=.c) -o $$@

$(O)/$(1)/libucxbpf.a: $(FUZZ_SRC:%.c=$(O)/$(1)/obj/%.o) $(PROTO_SRC:user/show/export/%.proto=$(O)/$(1)/obj/%.pb-c.o)
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@ && $(AR) rcsD $$@ $$^

$(FUZZ_TARGETS:%=$(O)/$(1)/%): $(O)/$(1)/%: $(O)/$(1)/obj/tests/fuzz/%.o $(O)/$(1)/libucxbpf.a
	$$(call say,LINK,$$@)
	$$(Q)$(CLANG) $(FUZZ_CFLAGS) $(3) $(2) $$^ $(FUZZ_WRAP) $$(FUZZ_WRAP_$$*) -Wl,-Bstatic $$$$(pkg-config --static --libs $(FUZZ_PKGS) | sed 's/ -l\(m\|dl\|rt\)\>//g') \
		-Wl,-Bdynamic $$(FUZZ_LIBS_$$*) $(DEMANGLE) -pthread -lm -Wl,-rpath,'$$$$ORIGIN/lib' -o $$@
endef
$(eval $(call fuzz_rules,fuzz,$(FUZZ_SAN),-fsanitize=fuzzer))
$(eval $(call fuzz_rules,fuzz/fast,$(FUZZ_FAST),$(FUZZ_BARE)))
$(eval $(call fuzz_rules,fuzz-cover,$(FUZZ_COVER),-fsanitize=fuzzer))

# Hostile memory (row R12): what an attach makes of a process, and the part of a capture that it goes through.
GRAPHS_SRC := $(wildcard tests/trust/graphs/*.c) $(addprefix user/observe/capture/,existing.c existing_queues.c quota.c side.c)

$(O)/fuzz/graphs: $(GRAPHS_SRC:%.c=$(O)/fuzz/obj/%.o) $(O)/fuzz/libucxbpf.a
	$(call say,LINK,$@)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) $(FUZZ_SAN) $^ $(FUZZ_WRAP) -Wl,--wrap=remote_ask,--wrap=clock_gettime,--wrap=file_writer_side \
		$$(pkg-config --libs $(FUZZ_PKGS)) $(FUZZ_LIBS_elf) $(DEMANGLE) -pthread -lm -o $@

$(O)/tests/fuzz/seeds: tests/fuzz/seeds.c $(O)/libucxbpf.a
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(BASE_CFLAGS) -Itests -MMD -MP $< $(O)/libucxbpf.a $(libs) -o $@

# Jobs that unit tests make by hand are inputs, too.
FUZZ_TESTS := $(filter $(shell grep -lE '"(unit/)?(outcome|match_ways|memory_calls|match_gpu)\.h"' $(UNIT_SRC)),$(UNIT_SRC))

$(O)/fuzz/seeds/made: tests/fuzz/make-seeds $(O)/tests/fuzz/seeds $(O)/ucxbpf $(FUZZ_TESTS:tests/unit/%.c=$(O)/tests/unit/%)
	$(call say,SEEDS,$@)
	$(Q)tests/fuzz/make-seeds $(@D) $(filter-out $<,$^) && touch $@

.PHONY: fuzzers
fuzzers: $(FUZZ_TARGETS:%=$(O)/fuzz/%) $(O)/fuzz/graphs $(O)/fuzz/seeds/made

.PHONY: fuzzers-fast
fuzzers-fast: $(FUZZ_TARGETS:%=$(O)/fuzz/fast/%)

# TIME=seconds, RUNS=, TARGET="replay site reader elf", JOBS=, FAST=of these, PACK=FILE.tar.gz
.PHONY: fuzz
fuzz: fuzzers fuzzers-fast
	$(Q)TIME=$(or $(TIME),60) RUNS=$(RUNS) TARGET="$(or $(TARGET),$(FUZZ_TARGETS))" JOBS=$(or $(JOBS),1) \
		FAST=$(FAST) PACK=$(abspath $(PACK)) tests/fuzz/run $(O)/fuzz

# How much of the code a corpus comes to: FOLDERS of inputs beside the seeds
.PHONY: fuzz-cover
fuzz-cover: fuzzers $(FUZZ_TARGETS:%=$(O)/fuzz-cover/%)
	$(Q)tests/fuzz/cover $(O)

# One folder for a machine without compilers: its run.sh takes TIME and JOBS.
.PHONY: fuzz-bundle
fuzz-bundle: fuzzers fuzzers-fast
	$(Q)tests/fuzz/bundle $(O)/fuzz $(or $(OUT),$(O)/fuzz-bundle)

#-- GPU tests, for a machine with GPUs (docs/gpu-check.md) ------------------------------------------

GPU_SRC := $(sort $(wildcard tests/gpu/gpu_*.c))
GPU_BIN := $(foreach runtime,static dynamic,$(GPU_SRC:tests/gpu/%.c=$(O)/tests/gpu/$(runtime)/%))
CUDA := $(O)/gpu/cuda
GPU_STANDIN := $(O)/tests/gpu/standin/libcudart.so.12 $(O)/tests/progs/lib/lib_cuda.so

# NAME:FOLDER[,NAME:FOLDER...] of built UCX with CUDA modules
GPU_UCX ?= 1.13.1:$(O)/gpu/ucx-1.13.1

$(CUDA)/include/cuda.h:
	$(call say,FETCH,$@)
	$(Q)scripts/gpu-parts $(O)/gpu cuda

$(O)/gpu/ucx-1.13.1/lib/libucp.so.0: | $(CUDA)/include/cuda.h
	$(call say,UCX,$@)
	$(Q)scripts/gpu-parts $(O)/gpu ucx

GPU_CC = mpicc.openmpi -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -g -isystem $(CUDA)/include -MMD -MP

$(O)/tests/gpu/static/%: tests/gpu/%.c tests/gpu/kinds.c | $(CUDA)/include/cuda.h
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && $(GPU_CC) $(filter %.c,$^) -o $@ $(CUDA)/lib64/libcudart_static.a -ldl -lrt -pthread

$(O)/tests/gpu/dynamic/%: tests/gpu/%.c tests/gpu/kinds.c | $(CUDA)/include/cuda.h
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && $(GPU_CC) $(filter %.c,$^) -o $@ -L$(CUDA)/lib64 -lcudart -ldl -pthread

$(O)/tests/gpu/standin/libcudart.so.12: tests/gpu/standin_cudart.c | $(CUDA)/include/cuda.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -isystem $(CUDA)/include -MMD -MP \
		-shared -fPIC -Wl,-soname,$(@F) $< -o $@ -ldl

# Needs no library of the machine that it is carried to.
$(O)/gpu/ucxbpf: $(O)/obj/user/main.o $(O)/libucxbpf.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $^ $(static_libs) $(DEMANGLE) -Wl,-rpath,'$$ORIGIN/lib' -o $@

$(O)/gpu/tests/bench/floor: tests/bench/floor.c $(O)/include/floor.skel.h $(O)/libucxbpf.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(BASE_CFLAGS) -MMD -MP $< $(O)/libucxbpf.a $(static_libs) $(DEMANGLE) -o $@

.PHONY: gpu-bundle
gpu-bundle: $(O)/gpu/ucxbpf $(O)/ucxbpf-traffic-openmpi $(O)/gpu/tests/bench/floor $(GPU_BIN) $(GPU_STANDIN) \
		$(if $(findstring 1.13.1:$(O)/gpu,$(GPU_UCX)),$(O)/gpu/ucx-1.13.1/lib/libucp.so.0)
	$(Q)scripts/gpu-bundle $(O) $(O)/gpu-bundle $(GPU_UCX)

.PHONY: tests progs check check-guest check-viewer bench format format-check demo setup man install install-built clean
tests: $(O)/gpu/ucxbpf $(UNIT_BIN) $(BENCH_BIN) $(BENCH_JOB) $(TRUST_BIN) completion $(O)/ucxbpf-tools progs fuzzers
progs: $(PROG_BIN)

# The second make starts after setup, and so sees what setup installed.
check:
	$(Q)scripts/setup --tests
	$(Q)$(MAKE) --no-print-directory -j2 all tests bpf-arm64 man
	$(Q)O=$(O) tests/run

demo:
	$(Q)scripts/setup
	$(Q)$(MAKE) --no-print-directory -j2 all $(O)/tests/progs/openmpi/cg
	$(Q)scripts/demo

# ROUNDS=3 for a quick look, PARTS="overhead apps" for some of it
bench:
	$(Q)scripts/setup --bench
	$(Q)$(MAKE) --no-print-directory -j2 bench-programs
	$(Q)BUILD=$(O) tests/bench/run $(PARTS)

# In virtual machines with soft-RoCE (tests/guest/README.md).
check-guest:
	$(Q)scripts/setup --guest
	$(Q)$(MAKE) --no-print-directory -j2 $(O)/ucxbpf progs
	$(Q)UCXBPF=$(O)/ucxbpf tests/guest/check

# Faults of a site, staged for real on namespace nodes: RUNS=20, FAULTS="rail-down hung-rank" for some
.PHONY: faults
faults:
	$(Q)scripts/setup --tests
	$(Q)$(MAKE) --no-print-directory -j2 all
	$(Q)O=$(O) tests/faults/run --runs $(or $(RUNS),1) $(FAULTS)
	$(Q)$(if $(FAULTS),,bats tests/faults/confirm.bats tests/faults/confirm-array.bats)
	$(Q)$(if $(FAULTS),,ATTACHES=100 bats -f 'many attaches' tests/live/attach.bats)

# Rows of the list R1 to R30, hours in whole, gone on with where it was: ROW="R5 R6", N=trials, AGAIN=1
.PHONY: trust
trust:
	$(Q)scripts/setup --trust
	$(Q)$(MAKE) --no-print-directory -j2 all tests
	$(Q)O=$(O) tests/trust/run $(ROW)

.PHONY: bench-programs
bench-programs: all $(BENCH_BIN) $(BENCH_JOB) $(O)/tests/progs/openmpi/cg

# Every view of some reports, light and dark, for people to look at.
check-viewer: $(O)/ucxbpf
	$(Q)UCXBPF=$(O)/ucxbpf node tests/viewer/check.mjs shots build/viewer-shots tests/data/coll.ucxb \
		tests/data/isend-tcp.ucxb tests/data/send-count.ucxb \
		tests/data/cg.n0.ucxb,tests/data/cg.n1.ucxb,tests/data/cg.n2.ucxb,tests/data/cg.n3.ucxb \
		tests/data/gpu/halo-ring-1.18.1-v2-ipc-static-start/job.ucxb
	@echo 'pictures in build/viewer-shots'

setup:
	$(Q)scripts/setup --tests

# Is this tree the release that VERSION names? QUICK=1: without building it twice
.PHONY: release-check
release-check: completion
	$(Q)scripts/release-check $(if $(QUICK),--quick)

#-- Packages ---------------------------------------------------------------------------------------

# Of what Debian's releases have under different names nothing is needed where a package is installed: all but the C
# library is in the program. With -static that, too.
ZYDIS := build/zydis/libZydis.a
TOOLS_PKGS := libelf libzstd zlib jansson libxxhash libprotobuf-c sqlite3 yaml-0.1 nettle otf2
TRACER_OBJ := $(O)/obj/user/main.o
TOOLS_OBJ := $(O)/obj/user/main.o $(O)/obj/user/tools.o
map = -Wl,-Map=$@.map
archives = $$(pkg-config --static --libs $(1) | sed 's/ -l\(m\|dl\|rt\)\>//g')

$(ZYDIS): scripts/static-zydis
	$(call say,FETCH,$@)
	$(Q)scripts/static-zydis $(@D)

# Nothing of the tracer comes with the tools: the link fails where a command needs it that user/tools.c lacks.
$(O)/ucxbpf-tools: $(TOOLS_OBJ) $(O)/libucxbpf.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(SAN) $^ $$(pkg-config --libs $(TOOLS_PKGS)) -pthread -lm $(DEMANGLE) -Wl,--as-needed -o $@

$(O)/package/ucxbpf: $(TRACER_OBJ) $(O)/libucxbpf.a $(ZYDIS)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) $(filter-out $(ZYDIS),$^) -Wl,-Bstatic $(call archives,$(PKGS)) $(ZYDIS) \
		$(DEMANGLE) -Wl,-Bdynamic -pthread -lm $(map) -o $@

$(O)/package/ucxbpf-tools: $(TOOLS_OBJ) $(O)/libucxbpf.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) $^ -Wl,-Bstatic $(call archives,$(TOOLS_PKGS)) $(DEMANGLE) \
		-Wl,-Bdynamic -pthread -lm $(map) -o $@

$(O)/static/ucxbpf: $(TRACER_OBJ) $(O)/obj/packaging/static/dlopen.o $(O)/libucxbpf.a $(ZYDIS)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -static-pie $(filter-out $(ZYDIS),$^) $(call archives,$(PKGS)) $(ZYDIS) \
		$(DEMANGLE) -pthread -lm $(map) -o $@

$(O)/static/ucxbpf-tools: $(TOOLS_OBJ) $(O)/libucxbpf.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -static-pie $^ $(call archives,$(TOOLS_PKGS)) $(DEMANGLE) -pthread -lm $(map) -o $@

$(O)/%.spdx.json: $(O)/% scripts/sbom
	$(call say,SBOM,$@)
	$(Q)scripts/sbom $< $(if $(PROFILE),"$$(cat $(PROFILE)/trained)") >$@

# Privileged, hence hardened, in a build of its own
PACKAGE_O := build/package
PACKAGE_CFLAGS := -O2 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection -fcf-protection
PACKAGE_MAKE = $(MAKE) --no-print-directory O=$(PACKAGE_O) PROFILE=$(PROFILE_O) AR=gcc-ar \
	LDFLAGS='-fprofile-use -Wl,-z,relro,-z,now $(ANYWHERE)' CFLAGS='$(PACKAGE_CFLAGS) -flto=auto'
# Instruction cache misses cost the reader most. So packages are built with the profile of an instrumented build, which
# packaging/train runs.
PROFILE_O := build/profile
.PHONY: profile
profile:
	+$(Q)$(MAKE) --no-print-directory O=$(PROFILE_O) \
		CFLAGS='$(PACKAGE_CFLAGS) -fprofile-generate -frandom-seed=1 -fprofile-dir=$(PROFILE_O)/counts -fprofile-prefix-path=$(CURDIR)' \
		$(PROFILE_O)/trained

$(O)/trained: packaging/train $(O)/ucxbpf $(O)/tests/bench/mkcapture $(wildcard tests/data/*.ucxb)
	$(call say,TRAIN,$(O))
	$(Q)packaging/train $(O)

in_package = $(foreach p,ucxbpf ucxbpf-tools,$(PACKAGE_O)/$(1)/$(p) $(PACKAGE_O)/$(1)/$(p).spdx.json)

# asked first: the build takes minutes
.PHONY: debhelper
debhelper:
	$(Q)dpkg-checkbuilddeps packaging/debian/control

.PHONY: deb
deb: profile | debhelper
	+$(Q)$(PACKAGE_MAKE) $(call in_package,package) $(TRAFFIC:$(O)/%=$(PACKAGE_O)/%) man completion
	$(Q)packaging/deb $(PACKAGE_O)

# after the Debian packages, not beside them: both are built in one folder
.PHONY: dist-static
dist-static: profile | $(filter deb,$(MAKECMDGOALS))
	+$(Q)$(PACKAGE_MAKE) $(call in_package,static) man completion
	$(Q)packaging/dist-static $(PACKAGE_O)

# Installs and removes the packages in fresh roots of Debian, which takes minutes.
.PHONY: check-packages
check-packages:
	$(Q)scripts/setup --packages
	$(Q)$(MAKE) --no-print-directory -j2 all completion $(O)/tests/progs/openmpi/cg
	$(Q)$(MAKE) --no-print-directory -j2 deb dist-static
	$(Q)O=$(O) tests/run tests/packages

# Frameworks that use UCX without MPI, as far as they are built (tests/frameworks/README.md).
.PHONY: check-frameworks
check-frameworks:
	$(Q)scripts/setup --frameworks
	$(Q)$(MAKE) --no-print-directory -j2 all
	$(Q)O=$(O) tests/run tests/frameworks

# Rewrites the C files as clang-format writes them.
format:
	$(Q)clang-format -i $$(git ls-files "user/*.[ch]" "bpf/*.[ch]" "tests/*.[ch]" "packaging/*.[ch]")

format-check:
	$(Q)scripts/check-format

#-- Manual pages, installation ---------------------------------------------------------------------

man: $(MAN)

$(O)/man/%: docs/%.md
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D); if command -v pandoc >/dev/null; then pandoc -s -f markdown-smart -t man $< -o $@; \
		else echo 'warning: no pandoc, so no manual pages' >&2; fi

install: all man completion
	$(Q)$(MAKE) --no-print-directory install-built

# Only copies, as packages want it. With PROGRAM=$(O)/package/ucxbpf-tools and its like: that program alone, as ucxbpf, its
# pages and its completion.
PROGRAM ?= $(O)/ucxbpf
NAME := $(notdir $(PROGRAM))
DOCDIR ?= $(PREFIX)/share/doc/$(NAME)
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
UNITDIR ?= $(PREFIX)/lib/systemd/system
INSTALLED_MAN = $(if $(filter %-tools,$(NAME)),$(filter-out $(NOT_IN_TOOLS:%=$(O)/man/ucxbpf-%.1),$(MAN)),$(MAN))
SHELLS = $(O)/completion$(if $(filter %-tools,$(NAME)),/tools)
install-built:
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/ucxbpf
	$(if $(filter %-tools,$(NAME)),,for program in $(wildcard $(TRAFFIC)); do \
		install -D -m 755 $$program $(DESTDIR)$(PREFIX)/bin/$${program##*/} || exit; done)
	for page in $(wildcard $(INSTALLED_MAN)); do \
		install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man1/$${page##*/} || exit; done
	install -D -m 644 $(SHELLS)/ucxbpf.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/ucxbpf
	install -D -m 644 $(SHELLS)/_ucxbpf $(DESTDIR)$(ZSHDIR)/_ucxbpf
	install -D -m 644 $(SHELLS)/ucxbpf.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/ucxbpf.fish
	$(if $(filter %-tools,$(NAME)),, \
		install -D -m 644 packaging/serve/grafana.json $(DESTDIR)$(PREFIX)/share/ucxbpf/serve/grafana.json && \
		for script in packaging/serve/slurm-*.sh; do \
			install -D -m 755 $$script $(DESTDIR)$(PREFIX)/share/ucxbpf/serve/$${script##*/} || exit; done && \
		install -D -m 644 packaging/serve/ucxbpf-serve.service $(DESTDIR)$(UNITDIR)/ucxbpf-serve.service && \
		sed -i 's#/usr/local/bin#$(PREFIX)/bin#' $(DESTDIR)$(UNITDIR)/ucxbpf-serve.service)
	for page in README.md CHANGELOG.md CONTRIBUTING.md LICENSE docs/*.md docs/*.json docs/*.xsd docs/gallery/*.png; do \
		install -D -m 644 $$page $(DESTDIR)$(DOCDIR)/$$page || exit; done
	$(if $(wildcard $(PROGRAM).spdx.json),install -D -m 644 $(PROGRAM).spdx.json $(DESTDIR)$(DOCDIR)/sbom.spdx.json)

clean:
	rm -rf --one-file-system build

.PHONY: FORCE
FORCE:

-include $(shell find $(addprefix $(O)/,obj bpf bpf-arm64 completion tests fuzz fuzz-cover) -name '*.d' -type f 2>/dev/null)
