// SPDX-License-Identifier: BSD-3-Clause
/* PERF-05: data takes the ways that it took in an earlier sweep. */
#include <ctype.h>
#include <string.h>

#include "site/judge/rules/rules.h"

/* A way counts as taken by that share of a size's bytes, and as not taken below the other one. */
#define TAKEN 0.1
#define NOT_TAKEN 0.01

/* Bytes of messages of one size class that went one way, in both sweeps. */
struct way_taken {
	enum fact_locality locality;
	bool gpus[2]; /* source, destination */
	int size_class;
	uint64_t least; /* bytes of the smallest message */
	const char *transport, *protocol;
	char device[32]; /* without its number: "mlx5_", "eth" */
	uint64_t bytes[2]; /* then, now */
};

typedef VEC(struct way_taken) ways;

static void device_class(const char *device, char to[32])
{
	size_t length;

	snprintf(to, 32, "%.*s", (int)strcspn(device, ":"), device);
	for (length = strlen(to); length && isdigit((unsigned char)to[length - 1]); length--)
		to[length - 1] = '\0';
}

static int same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_place(const struct way_taken *a, const struct way_taken *b)
{
	if (a->locality != b->locality)
		return a->locality < b->locality ? -1 : 1;
	for (int i = 0; i < 2; i++)
		if (a->gpus[i] != b->gpus[i])
			return a->gpus[i] < b->gpus[i] ? -1 : 1;
	return (a->size_class > b->size_class) - (a->size_class < b->size_class);
}

static int by_way(const void *left, const void *right)
{
	const struct way_taken *a = left, *b = right;
	int order = compare_place(a, b);

	order = order ? order : same_text(a->transport, b->transport);
	order = order ? order : strcmp(a->device, b->device);
	return order ? order : same_text(a->protocol, b->protocol);
}

static void add_ways(const struct exhibits *exhibits, int when, ways *list)
{
	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		struct way_taken way = {
			.locality = cell->locality,
			.gpus = { is_gpu(cell->src_mem), is_gpu(cell->dst_mem) },
			.size_class = cell->size_class,
			.least = cell->least,
			.transport = cell->transport,
			.protocol = cell->protocol,
		};

		/* fragments of which only sums are known tell no message's size */
		if (cell->size_class == CELL_UNSIZED || !cell->transport || !cell->device ||
		    !cell->bytes || (!cell_inter(cell) && !cell_intra(cell)))
			continue;
		device_class(cell->device, way.device);
		way.bytes[when] = cell->bytes;
		vec_push(list, way);
	}
}

/* The same way once. */
static void sum_up(ways *list)
{
	size_t kept = 0;

	if (list->len)
		qsort(list->data, list->len, sizeof(*list->data), by_way);
	for (size_t i = 0; i < list->len; i++) {
		struct way_taken *last = list->data + kept - 1;

		if (!kept || by_way(last, &list->data[i])) {
			list->data[kept++] = list->data[i];
			continue;
		}
		for (int when = 0; when < 2; when++)
			last->bytes[when] += list->data[i].bytes[when];
		if (list->data[i].least < last->least)
			last->least = list->data[i].least;
	}
	list->len = kept;
}

static const char *way_text(const struct trial *trial, const char *text,
			    const struct way_taken *way)
{
	return say(trial->judge, "%s%s%s/%s%s%s", text, *text ? ", " : "", way->transport,
		   way->device, way->protocol ? " " : "", way->protocol ? way->protocol : "");
}

static const char *ways_text(const struct trial *trial, const struct way_taken *list, size_t count,
			     int when, double all)
{
	const char *text = "";

	for (size_t i = 0; i < count; i++)
		if (list[i].bytes[when] >= TAKEN * all)
			text = way_text(trial, text, &list[i]);
	return text;
}

