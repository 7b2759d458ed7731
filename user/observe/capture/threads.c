// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/order.h"
#include "observe/capture/side.h"
#include "observe/process/frames.h"
#include "observe/process/record.h"
#include "observe/process/registers.h"

#define MAX_THREADS 64 /* of a process: the first ones */
#define LOOK_MS 100
#define ATTEMPTS                                                                                   \
	3 /* a walk from within a PLT entry or the vDSO leads nowhere, the next one may            \
	   */

/* An MPI function of a library. */
struct mpi_code {
	uint64_t start, end; /* link-time addresses */
	const char *name; /* the ELF file's, "PMPI_Recv" */
};

struct mpi_functions {
	bool looked;
	VEC(struct mpi_code) all; /* in order of addresses */
};

struct thread_looking {
	struct addresses *addresses;
	struct code_files code; /* read for this look alone: whole files, tens of MiB in all */
	struct file_writer *writer;
	call_stacks *stacks;
	thread_list threads;
	struct unwinds unwinds;
	VEC(struct mpi_functions) files; /* by file number */
	frame_list frames;
	code_ranges ranges; /* of process pid */
	pid_t pid;
};

static int add_function(void *arg, const struct elf_symbol *symbol)
{
	struct mpi_functions *functions = arg;

	if (symbol->defined && symbol->function && symbol->size &&
	    !strncmp(symbol->name, "PMPI_", strlen("PMPI_")))
		vec_push(&functions->all,
			 ((struct mpi_code){ symbol->vaddr, symbol->vaddr + symbol->size,
					     symbol->name }));
	return 0;
}

