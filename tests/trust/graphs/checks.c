// SPDX-License-Identifier: BSD-3-Clause
#include "trust/graphs/checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "fuzz/harness.h"

#define USER_END (1ull << 56) /* no address of a process is higher */
#define RECORD_MOST (256u << 10)
#define POSTED_MOST 256
#define WAITING_MOST 64
#define SENDS_MOST 256

static const char *const types[OBJECT_KINDS] = {
	[WORKERS] = "worker", [IFACES] = "iface", [UCT_EPS] = "uct_ep", [EPS] = "ep"
};

struct checks_counts checks_counts;
__typeof__(known_objects) known_objects;
static struct map told; /* (kind + 1, address) of records of this graph */

void checks_begin(void)
{
	map_release(&told);
}

static void expect(bool holds, const char *what, const json_t *record)
{
	if (holds)
		return;
	json_dumpf(record, stderr, JSON_INDENT(1));
	fputc('\n', stderr);
	harness_fail(what);
}

static uint64_t hex_of(const json_t *text)
{
	return text ? strtoull(json_string_value(text), NULL, 16) : 0;
}

static void expect_told(int kind, const json_t *text, const json_t *record)
{
	expect(map_find(&told, (uint64_t)kind + 1, hex_of(text)),
	       "it refers to an object without a record", record);
}

/* Each text of a record can be shown as it is. */
static void check_texts(const json_t *value, const json_t *record)
{
	const json_t *member;
	const char *name;
	size_t i;

	if (json_is_string(value))
		for (const char *at = json_string_value(value); *at;) {
			unsigned int code;
			const size_t length = text_character(at, &code);

			expect(length && !text_steers(code), "a text steers a terminal", record);
			at += length;
		}
	json_array_foreach(value, i, member) check_texts(member, record);
	json_object_foreach((json_t *)value, name, member) check_texts(member, record);
}

static void check_rows(const json_t *record, const char *name, size_t most)
{
	const json_t *rows = json_object_get(record, name), *row;
	size_t i;

	expect(json_array_size(rows) <= most, "more rows than there may be", record);
	json_array_foreach(rows, i, row)
		expect(strcmp(name, "waiting") ? hex_of(json_array_get(row, 0)) < USER_END : true,
		       "a request is no address of a process", record);
}

static void check_fifo(const json_t *fifo, const json_t *record)
{
	const json_int_t slots = json_integer_value(json_object_get(fifo, "slots"));

	if (!fifo)
		return;
	expect(hex_of(json_object_get(fifo, "base")) < USER_END,
	       "a FIFO is no address of a process", record);
	expect(slots > 1 && !(slots & (slots - 1)), "a FIFO of no power of two", record);
}

static void check_references(int kind, const json_t *record)
{
	const json_t *lanes = json_object_get(record, "lanes"), *lane;
	size_t i;

	if (kind == IFACES || kind == EPS)
		expect_told(WORKERS, json_object_get(record, "worker"), record);
	if (kind == UCT_EPS)
		expect_told(IFACES, json_object_get(record, "iface"), record);
	json_array_foreach(lanes, i, lane) expect_told(UCT_EPS, lane, record);
}

static void check_object(int kind, const json_t *record)
{
	const uint64_t at = hex_of(json_object_get(record, types[kind]));
	const json_t *peer = json_object_get(record, "peer_pid");
	bool fresh;

	expect(at && at < USER_END, "an object is no address of a process", record);
	expect(!peer || json_integer_value(peer) > 0, "a pid that cannot be", record);
	check_references(kind, record);
	check_fifo(json_object_get(record, "fifo"), record);
	map_insert(&told, (uint64_t)kind + 1, at, &fresh);
	vec_push(&known_objects, ((struct known_object){ at, kind }));
}

void check_record(const json_t *record)
{
	const char *type = json_string_value(json_object_get(record, "t"));
	char *text = json_dumps(record, JSON_COMPACT);

	expect(type && text && strlen(text) < RECORD_MOST, "no JSON, or too long", record);
	free(text);
	checks_counts.records++;
	checks_counts.reasons += json_object_get(record, "reason") != NULL;
	/* its words are the process's own, and are escaped where they are shown */
	if (strcmp(type, "process"))
		check_texts(record, record);
	for (int kind = 0; kind < OBJECT_KINDS; kind++)
		if (!strcmp(type, types[kind]))
			check_object(kind, record);
	if (!strcmp(type, "queues")) {
		check_rows(record, "posted", POSTED_MOST);
		check_rows(record, "waiting", WAITING_MOST);
		check_rows(record, "sends", SENDS_MOST);
	}
}

void check_process(const struct os_process *process)
{
	json_t *record = process_side_record(process, "", "attach", 1);

	check_record(record);
	expect(process->rank >= -1 && process->size >= -1 && process->local_rank >= -1 &&
		       process->rank < 1 << 30,
	       "a rank that cannot be", record);
	json_decref(record);
}

void check_memory(const struct ucx_memory *memory)
{
	json_t *record = ucx_memory_json(memory);

	check_texts(record, record);
	for (size_t i = 0; i < memory->regions.len; i++) {
		const struct ucx_region *region = &memory->regions.data[i];

		expect(region->start < region->end, "a region without a byte", record);
		expect(region->end <= USER_END, "a region is no memory of a process", record);
		expect(!i || region[-1].end <= region->start, "regions out of order", record);
	}
	expect(memory->cached || !memory->regions.len, "a part of the regions", record);
	json_decref(record);
}

void check_frames(const frame_list *frames)
{
	for (size_t i = 1; i < frames->len; i++)
		if (frames->data[i].base && frames->data[i].base <= frames->data[i - 1].base)
			harness_fail("frames that go down");
	if (frames->len > 256)
		harness_fail("more frames than there may be");
}