/* Other messages, of MPI itself, are few, and go now one way, now another. */
static bool is_planned(const struct trial *trial, uint64_t size)
{
	const struct plan *plan = trial->judge->sweep.plan;

	for (size_t i = 0; i < plan->stages.len; i++)
		for (size_t k = 0; k < plan->stages.data[i].works.len; k++)
			if (plan->stages.data[i].works.data[k].size == size)
				return true;
	return false;
}

static uint64_t least_of(const struct way_taken *list, size_t count)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < count; i++)
		least = list[i].least < least ? list[i].least : least;
	return least;
}

/* All ways of messages of one place and size. */
static void judge_place(const struct trial *trial, const struct way_taken *list, size_t count)
{
	const struct way_taken *first = list;
	uint64_t least = least_of(list, count);
	double all[2] = { 0 };
	struct finding *finding;
	bool changed = false;

	for (size_t i = 0; i < count; i++)
		for (int when = 0; when < 2; when++)
			all[when] += list[i].bytes[when];
	if (!(all[0] > 0) || !(all[1] > 0) || !is_planned(trial, least))
		return;
	for (size_t i = 0; i < count; i++)
		for (int when = 0; when < 2; when++)
			changed = changed || (list[i].bytes[when] >= TAKEN * all[when] &&
					      list[i].bytes[!when] < NOT_TAKEN * all[!when]);
	finding = found(trial, changed ? VERDICT_FAIL : VERDICT_PASS,
			say(trial->judge, "way of %s.%s-%s.%lu",
			    first->locality == LOCALITY_REMOTE ? "inter" : "intra",
			    first->gpus[0] ? "cuda" : "host", first->gpus[1] ? "cuda" : "host",
			    (unsigned long)least));
	finding->bytes = (uint64_t)all[1];
	finding->expected =
		say(trial->judge, "as before: %s", ways_text(trial, list, count, 0, all[0]));
	if (changed)
		finding->seen = ways_text(trial, list, count, 1, all[1]);
}

/* What has one end alone is of no place, and its ways are missing of those that are compared. */
static const char *lacks_something(const struct judge *judge)
{
	const char *node;

	if (judge->incomplete || losses_worst(&judge->losses, &node) == LACK_RECORDS)
		return "records were or may be lost, now or then";
	for (size_t i = 0; i < judge->exhibits.nodes.len; i++)
		if (judge->exhibits.nodes.data[i].in_part)
			return "some processes are in no capture, now or then (COV-04)";
	return NULL;
}

void judge_earlier_ways(const struct trial *trial)
{
	const struct judge *judge = trial->judge;
	const char *lacks;
	size_t length;
	ways list = { 0 };

	if (!judge->earlier || !judge->earlier->exhibits.cells.len || !trial->exhibits->cells.len)
		return;
	lacks = lacks_something(judge);
	lacks = lacks ? lacks : lacks_something(judge->earlier);
	if (lacks) {
		found_nothing(trial, VERDICT_UNKNOWN, lacks);
		return;
	}
	add_ways(&judge->earlier->exhibits, 0, &list);
	add_ways(trial->exhibits, 1, &list);
	sum_up(&list);
	for (size_t i = 0; i < list.len; i += length) {
		for (length = 1; i + length < list.len; length++)
			if (compare_place(&list.data[i], &list.data[i + length]))
				break;
		judge_place(trial, &list.data[i], length);
	}
	vec_release(&list);
}

bool earlier_way_changed(const struct trial *trial, bool intra, uint64_t size)
{
	char begin[64], end[32];

	snprintf(begin, sizeof(begin), "way of %s.", intra ? "intra" : "inter");
	snprintf(end, sizeof(end), ".%lu", (unsigned long)size);
	for (size_t i = 0; i < trial->judge->findings.len; i++) {
		const struct finding *finding = &trial->judge->findings.data[i];
		const char *last = strrchr(finding->subject, '.');

		if (finding->rule == trial->rule && finding->verdict == VERDICT_FAIL && last &&
		    !strncmp(finding->subject, begin, strlen(begin)) && !strcmp(last, end))
			return true;
	}
	return false;
}