static int by_start(const void *left, const void *right)
{
	const struct mpi_code *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* Those of an MPI library; none of any other file. */
static const struct mpi_functions *functions_of(struct thread_looking *look,
						const struct code_range *range)
{
	const struct elf *elf = code_file_elf(look->pid, range);
	struct mpi_functions *functions;
	uint64_t offset;

	while (look->files.len <= (size_t)range->file->number)
		vec_add(&look->files);
	functions = &look->files.data[range->file->number];
	if (functions->looked || !elf)
		return functions;
	functions->looked = true;
	if (elf_function(elf, "PMPI_Init", &offset, NULL))
		return functions;
	elf_each_symbol(elf, true, add_function, functions);
	if (functions->all.len)
		qsort(functions->all.data, functions->all.len, sizeof(*functions->all.data),
		      by_start);
	return functions;
}

/* The MPI function around an address, as traces name it; NULL: none. */
static const char *function_at(struct thread_looking *look, uint64_t address)
{
	const struct code_range *range = code_find(&look->ranges, address);
	const struct mpi_functions *functions;
	uint64_t vaddr;
	size_t i;

	if (!range || !range->file)
		return NULL;
	functions = functions_of(look, range);
	vaddr = code_vaddr(range, address);
	i = search_count(functions->all.len, at, functions->all.data[at].end <= vaddr);
	if (i == functions->all.len || functions->all.data[i].start > vaddr)
		return NULL;
	return functions->all.data[i].name + 1;
}

static const char *why_ended(enum ub_stack_end end)
{
	switch (end) {
	case UB_STACK_NO_MODULE:
		return "its stack leads into code of no file";
	case UB_STACK_NO_ROWS:
	case UB_STACK_RULE:
		return "its stack leads into code without unwind information";
	case UB_STACK_UNREADABLE:
		return "a frame of its stack cannot be found";
	default:
		return "its stack is not in order";
	}
}

static json_t *thread_record(const struct thread_registers *thread)
{
	const char state[2] = { thread->state };
	json_t *record = record_new("thread", thread->pid, side_now());

	record_integer(record, "tid", thread->tid);
	record_text(record, "state", state);
	return record;
}

static void write_call(struct thread_looking *look, const struct thread_registers *thread,
		       const char *function, uint64_t returns_to, uint64_t frame)
{
	/* none: a probe of its return has taken the address */
	const struct code_range *range = code_find(&look->ranges, returns_to - 1);
	json_t *record = thread_record(thread);

	record_text(record, "function", function);
	record_hex(record, "frame", frame);
	if (range && range->file) {
		record_hex(record, "address", returns_to);
		addresses_notice(look->addresses, thread->pid, returns_to);
	}
	side_write(look->writer, record);
	vec_push(look->stacks, ((struct call_stack){ thread->pid, thread->sp, frame }));
}

/* Other threads than the first serve the MPI library or the launcher, or compute with it. */
static void write_other(struct thread_looking *look, const struct thread_registers *thread,
			enum ub_stack_end end)
{
	json_t *record;

	if (thread->tid != thread->pid)
		return;
	record = thread_record(thread);
	if (end == UB_STACK_WHOLE)
		json_object_set_new(record, "outside", json_true());
	else
		record_text(record, "reason", end ? why_ended(end) : "it did not run");
	side_write(look->writer, record);
}

/* The outermost MPI function; those further in are the library's own calls. */
static bool find_call(struct thread_looking *look, const struct thread_registers *thread)
{
	for (size_t i = look->frames.len; i-- > 1;) {
		const struct stack_frame *inner = &look->frames.data[i - 1];
		const char *function = function_at(look, inner->pc - (i > 1));

		if (!function)
			continue;
		write_call(look, thread, function, look->frames.data[i].pc, inner->base);
		return true;
	}
	return false;
}

static void enter_process(struct thread_looking *look, pid_t pid)
{
	if (look->pid == pid)
		return;
	vec_release(&look->ranges);
	look->pid = pid;
	if (code_list(pid, &look->code, &look->ranges))
		vec_release(&look->ranges);
}

/* False: another look may tell more. */
static bool look_at(struct thread_looking *look, const struct thread_registers *thread, bool last)
{
	enum ub_stack_end end = 0;

	if (!thread->state)
		return true;
	enter_process(look, thread->pid);
	if (thread->known) {
		end = frames_walk(&look->frames, thread, &look->ranges, &look->unwinds);
		if (find_call(look, thread))
			return true;
	}
	if (end != UB_STACK_WHOLE && !last)
		return false;
	write_other(look, thread, end);
	return true;
}

/* Keeps those that need another look; returns how many of them did not run. */
static unsigned int look_at_all(struct thread_looking *look, bool last)
{
	unsigned int unseen = 0;
	size_t left = 0;

	threads_registers(&look->threads, LOOK_MS);
	for (size_t i = 0; i < look->threads.len; i++) {
		struct thread_registers *thread = &look->threads.data[i];

		if (look_at(look, thread, last)) {
			vec_release(&thread->stack);
			continue;
		}
		unseen += !thread->known;
		look->threads.data[left++] = *thread;
	}
	look->threads.len = left;
	return unseen;
}

static bool has_mpi(const struct tracked *tracked)
{
	for (size_t i = 0; i < tracked->libraries.len; i++)
		if (tracked->libraries.data[i]->roles & LIB_MPI)
			return true;
	return false;
}

static void release(struct thread_looking *look)
{
	threads_release(&look->threads);
	unwinds_release(&look->unwinds);
	for (size_t i = 0; i < look->files.len; i++)
		vec_release(&look->files.data[i].all);
	vec_release(&look->files);
	vec_release(&look->frames);
	vec_release(&look->ranges);
	code_files_release(&look->code);
}

unsigned int threads_look(const struct track *track, struct addresses *addresses,
			  struct file_writer *writer, call_stacks *stacks, bool last)
{
	struct thread_looking look = { .addresses = addresses, .writer = writer, .stacks = stacks };
	const uint64_t begin = side_now();
	unsigned int unseen = 0;
	size_t count;

	for (size_t i = 0; i < track->processes.len; i++)
		if (track->processes.data[i].alive && has_mpi(&track->processes.data[i]))
			threads_list(&look.threads, track->processes.data[i].tgid, MAX_THREADS);
	count = look.threads.len;
	for (int i = 1; look.threads.len && i <= ATTEMPTS && (last || !unseen); i++)
		unseen = look_at_all(&look, last && i == ATTEMPTS);
	log_debug("looked at %zu threads in %.3f ms, %u did not run", count,
		  (side_now() - begin) / 1e6, unseen);
	release(&look);
	return unseen;
}
