// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/callers.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/log.h"
#include "observe/probe/sites.h"
#include "observe/process/unwind.h"
#include "ucxbpf.skel.h"

#define ROWS_BYTES ((size_t)KERNEL_CALLERS * sizeof(struct ub_caller))

int callers_init(struct callers *callers, struct kernel *kernel, struct library_set *libraries)
{
	*callers = (struct callers){ .skel = kernel_object(kernel), .libraries = libraries };
	callers->rows = mmap(NULL, ROWS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			     bpf_map__fd(callers->skel->maps.callers), 0);
	if (callers->rows != MAP_FAILED)
		return 0;
	callers->rows = NULL;
	return -errno;
}

void callers_release(struct callers *callers)
{
	if (callers->rows)
		munmap(callers->rows, ROWS_BYTES);
	for (size_t i = 0; i < callers->tables.len; i++) {
		unwind_close(callers->tables.data[i].unwind);
		vec_release(&callers->tables.data[i].rows);
	}
	vec_release(&callers->tables);
	vec_release(&callers->waiting);
}

/* ---- a library's rows ---- */

/* An API function that has a row of the site table. */
struct function {
	uint64_t from, to; /* link-time addresses */
	unsigned int row;
};

typedef VEC(struct function) functions;

static int by_from(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	return a->from < b->from ? -1 : a->from > b->from;
}

static void sort_functions(functions *list)
{
	size_t kept = 0;

	if (list->len)
		qsort(list->data, list->len, sizeof(*list->data), by_from);
	/* several names of one function */
	for (size_t i = 0; i < list->len; i++)
		if (!kept || list->data[i].from >= list->data[kept - 1].to)
			list->data[kept++] = list->data[i];
	list->len = kept;
}

/* Runs in the process that parses the file. */
static long find_functions(struct elf *elf, const void *arguments, size_t arguments_size,
			   reader_answer *answer)
{
	(void)arguments;
	(void)arguments_size;
	for (unsigned int row = 1; row < site_count(); row++) {
		struct function function = { .row = row };
		uint64_t offset, size;

		if (site_row(row)->wire.kind != UB_CALL ||
		    elf_function(elf, site_row(row)->symbol, &offset, &size) || !size ||
		    elf_offset_to_vaddr(elf, offset, &function.from))
			continue;
		function.to = function.from + size;
		answer_add(answer, &function, sizeof(function));
	}
	return 0;
}

/* Rows of calls, within the file. */
static bool take_functions(const reader_answer *answer, const struct elf *elf, functions *list)
{
	struct function function;
	size_t at = 0;

	while (answer_take(answer, &at, &function, sizeof(function))) {
		if (list->len >= site_count() || function.row >= site_count() ||
		    !site_row(function.row) || site_row(function.row)->wire.kind != UB_CALL ||
		    function.from >= function.to || function.to > elf_reach(elf))
			return false;
		vec_push(list, function);
	}
	return at == answer->len;
}

static int list_functions(const struct elf *elf, functions *list)
{
	reader_answer answer = { 0 };
	long err = elf_ask(elf, find_functions, NULL, 0, &answer);

	if (!err && !take_functions(&answer, elf, list))
		err = elf_refuse(elf);
	vec_release(&answer);
	sort_functions(list);
	return (int)err;
}

static struct ub_caller caller(uint64_t pc, uint32_t rule, const struct function *inside)
{
	struct ub_caller caller = { .pc = (uint32_t)pc, .rule = rule, .what = UB_CALLER_INNER };
	const struct ub_site *wire = inside ? &site_row(inside->row)->wire : NULL;

	if (UB_ROW_BP(rule) >= UB_ROW_STOP || UB_ROW_MODE(rule) == UB_ROW_REALIGNED ||
	    (wire && !wire->derivable)) {
		caller.what = UB_CALLER_OTHER;
	} else if (wire) {
		caller.what = UB_CALLER_CALL;
		caller.row = (uint16_t)inside->row;
		caller.number = wire->derivable;
	}
	return caller;
}

typedef VEC(struct ub_caller) caller_rows;

/* Splits rows where API functions begin and end. The first row is that of place 0. */
static void mark(const unwind_rows *rows, const functions *list, caller_rows *out)
{
	uint32_t rule = UB_ROW(0, 0, UB_ROW_STOP + UB_STACK_NO_ROWS);
	size_t row = 0, at = 0;
	bool inside = false;

	while (row < rows->len || at < list->len) {
		const struct function *function = at < list->len ? &list->data[at] : NULL;
		uint64_t edge = !function ? UINT64_MAX : inside ? function->to : function->from;
		uint64_t pc = row < rows->len ? rows->data[row].pc : UINT64_MAX;

		if (edge <= pc) {
			at += inside;
			inside = !inside;
		}
		if (pc <= edge)
			rule = rows->data[row++].rule;
		vec_push(out, caller(edge < pc ? edge : pc, rule, inside ? &list->data[at] : NULL));
	}
}

/*
 * All rows are read. They fit in whole, or not at all: the library's calls keep their probes then,
 * if they have any.
 */
