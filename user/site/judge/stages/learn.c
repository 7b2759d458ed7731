// SPDX-License-Identifier: BSD-3-Clause
/*
 * Learns a policy from captures of a good run. A fault that is everywhere looks normal, so traffic
 * that hard rules refuse is not learnt; a comment of the policy names it.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "site/judge/judge.h"
#include "site/judge/rules/rules.h"
#include "site/policy/values.h"

#define KIB 1024u
#define MIB (1024 * KIB)

/* Messages of different sizes go different ways: another line begins at each of these. */
static const struct band {
	uint64_t from;
	const char *text;
} bands[] = { { 0, "0, 8K" }, { 8 * KIB, "8K, 64K" }, { 64 * KIB, "64K, 1M" }, { MIB, "1M, inf" } };

#define BANDS (sizeof(bands) / sizeof(*bands))

static const char *const memories[] = { "host", "cuda", "managed", "pinned" };

#define MEMORIES (sizeof(memories) / sizeof(*memories))

/* The traffic of one line: loc, memory at both ends, size. */
struct learnt_line {
	uint64_t count, bytes;
	VEC(struct learnt_way {
		const char *transport;
		uint64_t count;
		uint64_t bytes;
	})
	ways;
};

void judge_learn_sizes(struct judge *judge)
{
	assert(judge->phase == JUDGE_EMPTY);
	for (size_t i = 1; i < BANDS; i++)
		aggregates_line(&judge->aggregates, bands[i].from);
}

/* BANDS: not known. */
static size_t band_of(const struct aggregates *aggregates, const struct traffic_cell *cell)
{
	size_t band = 0;

	while (band + 1 < BANDS && cell_at_least(aggregates, cell, bands[band + 1].from))
		band++;
	if (band + 1 < BANDS && !cell_below(aggregates, cell, bands[band + 1].from))
		return BANDS;
	return band;
}

static size_t memory_of(const char *memory)
{
	if (is_gpu(memory))
		return 1;
	for (size_t i = 0; memory && i < MEMORIES; i++)
		if (!strcmp(memories[i], memory))
			return i;
	return MEMORIES;
}

static void add_way(struct learnt_line *line, const struct traffic_cell *cell)
{
	size_t i = 0;

	line->count += cell->count;
	line->bytes += cell->bytes;
	while (i < line->ways.len && line->ways.data[i].transport != cell->transport)
		i++;
	if (i == line->ways.len)
		vec_push(&line->ways, (struct learnt_way){ .transport = cell->transport });
	line->ways.data[i].count += cell->count;
	line->ways.data[i].bytes += cell->bytes;
}

/* The hard rule that such a way breaks on any site; NULL: none. */
static const char *refused_by(bool inter, size_t src, size_t dst, size_t band,
			      const char *transport)
{
	bool gpu = src == 1 || dst == 1;

	if (!inter && is_network(transport))
		return "PATH-03";
	if (inter && !strcmp(transport, "tcp"))
		return "PATH-02";
	if (gpu && !strcmp(transport, "cuda_copy"))
		return inter && band >= 2 ? "PATH-07" : band == 0 ? "PATH-06" : NULL;
	return NULL;
}

/* One byte in a hundred may go another way, which the line does not get. */
static bool is_seldom(const struct learnt_line *line, const struct learnt_way *way)
{
	return line->bytes ? way->bytes * 100 < line->bytes : way->count * 100 < line->count;
}

/* A way that a hard rule refuses; NULL: none. */
static const struct learnt_way *refused(const struct learnt_line *line, bool inter, size_t src,
					size_t dst, size_t band, const char **rule)
{
	for (size_t i = 0; i < line->ways.len; i++) {
		*rule = refused_by(inter, src, dst, band, line->ways.data[i].transport);
		if (*rule && !is_seldom(line, &line->ways.data[i]))
			return &line->ways.data[i];
	}
	return NULL;
}

/* Returns whether it was learnt. */
static bool print_line(const struct learnt_line *line, bool inter, size_t src, size_t dst,
		       size_t band, FILE *out)
{
	const char *loc = inter ? "inter" : "intra", *join = "", *rule;
	const struct learnt_way *way = refused(line, inter, src, dst, band, &rule);

	if (way) {
		fprintf(out,
			"  # not learnt, %s refuses it: %s, %s-%s, [%s] over %s, %" PRIu64 " B\n",
			rule, loc, memories[src], memories[dst], bands[band].text, way->transport,
			way->bytes);
		return false;
	}
	fprintf(out, "  - { loc: %s, mem: %s-%s, size: [%s], tl: [", loc, memories[src],
		memories[dst], bands[band].text);
	for (size_t i = 0; i < line->ways.len; i++) {
		if (is_seldom(line, &line->ways.data[i]))
			continue;
		fprintf(out, "%s%s", join, line->ways.data[i].transport);
		join = ", ";
	}
	fprintf(out, "], min_share: 0.99 } # learnt from %" PRIu64 " transfers, %" PRIu64 " B\n",
		line->count, line->bytes);
	return true;
}

