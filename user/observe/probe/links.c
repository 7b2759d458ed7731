// SPDX-License-Identifier: BSD-3-Clause
/* Links of planned addresses, and the kernel's best mechanism for them with its cost. */
#include "observe/probe/links.h"

#include <errno.h>
#include <link.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/vec.h"
#include "observe/probe/keeper.h"

typedef VEC(int) int_list;

/* Probes of one file that share their programs. */
struct batch {
	const char *path;
	int entry_fd, return_fd; /* return_fd -1: the entry program is all, or serves both ends */
	int entry_type;
	unsigned int kind;
	VEC(uint64_t) offsets;
	VEC(uint64_t) cookies;
	size_t refused;
};

const char *link_mechanism_name(enum link_mechanism mechanism)
{
	static const char *const names[] = { "none", "perf", "multi", "session" };

	return names[mechanism];
}

int links_attach_type(enum link_mechanism mechanism, bool session)
{
	switch (mechanism) {
	case LINK_SESSION:
		return session ? ATTACH_UPROBE_SESSION : ATTACH_UPROBE_MULTI;
	case LINK_MULTI:
		return ATTACH_UPROBE_MULTI;
	default:
		return 0;
	}
}

void links_init(struct links *links, enum link_mechanism mechanism,
		const struct link_programs *programs)
{
	*links = (struct links){ .mechanism = mechanism, .programs = programs };
	keeper_start();
}

uint64_t links_settle(struct links *links)
{
	uint64_t took = keeper_close_wait(links->closing);

	links->closing = NULL;
	return took;
}

/* files: NULL: all. */
static void take(links_of_files *from, const struct map *files, int_list *to)
{
	size_t kept = 0;

	for (size_t i = 0; i < from->len; i++) {
		const struct link_of_file link = from->data[i];

		if (files && !map_find(files, link.file, 0))
			from->data[kept++] = link;
		else
			vec_push(to, link.fd);
	}
	from->len = kept;
}

static void detach(struct links *links, const struct map *files)
{
	int_list fds = { 0 };

	take(&links->all, files, &fds);
	take(&links->call_returns, files, &fds);
	if (fds.len) {
		links_settle(links);
		links->closing = keeper_close_begin(fds.data, fds.len);
	}
	vec_release(&fds);
}

void links_detach(struct links *links)
{
	links_settle(links);
	detach(links, NULL);
}

void links_forget(struct links *links, const struct map *files)
{
	detach(links, files);
}

void links_release(struct links *links)
{
	links_detach(links);
	links_settle(links);
	vec_release(&links->all);
	vec_release(&links->call_returns);
}

size_t links_drop_call_returns(struct links *links)
{
	int_list fds = { 0 };
	size_t count;

	take(&links->call_returns, NULL, &fds);
	count = fds.len;
	keeper_close_wait(keeper_close_begin(fds.data, count));
	vec_release(&fds);
	return count;
}

/* Errors that another offset would meet as well. */
static bool is_fatal(int err)
{
	static const int fatal[] = { EPERM, EACCES, ENOMEM, EMFILE, ENFILE, EBADF, ENOENT, ENOSYS };

	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++)
		if (err == -fatal[i])
			return true;
	return false;
}

static int create(const struct links *links, int prog_fd, int type, bool at_return,
		  const struct link_target *target)
{
	return keeper_place(links->mechanism == LINK_PERF, prog_fd, type, at_return, target);
}

/*
 * Attaches both ends or none, returns first: a return without its entry is ignored, an entry
 * without its return would look lost.
 */
static int create_ends(struct links *links, const struct batch *batch,
		       const struct link_target *target)
{
	int at_return = -1, entry;

	if (batch->return_fd >= 0) {
		at_return = create(links, batch->return_fd,
				   links_attach_type(links->mechanism, false), true, target);
		if (at_return < 0)
			return at_return;
	}
	entry = create(links, batch->entry_fd, batch->entry_type, false, target);
	if (entry < 0) {
		keeper_close_wait(keeper_close_begin(&at_return, at_return >= 0));
		return entry;
	}
	vec_push(&links->all, ((struct link_of_file){ entry, links->file }));
	if (at_return >= 0)
		vec_push(batch->kind == UB_CALL ? &links->call_returns : &links->all,
			 ((struct link_of_file){ at_return, links->file }));
	return 0;
}