static void end_table(struct callers *callers, struct caller_table *table, int err)
{
	functions list = { 0 };
	caller_rows out = { 0 };

	if (!err)
		err = list_functions(table->library->elf, &list);
	if (!err)
		mark(&table->rows, &list, &out);
	if (out.len && out.len <= KERNEL_CALLERS - callers->used) {
		memcpy(callers->rows + callers->used, out.data, out.len * sizeof(*out.data));
		table->first = callers->used;
		table->count = (uint32_t)out.len;
		callers->used += table->count;
	}
	if (table->library->roles & LIB_SHMEM_CODE && (err || table->count < out.len))
		log_warn("%s: calls of its puts, gets and atomics are not known: %s",
			 table->library->path, err ? strerror(-err) : "too many libraries");
	log_debug("%s: %u of %zu rows that lead to callers%s%s", table->library->path, table->count,
		  out.len, err ? ": " : "", err ? strerror(-err) : "");
	table->ready = true;
	unwind_close(table->unwind);
	table->unwind = NULL;
	vec_release(&table->rows);
	vec_release(&list);
	vec_release(&out);
}

/* Goes on with a library; false: not done by that time. */
static bool read_table(struct callers *callers, struct caller_table *table, uint64_t until)
{
	uint64_t now;
	int more = 1;

	if (table->ready)
		return true;
	if (!table->unwind)
		more = unwind_open(&table->unwind, table->library->elf);
	if (!more)
		more = 1;
	while (more > 0 && (now = clock_ns(CLOCK_MONOTONIC)) < until)
		more = unwind_read(table->unwind, &table->rows, until - now);
	if (more > 0)
		return false;
	end_table(callers, table, more);
	return true;
}

static struct caller_table *table_of(struct callers *callers, const struct library *library)
{
	struct caller_table *table;

	for (size_t i = 0; i < callers->tables.len; i++)
		if (callers->tables.data[i].library == library)
			return &callers->tables.data[i];
	table = vec_add(&callers->tables);
	*table = (struct caller_table){ .library = library };
	return table;
}

/* ---- processes ---- */

#define AT_ONCE 1000000000ull /* ns: liboshmem takes milliseconds, a forged file any time */

/* False: a library is left out, as its rows are not read yet. */
static bool list_ranges(struct callers *callers, const mapped_libraries *mapped,
			struct ub_caller_ranges *ranges)
{
	struct ub_caller_range *range = ranges->range;
	bool ready = true;

	for (size_t i = 0; i < mapped->len && range < ranges->range + UB_CALLER_RANGES; i++) {
		const struct mapped_library *one = &mapped->data[i];
		struct caller_table *table;

		if (!(one->library->roles & (LIB_MPI_CODE | LIB_MPI_PLUGIN)))
			continue;
		callers->unprobed = callers->unprobed || one->library->roles & LIB_SHMEM;
		table = table_of(callers, one->library);
		/* no probe sees their calls until then */
		if (one->library->roles & LIB_SHMEM_CODE)
			read_table(callers, table, clock_ns(CLOCK_MONOTONIC) + AT_ONCE);
		ready = ready && table->ready;
		if (table->ready)
			*range++ = (struct ub_caller_range){
				.start = one->base,
				.end = one->base + elf_reach(one->library->elf),
				.bias = one->base,
				.first = table->first,
				.count = table->count,
			};
	}
	return ready;
}

/*
 * False: to be tried again. Libraries that are known already stay so: their calls are derived until
 * probes are back.
 */
static bool place_process(struct callers *callers, pid_t tgid)
{
	int fd = bpf_map__fd(callers->skel->maps.caller_ranges);
	struct ub_caller_ranges ranges = { 0 }, before;
	mapped_libraries mapped = { 0 };
	uint32_t key = (uint32_t)tgid;
	bool ready;
	int err;

	err = process_libraries(tgid, callers->libraries, &mapped);
	ready = err || list_ranges(callers, &mapped, &ranges);
	vec_release(&mapped);
	if (err)
		return true;
	if (!bpf_map_lookup_elem(fd, &key, &before) && !memcmp(&before, &ranges, sizeof(ranges)))
		return ready;
	bpf_map_update_elem(fd, &key, &ranges, BPF_ANY);
	__atomic_add_fetch(&callers->skel->data->callers_generation, 1, __ATOMIC_SEQ_CST);
	return ready;
}

void callers_process(struct callers *callers, pid_t tgid)
{
	bool known = place_process(callers, tgid);

	for (size_t i = 0; !known && i < callers->waiting.len; i++)
		known = callers->waiting.data[i] == tgid;
	if (!known)
		vec_push(&callers->waiting, tgid);
}

bool callers_known(const struct callers *callers)
{
	return !callers->waiting.len;
}

void callers_work(struct callers *callers, uint64_t ns)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + ns;
	size_t kept = 0;

	if (!callers->waiting.len)
		return;
	for (size_t i = 0; i < callers->tables.len; i++)
		if (!read_table(callers, &callers->tables.data[i], until))
			return;
	for (size_t i = 0; i < callers->waiting.len; i++)
		if (clock_ns(CLOCK_MONOTONIC) >= until ||
		    !place_process(callers, callers->waiting.data[i]))
			callers->waiting.data[kept++] = callers->waiting.data[i];
	callers->waiting.len = kept;
}