struct learnt_lines {
	struct learnt_line list[MEMORIES][MEMORIES][BANDS];
};

static void collect(const struct aggregates *aggregates, bool inter, struct learnt_lines *lines)
{
	for (size_t i = 0; i < aggregates->cells.len; i++) {
		const struct traffic_cell *cell = &aggregates->cells.data[i];
		size_t src = memory_of(cell->src_mem), dst = memory_of(cell->dst_mem);
		size_t band = band_of(aggregates, cell);

		if ((inter ? cell_inter(cell) : cell_intra(cell)) && cell->transport &&
		    src < MEMORIES && dst < MEMORIES && band < BANDS)
			add_way(&lines->list[src][dst][band], cell);
	}
}

/* Returns how many were learnt. */
static size_t print_lines(const struct aggregates *aggregates, bool inter, FILE *out)
{
	struct learnt_lines lines = { 0 };
	size_t learnt = 0;

	collect(aggregates, inter, &lines);
	for (size_t src = 0; src < MEMORIES; src++)
		for (size_t dst = 0; dst < MEMORIES; dst++)
			for (size_t band = 0; band < BANDS; band++) {
				struct learnt_line *line = &lines.list[src][dst][band];

				if (line->count)
					learnt += print_line(line, inter, src, dst, band, out);
				vec_release(&line->ways);
			}
	return learnt;
}

static void print_nodes(const struct aggregates *aggregates, FILE *out)
{
	const char *join = "";

	fputs("classes: # learnt: all nodes are assumed to be alike\n  learnt: { nodes: \"", out);
	for (size_t i = 0; i < aggregates->nodes.len; i++) {
		if (!aggregates->nodes.data[i].name)
			continue;
		fprintf(out, "%s%s", join, aggregates->nodes.data[i].name);
		join = ",";
	}
	fputs("\" }\n", out);
}

/* Transports that the policy has to declare, each once. */
static void print_transports(const struct aggregates *aggregates, FILE *out)
{
	texts declared = { 0 };

	for (size_t i = 0; i < aggregates->cells.len; i++) {
		const char *name = aggregates->cells.data[i].transport;

		if (!name || value_transport(name) || listed(&declared, name))
			continue;
		fprintf(out, "%s%s", declared.len ? ", " : "transports: [", name);
		vec_push(&declared, name);
	}
	if (declared.len)
		fputs("]\n", out);
	vec_release(&declared);
}

/* Whether nothing is missing but layers that were left out. */
static bool lacks_layers_alone(const struct losses *losses)
{
	uint64_t layers = 0, others = 0;

	for (int kind = 0; kind < LOSS_KINDS; kind++)
		if (kind == LOSS_WINDOWS || kind == LOSS_NARROW)
			layers += losses_sum(losses, kind);
		else if (kind != LOSS_SPANS)
			others += losses_sum(losses, kind);
	return layers && !others;
}

int judge_learn(const struct judge *judge, FILE *out)
{
	const struct aggregates *aggregates = &judge->aggregates;
	const char *node;
	char *text = NULL;
	size_t size, learnt;
	FILE *lines;

	assert(judge->phase == JUDGE_FINISHED);
	if (judge->incomplete || losses_worst(&judge->losses, &node) == LACK_RECORDS)
		return lacks_layers_alone(&judge->losses) ? -ENOTSUP : -EBADMSG;
	if (fact_recorded(&aggregates->totals.self, LEVEL_UCT) == RECORDED_NEVER)
		return -ENOTSUP;
	if (!aggregates->cells.len)
		return -ENODATA;
	lines = xmemstream(&text, &size);
	learnt = print_lines(aggregates, false, lines) + print_lines(aggregates, true, lines);
	fclose(lines);
	fputs("spec: ucxbpf-policy-v1\n", out);
	print_nodes(aggregates, out);
	print_transports(aggregates, out);
	fprintf(out, "expect:%s\n%s", learnt ? "" : " []", text);
	free(text);
	return text_finish(out);
}