/* Halves the probes that the kernel refuses together, until only the culprits are left out. */
static int attach_range(struct links *links, struct batch *batch, size_t first, size_t n)
{
	struct link_target target = { batch->path, batch->offsets.data + first,
				      batch->cookies.data + first, n, links->pid };
	int err = n ? create_ends(links, batch, &target) : 0;

	if (!err || is_fatal(err))
		return err;
	if (n == 1) {
		batch->refused++;
		log_info("%s: probe at offset %#lx refused: error %d", batch->path,
			 (unsigned long)target.offsets[0], -err);
		return 0;
	}
	err = attach_range(links, batch, first, n / 2);
	return err ? err : attach_range(links, batch, first + n / 2, n - n / 2);
}

/* Kinds of probes in placing order, so that no entry waits for its exits. */
enum link_end { END_EXIT, END_ENTRY, END_SPAN, ENDS };

static enum link_end end_of(const struct link_probe *probe)
{
	return probe->at_exit ? END_EXIT : probe->needs_return ? END_SPAN : END_ENTRY;
}

static struct batch batch_for(const struct links *links, const char *path, unsigned int kind,
			      enum link_end end)
{
	const struct link_programs *programs = links->programs;
	bool span = end == END_SPAN, session = span && links->mechanism == LINK_SESSION;
	struct batch batch = { .path = path, .kind = kind, .return_fd = -1 };

	batch.entry_type = links_attach_type(links->mechanism, session);
	batch.entry_fd = session           ? programs->session_fd[kind]
			 : span            ? programs->span_entry_fd[kind]
			 : end == END_EXIT ? programs->exit_fd[kind]
					   : programs->entry_fd[kind];
	if (span && !session)
		batch.return_fd = programs->return_fd[kind];
	return batch;
}

static int attach_batch(struct links *links, struct batch *batch, enum link_end end,
			const struct link_probe *probes, size_t n, unsigned int kind)
{
	for (size_t i = 0; i < n; i++) {
		if (probes[i].kind != kind || end_of(&probes[i]) != end)
			continue;
		vec_push(&batch->offsets, probes[i].offset);
		vec_push(&batch->cookies, probes[i].cookie);
	}
	if (batch->offsets.len &&
	    (batch->entry_fd < 0 ||
	     (end == END_SPAN && links->mechanism != LINK_SESSION && batch->return_fd < 0)))
		return -EBADF;
	return attach_range(links, batch, 0, batch->offsets.len);
}

int links_attach(struct links *links, const char *path, const struct link_probe *probes, size_t n,
		 size_t *refused)
{
	int err = 0;

	*refused = 0;
	for (unsigned int i = 0; !err && i < ENDS * UB_KIND_MAX; i++) {
		unsigned int kind = i / ENDS;
		enum link_end end = i % ENDS;
		struct batch batch = batch_for(links, path, kind, end);

		err = attach_batch(links, &batch, end, probes, n, kind);
		*refused += batch.refused;
		vec_release(&batch.offsets);
		vec_release(&batch.cookies);
	}
	return err;
}

/*
 * Functions to probe for measurements. Like most of UCX and MPI, they begin with emulated
 * instructions.
 */
void links_guinea_pig(void), links_guinea_span(void);
__asm__(".pushsection .text\n"
	".globl links_guinea_pig, links_guinea_span\n"
	".hidden links_guinea_pig, links_guinea_span\n"
	".type links_guinea_pig, %function\n"
	".type links_guinea_span, %function\n"
	"links_guinea_pig:\n"
	"	nop\n"
	"	ret\n"
	"links_guinea_span:\n"
	"	nop\n"
	"	ret\n"
	".popsection\n");

