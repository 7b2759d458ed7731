// SPDX-License-Identifier: BSD-3-Clause
/*
 * graphs PID FIRST COUNT: reads the objects of a stopped process as an attach does, once for each
 * graph from FIRST on, with words of its memory replaced (memory.h), and checks the records
 * (checks.h). Ends at the first fault, with the graph's number on stderr; prints its counts. Built
 * with sanitizers.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <sanitizer/common_interface_defs.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "fuzz/harness.h"
#include "observe/capture/existing.h"
#include "observe/process/bounds.h"
#include "observe/process/proc.h"
#include "observe/process/registers.h"
#include "trust/graphs/checks.h"
#include "trust/graphs/made.h"
#include "trust/graphs/memory.h"

#define LONGEST_S 60 /* of CPU time, with sanitizers; a walk that has no end takes longer */
#define SLOT 1 /* of the layout, in records */
#define STRANGERS 24

static pid_t source;
static uint64_t graph;
static struct track track;
static struct tracked tracked;
static struct probes probes;
static ucx_files files;
static call_stacks stacks;
static struct code_files code;
static code_ranges ranges;
static struct unwinds unwinds;
static thread_list threads;

/* ---- in place of the rest of a tracer ---- */

/* By the header, the last one of that number: there is one process here. */
struct tracked *track_find(const struct track *all, pid_t tgid)
{
	(void)all;
	return tgid == source ? &tracked : NULL;
}

int __wrap_file_writer_side(struct file_writer *writer, const json_t *record);

int __wrap_file_writer_side(struct file_writer *writer, const json_t *record)
{
	(void)writer;
	check_record(record);
	return 0;
}

/* ---- a graph ---- */

static uint16_t row_of(uint8_t kind, int what)
{
	for (unsigned int row = 1; row < site_count(); row++)
		if (site_row(row)->wire.kind == kind && !site_row(row)->on_worker &&
		    (what < 0 || site_row(row)->wire.what == what))
			return (uint16_t)row;
	abort();
}

static struct ub_hdr header(uint8_t kind, int what)
{
	return (struct ub_hdr){ .kind = kind,
				.site = row_of(kind, what),
				.tgid = (uint32_t)source,
				.layout = SLOT,
				.ts = 1 };
}

static void add_worker(struct existing *existing, uint64_t worker)
{
	const struct ub_obj record = { .h = header(UB_OBJ, UB_OBJ_WORKER_CREATE), .obj = worker };

	existing_record(existing, &record.h);
}

/* As a record names an object that nothing is known of. */
static void add_stranger(struct existing *existing, uint64_t object, bool is_iface)
{
	const struct ub_xfer transfer = { .h = header(UB_XFER, -1), .iface = object };
	const struct ub_op operation = { .h = header(UB_OP, -1), .obj = object };

	existing_record(existing, is_iface ? &transfer.h : &operation.h);
}

static void add_strangers(struct existing *existing, size_t known)
{
	for (size_t i = 0; i < known && i < STRANGERS; i++) {
		const struct known_object *object = &known_objects.data[(i + graph) % known];

		if (object->kind == IFACES || object->kind == EPS)
			add_stranger(existing, object->at, object->kind == IFACES);
	}
	for (int i = 0; graph && i < 4; i++)
		add_stranger(existing, memory_pointer(), memory_dice(2));
}

/* Looks twice, by a search and by strangers: the second look compares records with the first. */
static void read_objects(size_t known)
{
	struct existing existing;

	existing_init(&existing, &track, NULL);
	existing_process(&existing, source);
	existing_read(&existing);
	add_strangers(&existing, known);
	existing_apply(&existing, deadline_in(BOUNDS_ROUND_NS));
	for (size_t i = 0; i < known; i++)
		if (known_objects.data[i].kind == WORKERS)
			add_worker(&existing, known_objects.data[i].at);
	existing_queues(&existing, &stacks, NULL);
	existing_finish(&existing, deadline_in(BOUNDS_END_NS));
	existing_release(&existing);
}

static uint64_t any_cache(void)
{
	if (!graph || memory_dice(2))
		return made_cache(MADE_TABLE);
	return memory_dice(32) ? memory_pointer() : made_cache(MADE_REGIONS);
}

static void read_memory(void)
{
	const struct ucx_place place = { .pid = source,
					 .cache = any_cache(),
					 .deadline = deadline_in(BOUNDS_PROCESS_NS) };
	struct ucx_memory memory = { 0 }, cache = { 0 };

	ucx_memory_read(&memory, &files, &track.libraries, source, deadline_in(BOUNDS_PROCESS_NS));
	check_memory(&memory);
	ucx_memory_release(&memory);
	ucx_regions_read(&cache, &place);
	check_memory(&cache);
	if (!graph && cache.regions.len != 136)
		harness_fail("the table of regions is not read");
	ucx_memory_release(&cache);
}

