// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/log.h"
#include "base/order.h"
#include "observe/capture/side.h"
#include "observe/process/frames.h"
#include "observe/process/proc.h"
#include "observe/process/record.h"
#include "observe/process/registers.h"

#define MAX_THREADS 64 /* of a process: the first ones */
#define LOOK_MS 100
#define FIRST_FRAME 128 /* bytes: the C library's _start pushes little on the stack it is given */
#define ATTEMPTS                                                                                   \
	3 /* a walk from within a PLT entry or the vDSO leads nowhere, the next one may            \
	   */

/* An MPI function of a library. */
struct mpi_code {
	uint64_t start, end; /* link-time addresses */
	const char *name; /* the ELF file's, "PMPI_Recv", "MPIX_Comm_agree" */
};

/* How the code of a file can take part in an MPI call. */
struct mpi_file {
	bool looked, unreadable;
	bool within; /* is run inside of calls: of an MPI library, a binding or tool, of UCX */
	reader_answer names;
	VEC(struct mpi_code) all; /* functions of an MPI library, in order of addresses */
};

struct thread_looking {
	const struct track *track;
	struct addresses *addresses;
	struct code_files code; /* read for this look alone: whole files, tens of MiB in all */
	struct file_writer *writer;
	call_stacks *stacks;
	thread_list again; /* another look may show more of them */
	struct unwinds unwinds;
	VEC(struct mpi_file) files; /* by file number */
	frame_list frames;
	code_ranges ranges; /* of process pid */
	pid_t pid;
	uint64_t deadline; /* of the look; that of a process is with unwinds */
	bool last;
	unsigned int unseen; /* did not run */
	unsigned int untold; /* of these, and of first threads: have no record */
};

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* An MPI function in an answer; its name follows, with its NUL. */
struct listed_code {
	uint64_t start, end;
	uint64_t length; /* of the name, with its NUL */
};

#define NAME_MAX_LISTED 256
#define NAMES_MAX                                                                                  \
	(1u << 20) /* bytes of an answer, which is kept; that of a whole MPI has 100 KiB */

static int list_function(void *arg, const struct elf_symbol *symbol)
{
	const struct listed_code listed = { symbol->vaddr, symbol->vaddr + symbol->size,
					    strlen(symbol->name) + 1 };

	if (!symbol->defined || !symbol->function || !symbol->size ||
	    listed.length > NAME_MAX_LISTED ||
	    !(begins(symbol->name, "PMPI_") || begins(symbol->name, "MPIX_")))
		return 0;
	answer_add(arg, &listed, sizeof(listed));
	answer_add(arg, symbol->name, listed.length);
	return 0;
}

/*
 * A Fortran binding or a tool defines MPI's functions by these names, and calls those of the
 * library.
 */
static int find_binding(void *arg, const struct elf_symbol *symbol)
{
	bool *found = arg;

	*found = *found || begins(symbol->name, "PMPI_") ||
		 (symbol->defined &&
		  (!strcmp(symbol->name, "MPI_Init") || !strcmp(symbol->name, "mpi_init_")));
	return *found;
}

/* Runs in the process that parses the file. 1: by its symbols, its code runs inside of calls. */
static long list_functions(struct elf *elf, const void *arguments, size_t size,
			   reader_answer *answer)
{
	bool within = false;
	uint64_t offset;

	(void)arguments;
	(void)size;
	elf_each_symbol(elf, true, find_binding, &within);
	if (elf_function(elf, "PMPI_Init", &offset, NULL))
		return within;
	elf_each_symbol(elf, true, list_function, answer);
	/* an executable seldom exports the symbols linked into it */
	if (elf_is_executable(elf))
		elf_each_symbol(elf, false, list_function, answer);
	return 1;
}

/* Names stay in the answer. */
static bool take_functions(struct mpi_file *file)
{
	struct listed_code listed;
	size_t at = 0;

	if (file->names.len > NAMES_MAX)
		return false;
	while (answer_take(&file->names, &at, &listed, sizeof(listed))) {
		const char *name = (const char *)file->names.data + at;

		if (listed.start >= listed.end || !listed.length ||
		    listed.length > file->names.len - at ||
		    strnlen(name, listed.length) + 1 != listed.length)
			return false;
		vec_push(&file->all, ((struct mpi_code){ listed.start, listed.end, name }));
		at += listed.length;
	}
	return at == file->names.len;
}