static int find_own_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t vaddr = (uintptr_t)links_guinea_pig - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && vaddr >= segment->p_vaddr &&
		    vaddr - segment->p_vaddr < segment->p_filesz) {
			*(uint64_t *)arg = vaddr - segment->p_vaddr + segment->p_offset;
			return 1;
		}
	}
	return 0;
}

static int load_empty_program(int attach_type)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.expected_attach_type = attach_type;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = ARRAY_SIZE(insns);
	attr.license = (uintptr_t) "Dual BSD/GPL";
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	return fd < 0 ? -errno : fd;
}

/* A link with an empty program there; session: of both ends. */
static int link_own_code(enum link_mechanism mechanism, uint64_t offset, bool session,
			 bool at_return)
{
	static const uint64_t cookie = 1;
	const struct link_target target = {
		.path = "/proc/self/exe", .offsets = &offset, .cookies = &cookie, .count = 1
	};
	int type = links_attach_type(mechanism, session);
	int prog = load_empty_program(type), fd;

	if (prog < 0)
		return prog;
	fd = mechanism == LINK_PERF ? link_perf(prog, at_return, &target)
				    : link_multi(prog, type, at_return, &target);
	close(prog);
	return fd;
}

bool links_know_processes(enum link_mechanism mechanism)
{
	const int type = links_attach_type(mechanism, false);
	const int prog = mechanism >= LINK_MULTI ? load_empty_program(type) : -1;
	const bool known = prog >= 0 && link_multi_knows_processes(prog, type);

	if (prog >= 0)
		close(prog);
	return known;
}

static int try_mechanism(enum link_mechanism mechanism, uint64_t offset)
{
	int fd = link_own_code(mechanism, offset, mechanism == LINK_SESSION, false);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int links_detect(enum link_mechanism *best)
{
	uint64_t offset = 0;
	int err = -ENOENT;

	if (!dl_iterate_phdr(find_own_code, &offset)) {
		*best = LINK_NONE;
		return err;
	}
	for (*best = LINK_SESSION; *best != LINK_NONE; --*best) {
		err = try_mechanism(*best, offset);
		if (!err)
			break;
	}
	return err;
}

#define ROUNDS 9
#define CALLS 100

static int by_size(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static double call_ns(void (*function)(void))
{
	double rounds[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t from = clock_ns(CLOCK_MONOTONIC);

		for (int i = 0; i < CALLS; i++)
			function();
		rounds[round] = (double)(clock_ns(CLOCK_MONOTONIC) - from) / CALLS;
	}
	qsort(rounds, ROUNDS, sizeof(rounds[0]), by_size);
	return rounds[ROUNDS / 2];
}

/* One link of a session; else the return, which must be there first, and the entry. */
static int link_span(enum link_mechanism mechanism, uint64_t offset, int *fds, size_t *count)
{
	bool session = mechanism == LINK_SESSION;

	for (int at_return = !session; at_return >= 0; at_return--) {
		int fd = link_own_code(mechanism, offset, session, at_return);

		if (fd < 0)
			return fd;
		fds[(*count)++] = fd;
	}
	return 0;
}

int links_measure(enum link_mechanism mechanism, struct link_cost *cost)
{
	double without = call_ns(links_guinea_pig);
	uint64_t offset = 0;
	size_t count = 1;
	int fds[3], err;

	if (!dl_iterate_phdr(find_own_code, &offset))
		return -ENOENT;
	fds[0] = link_own_code(mechanism, offset, false, false);
	if (fds[0] < 0)
		return fds[0];
	offset += (uintptr_t)links_guinea_span - (uintptr_t)links_guinea_pig;
	err = link_span(mechanism, offset, fds, &count);
	cost->entry = call_ns(links_guinea_pig) - without;
	cost->at_return = call_ns(links_guinea_span) - without - cost->entry;
	keeper_close_wait(keeper_close_begin(fds, count));
	if (cost->at_return < 0)
		cost->at_return = 0;
	return err;
}