static void read_process(void)
{
	mapped_libraries mapped = { 0 };
	struct os_process process;

	if (process_init(&process, source))
		return;
	check_process(&process);
	process.rank = -1;
	if (!process_libraries(source, &track.libraries, &mapped))
		process_rank_from_memory(&process, &mapped);
	check_process(&process);
	vec_release(&mapped);
	process_release(&process);
}

static void walk_stack(void *arg, struct thread_registers *thread)
{
	frame_list frames = { 0 };

	(void)arg;
	if (!thread->known)
		return;
	if (graph && !memory_dice(4))
		thread->sp = memory_value(0, thread->sp);
	if (graph && !memory_dice(4))
		thread->pc = memory_value(0, thread->pc);
	thread->bp = memory_value(0, thread->sp);
	thread->bp_known = true;
	unwinds.deadline = deadline_in(BOUNDS_LOOK_NS);
	frames_walk(&frames, thread, &ranges, &unwinds);
	check_frames(&frames);
	if (!graph && frames.len > 1)
		vec_push(&stacks, ((struct call_stack){ source, thread->sp, frames.data[1].base }));
	vec_release(&frames);
}

static void read_stacks(void)
{
	threads_list(&threads, source, 8);
	threads_registers(&threads, 100, walk_stack, NULL);
	threads_release(&threads);
}

static void run_graph(size_t known)
{
	checks_begin();
	memory_begin(graph);
	if (graph && !memory_dice(64)) /* one takes as long as the bounds allow */
		made_insert((enum made)memory_dice(MADE_KINDS));
	read_objects(known);
	read_memory();
	if (graph % 4 == 0) {
		read_process();
		read_stacks();
	}
	memory_end();
}

/* ---- all of them ---- */

static void tell_number(void)
{
	fprintf(stderr, "graph %lu of process %d\n", (unsigned long)graph, source);
}

static void fail(int number)
{
	(void)number;
	tell_number();
}

static void take_too_long(int number)
{
	(void)number;
	harness_fail("more CPU time than a graph may take");
}

static void limit_time(int seconds)
{
	setitimer(ITIMER_PROF, &(struct itimerval){ .it_value.tv_sec = seconds }, NULL);
}

/* Reads the unchanged process: its layout, its objects, and the pages in which these lie. */
static size_t learn(void)
{
	mapped_libraries mapped = { 0 };
	size_t workers = 0;

	if (process_libraries(source, &track.libraries, &mapped))
		return 0;
	for (size_t i = 0; i < mapped.len; i++)
		if (mapped.data[i].library->layout)
			made_owner.layout = mapped.data[i].library->layout;
	vec_release(&mapped);
	if (!made_owner.layout)
		return 0;
	probes.slots[SLOT] = made_owner.layout;
	code_list(source, &code, &ranges);
	run_graph(0);
	/* with its queues, as its workers are known now */
	run_graph(known_objects.len);
	for (size_t i = 0; i < known_objects.len; i++) {
		workers += known_objects.data[i].kind == WORKERS;
		if (known_objects.data[i].kind == WORKERS)
			made_owner.worker = known_objects.data[i].at;
		if (known_objects.data[i].kind == IFACES)
			made_owner.iface = known_objects.data[i].at;
	}
	return workers ? known_objects.len : 0;
}

static double cpu_now(void)
{
	return (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
}

/* Not as getrusage(2) has it: that begins with what the caller took. */
static long peak_kib(void)
{
	return proc_status_number(getpid(), "VmHWM:");
}

static void run_all(uint64_t first, uint64_t count)
{
	const size_t known = known_objects.len;
	uint64_t slowest = 0;
	double longest = 0;

	for (graph = first; graph < first + count; graph++) {
		const double begin = cpu_now();
		double took;

		limit_time(LONGEST_S);
		run_graph(known);
		known_objects.len = known;
		took = cpu_now() - begin;
		if (took > longest) {
			longest = took;
			slowest = graph;
		}
	}
	printf("{\"graphs\": %lu, \"words\": %lu, \"reads\": %lu, \"records\": %lu, "
	       "\"reasons\": %lu, \"longest\": %.3f, \"slowest\": %lu, \"peak\": %ld}\n",
	       (unsigned long)count, (unsigned long)memory_counts.words,
	       (unsigned long)memory_counts.reads, (unsigned long)checks_counts.records,
	       (unsigned long)checks_counts.reasons, longest, (unsigned long)slowest, peak_kib());
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: graphs PID FIRST COUNT\n");
		return 2;
	}
	LLVMFuzzerInitialize(&argc, &argv);
	__sanitizer_set_death_callback(tell_number);
	signal(SIGABRT, fail);
	signal(SIGPROF, take_too_long);
	source = atoi(argv[1]);
	tracked = (struct tracked){ .tgid = source, .alive = true, .uses_ucp = true };
	track.probes = &probes;
	process_maps_hold(source);
	memory_open(source, made_fill);
	if (!learn()) {
		fprintf(stderr, "no worker was found in process %d\n", source);
		return 3;
	}
	run_all(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
	return 0;
}