static int by_start(const void *left, const void *right)
{
	const struct mpi_code *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

static unsigned int roles_of(const struct thread_looking *look, const struct code_file *file)
{
	const struct library *library =
		library_set_find(&look->track->libraries, file->dev, file->ino);

	return library ? library->roles : 0;
}

#define LIB_WITHIN (LIB_MPI_CODE | LIB_MPI_PLUGIN | LIB_UCP | LIB_UCT | LIB_UCT_MODULE | LIB_UCS)

static const struct mpi_file *file_of(struct thread_looking *look, const struct code_range *range)
{
	const struct elf *elf = code_file_elf(look->pid, range);
	struct mpi_file *file;
	long found;

	while (look->files.len <= (size_t)range->file->number)
		vec_add(&look->files);
	file = &look->files.data[range->file->number];
	if (file->looked)
		return file;
	file->looked = true;
	file->unreadable = !elf;
	if (!elf)
		return file;
	found = elf_ask(elf, list_functions, NULL, 0, &file->names);
	if (found >= 0 && !take_functions(file)) {
		vec_release(&file->all);
		found = elf_refuse(elf);
	}
	file->unreadable = found < 0;
	file->within = found > 0 || roles_of(look, range->file) & LIB_WITHIN;
	if (file->all.len)
		qsort(file->all.data, file->all.len, sizeof(*file->all.data), by_start);
	return file;
}

/* The file of the code that a frame runs; NULL: none. */
static const struct mpi_file *file_at(struct thread_looking *look, uint64_t address)
{
	const struct code_range *range = code_find(&look->ranges, address);

	return range && range->file ? file_of(look, range) : NULL;
}

/* The MPI function around an address, by its name in the file; NULL: none. */
static const char *function_at(struct thread_looking *look, uint64_t address)
{
	const struct code_range *range = code_find(&look->ranges, address);
	const struct mpi_file *file;
	uint64_t vaddr;
	size_t i;

	if (!range || !range->file)
		return NULL;
	file = file_of(look, range);
	vaddr = code_vaddr(range, address);
	i = search_count(file->all.len, at, file->all.data[at].end <= vaddr);
	if (i == file->all.len || file->all.data[i].start > vaddr)
		return NULL;
	return file->all.data[i].name;
}

#define LATE "its stack was not walked in time"

static const char *why_ended(enum ub_stack_end end)
{
	switch (end) {
	case UB_STACK_NOT_YET:
		return LATE;
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

static bool maps(const struct tracked *tracked, enum library_role role)
{
	for (size_t i = 0; tracked && i < tracked->libraries.len; i++)
		if (tracked->libraries.data[i]->roles & role)
			return true;
	return false;
}

static json_t *thread_record(const struct thread_registers *thread)
{
	const char state[2] = { thread->state };
	json_t *record = record_new("thread", thread->pid, thread->at);

	record_integer(record, "tid", thread->tid);
	record_text(record, "state", state);
	return record;
}

static void write_call(struct thread_looking *look, const struct thread_registers *thread,
		       const char *function, uint64_t returns_to, uint64_t frame)
{
	/* NULL: a return probe has replaced the return address */
	const struct code_range *range = code_find(&look->ranges, returns_to - 1);
	json_t *record = thread_record(thread);

	record_text(record, "function", function);
	record_hex(record, "frame", frame);
	if (range && range->file) {
		record_hex(record, "address", returns_to);
		addresses_notice(look->addresses, thread->pid, returns_to, side_now());
	}
	side_write(look->writer, record);
	vec_push(look->stacks, ((struct call_stack){ thread->pid, thread->sp, frame }));
}

/* The address whose code a frame runs: the call's, not that of the instruction behind it. */
static uint64_t runs_at(const struct thread_looking *look, size_t frame)
{
	return look->frames.data[frame].pc - (frame > 0);
}

/* The outermost MPI function, 0: none; those further in are the library's own calls. */
static size_t find_call(struct thread_looking *look, const char **function)
{
	for (size_t i = look->frames.len; i-- > 1;) {
		*function = function_at(look, runs_at(look, i - 1));
		if (*function)
			return i;
	}
	return 0;
}

/*
 * A thread is outside of MPI only if its stack is known to its beginning, and no frame runs code
 * that runs inside of calls. Returns the reason why that is not proven; NULL: it is.
 */
static const char *why_not_outside(struct thread_looking *look,
				   const struct thread_registers *thread, enum ub_stack_end end)
{
	const size_t count = look->frames.len;
	const uint64_t outermost = count > 1 ? look->frames.data[count - 2].base : thread->sp;
	const struct tracked *tracked = track_find(look->track, thread->pid);
	struct proc_stat stat;

	if (end != UB_STACK_WHOLE)
		return why_ended(end);
	if (tracked && tracked->user_threads)
		return "its stack is one of several that it runs in turn, another may be in MPI";
	for (size_t i = 0; i < count; i++) {
		const struct mpi_file *file = file_at(look, runs_at(look, i));

		if (!file || file->unreadable)
			return "its stack leads into code of a file that cannot be read";
		if (file->within)
			return "it runs code of the MPI library, a tool or UCX, in no known "
			       "function of MPI";
	}
	/* a coroutine has a stack of its own, and the first one may lie idle */
	if (proc_stat(thread->pid, 0, &stat) || outermost > stat.start_stack ||
	    stat.start_stack - outermost > FIRST_FRAME)
		return "its stack is not the one that the process began with";
	return NULL;
}

/* Other threads than the first serve the MPI library or the launcher, or compute with it. */
static void write_other(struct thread_looking *look, const struct thread_registers *thread,
			const char *reason)
{
	json_t *record;

	if (thread->tid != thread->pid)
		return;
	record = thread_record(thread);
	if (reason)
		record_text(record, "reason", reason);
	else
		json_object_set_new(record, "outside", json_true());
	side_write(look->writer, record);
}

static void enter_process(struct thread_looking *look, pid_t pid)
{
	const uint64_t now = side_now();

	if (look->pid == pid)
		return;
	look->unwinds.deadline = now < look->deadline ? now + (look->deadline - now) / 2 : now;
	vec_release(&look->ranges);
	look->pid = pid;
	if (code_list(pid, &look->code, &look->ranges))
		vec_release(&look->ranges);
}

/* Whether a call of MPI may lie further out than this frame: some frame there runs code of MPI. */
static bool may_be_within(struct thread_looking *look, size_t frame)
{
	for (size_t i = frame; i < look->frames.len; i++) {
		const struct mpi_file *file = file_at(look, runs_at(look, i));

		if (file && (file->within || file->unreadable))
			return true;
	}
	return false;
}

static bool is_traced(const char *function)
{
	for (unsigned int row = 1; row < site_count(); row++)
		if (!strcmp(site_row(row)->name, function))
			return true;
	return false;
}

/* Writes where it is; else returns why that is not known. */
static const char *write_place(struct thread_looking *look, const struct thread_registers *thread)
{
	const enum ub_stack_end end =
		frames_walk(&look->frames, thread, &look->ranges, &look->unwinds);
	const char *function, *reason;
	const size_t caller = find_call(look, &function);

	if (!thread_unmoved(thread))
		return "it ran while its stack was read";
	if (caller && begins(function, "MPIX_") && !is_traced(function))
		return "it is in a function of MPI that is not traced";
	if (caller && end != UB_STACK_WHOLE && may_be_within(look, caller))
		return why_ended(end);
	if (caller) {
		write_call(look, thread, function + (*function == 'P'),
			   look->frames.data[caller].pc, look->frames.data[caller - 1].base);
		return NULL;
	}
	/* of others only calls are written */
	if (thread->tid != thread->pid && end == UB_STACK_WHOLE)
		return NULL;
	reason = why_not_outside(look, thread, end);
	if (!reason)
		write_other(look, thread, NULL);
	return reason;
}

static void look_at(void *arg, struct thread_registers *thread)
{
	struct thread_looking *look = arg;
	const char *reason =
		thread->waited_for ? "it did not run" : "its registers could not be read in time";

	if (!thread->state)
		return;
	if (thread->known && deadline_over(look->deadline)) {
		reason = LATE;
	} else if (thread->known) {
		enter_process(look, thread->pid);
		reason = write_place(look, thread);
	}
	if (!reason)
		return;
	look->unseen += !thread->known;
	look->untold += !thread->known || thread->tid == thread->pid;
	if (look->last)
		write_other(look, thread, reason);
	else
		vec_push(&look->again,
			 ((struct thread_registers){ .pid = thread->pid, .tid = thread->tid }));
}

static void release(struct thread_looking *look)
{
	threads_release(&look->again);
	unwinds_release(&look->unwinds);
	for (size_t i = 0; i < look->files.len; i++) {
		vec_release(&look->files.data[i].all);
		vec_release(&look->files.data[i].names);
	}
	vec_release(&look->files);
	vec_release(&look->frames);
	vec_release(&look->ranges);
	code_files_release(&look->code);
}

unsigned int threads_look(const struct track *track, struct addresses *addresses,
			  struct file_writer *writer, call_stacks *stacks, bool last,
			  uint64_t deadline)
{
	struct thread_looking look = { .track = track,
				       .addresses = addresses,
				       .writer = writer,
				       .stacks = stacks,
				       .deadline = deadline };
	const uint64_t begin = side_now();
	thread_list threads = { 0 };
	size_t count;

	for (size_t i = 0; i < track->processes.len; i++)
		if (track->processes.data[i].alive && maps(&track->processes.data[i], LIB_MPI))
			threads_list(&threads, track->processes.data[i].tgid, MAX_THREADS);
	count = threads.len;
	for (int i = 1; threads.len && i <= ATTEMPTS && (last || !look.unseen); i++) {
		look.last = last && (i == ATTEMPTS || deadline_over(deadline));
		look.unseen = look.untold = 0;
		threads_registers(&threads, LOOK_MS, look_at, &look);
		threads_release(&threads);
		threads = look.again;
		look.again = (thread_list){ 0 };
	}
	threads_release(&threads);
	log_debug("looked at %zu threads in %.3f ms, %u did not run, %u have no record", count,
		  (side_now() - begin) / 1e6, look.unseen, look.untold);
	release(&look);
	return look.untold;
}
