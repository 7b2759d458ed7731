// SPDX-License-Identifier: BSD-3-Clause
/*
 * many N [CAPTURES]: how long an analysis of N side records of each kind takes, and of half as
 * many, ms of CPU time: twice as long is linear, four times is not. With CAPTURES, each of as many
 * captures has them. At the end N receives that stay open, and N losses of another process behind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/vec.h"
#include "explain/analysis/analysis.h"
#include "explain/analysis/internal.h"

/* %1$d: the record's number, from 1; ' stands for ". */
static const struct {
	const char *name, *sides;
} kinds[] = {
	{ "gpu", "{'t': 'gpu', 'pci': '0000:%1$04x:00.0'}" },
	{ "process", "{'t': 'process', 'tgid': %1$d, 'start_time': 1, 'rank': %1$d}" },
	{ "lives of a pid", "{'t': 'process', 'tgid': 1, 'start_time': %1$d, 'rank': %1$d}" },
	{ "process, library", "{'t': 'process', 'tgid': %1$d, 'rank': 0},"
			      "{'t': 'library', 'tgid': %1$d, 'path': '/l', 'roles': ['ucp']}" },
	{ "process, GPU",
	  "{'t': 'process', 'tgid': %1$d, 'rank': 0},"
	  "{'t': 'memory', 'tgid': %1$d, 'ucx': {'devices': [['0:%1$04x:0.0', 'GPU0']]}}" },
	{ "process, address", "{'t': 'process', 'tgid': %1$d, 'rank': 0},"
			      "{'t': 'address', 'tgid': %1$d, 'address': %1$d}" },
	{ "worker", "{'t': 'worker', 'tgid': 1, 'worker': %1$d, 'uuid': %1$d, 'ts': %1$d}" },
	{ "iface", "{'t': 'iface', 'tgid': 1, 'iface': %1$d, 'tl': 'tcp', 'ts': %1$d}" },
	{ "ep", "{'t': 'ep', 'tgid': 1, 'ep': %1$d, 'peer_uuid': %1$d, 'ts': %1$d}" },
	{ "lives of an ep", "{'t': 'ep', 'tgid': 1, 'ep': 1, 'peer_uuid': %1$d, 'ts': %1$d}" },
	{ "note", "{'t': 'note', 'text': 'n%1$d'}" },
	{ "gap", "{'t': 'gap', 'path': '/l%1$d'}" },
	{ "symbol", "{'t': 'symbol', 'offset': %1$d, 'symbol': 's%1$d'}" },
	{ "window", "{'t': 'window', 'from': %1$d0, 'to': %1$d1}" },
	{ "cell", "{'t': 'cell', 'id': %1$d, 'tgid': %1$d, 'ts': %1$d}" },
};

/* What captures without kinds[] have: a site, two processes, and records of these. */
static const char losses[] =
	"{'t': 'site', 'row': 1, 'symbol': 'ucp_tag_recv_nbx', 'name': 'tag_recv', 'layer': 'ucp',"
	" 'kind': 2, 'what': %d},"
	"{'t': 'process', 'tgid': 1, 'rank': 0}, {'t': 'process', 'tgid': 2, 'rank': 1}";

struct stream {
	uint32_t count, next;
	union {
		struct ub_hdr h;
		struct ub_op op;
		struct ub_loss loss;
	} record;
};

static int next_record(void *ctx, const struct ub_hdr **record)
{
	struct stream *stream = ctx;
	uint32_t i = stream->next++;
	struct ub_hdr h = { .ts = 10 + i, .cpu_seq = i, .layout = 1 };

	if (i == 2 * stream->count)
		return 0;
	*record = &stream->record.h;
	if (i < stream->count) {
		h.kind = UB_OP;
		h.site = 1;
		h.tgid = h.tid = 1;
		h.seq = i + 1;
		stream->record.op = (struct ub_op){ .h = h,
						    .req = 0x100000 + 512 * i,
						    .ret = 0x100000 + 512 * i + 272 };
	} else {
		h.kind = UB_LOSS;
		h.tgid = h.tid = 2;
		stream->record.loss = (struct ub_loss){ .h = h, .until = h.ts, .records = 1 };
	}
	return 1;
}

static int no_record(void *ctx, const struct ub_hdr **record)
{
	(void)ctx;
	(void)record;
	return 0;
}

static int from_the_start(void *ctx)
{
	(void)ctx;
	return 0;
}

static void add_all(json_t *sides, char *text)
{
	json_t *list;

	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	list = json_loads(text, 0, NULL);
	if (!list)
		abort();
	json_array_extend(sides, list);
	json_decref(list);
}

static json_t *made_up(const char *record, int host, int count)
{
	json_t *sides = json_array();
	char text[512];

	snprintf(text, sizeof(text), "[{'t': 'capture', 'host': {'id': 'h%d', 'name': 'n'}}]",
		 host);
	add_all(sides, text);
	for (int i = 1; i <= count; i++) {
		size_t length = 1;

		text[0] = '[';
		length += (size_t)snprintf(text + 1, sizeof(text) - 2, record, i);
		text[length] = ']';
		text[length + 1] = '\0';
		add_all(sides, text);
	}
	return sides;
}

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void ignore(void *arg, enum fact_type type, const void *fact, const struct fact_sums *sums)
{
	(void)arg;
	(void)type;
	(void)fact;
	(void)sums;
}

static double run(struct analysis *analysis)
{
	const struct fact_sink sink = { NULL, ignore };
	struct fact_totals totals = { 0 };
	double before = cpu_ms();

	analysis_run(analysis, &sink, &totals);
	before = cpu_ms() - before;
	analysis_free(analysis);
	return before;
}

static double analysed(const char *record, int captures, int count)
{
	struct analysis *analysis = analysis_new();
	VEC(json_t *) all = { 0 };
	double before;

	for (int i = 0; i < captures; i++) {
		vec_push(&all, made_up(record, i, count));
		analysis_add_source(analysis, &(struct record_source){ .next = no_record,
								       .rewind = from_the_start,
								       .sides = all.data[i] });
	}
	before = run(analysis);
	for (size_t i = 0; i < all.len; i++)
		json_decref(all.data[i]);
	vec_release(&all);
	return before;
}

static int begin_again(void *ctx)
{
	((struct stream *)ctx)->next = 0;
	return 0;
}

static double analysed_losses(int count)
{
	struct stream stream = { .count = (uint32_t)count };
	struct analysis *analysis = analysis_new();
	char text[sizeof(losses) + 16];
	json_t *sides;
	double ms;

	snprintf(text, sizeof(text), losses, UB_OP_TAG_RECV);
	sides = made_up(text, 0, 1);
	analysis_add_source(analysis, &(struct record_source){ .ctx = &stream,
							       .next = next_record,
							       .rewind = begin_again,
							       .sides = sides });
	ms = run(analysis);
	json_decref(sides);
	return ms;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 40000, captures = argc > 2 ? atoi(argv[2]) : 1;

	printf("%-18s %9d %9d\n", "", count / 2, count);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		printf("%-18s %9.1f %9.1f\n", kinds[i].name,
		       analysed(kinds[i].sides, captures, count / 2),
		       analysed(kinds[i].sides, captures, count));
	printf("%-18s %9.1f %9.1f\n", "losses, receives", analysed_losses(count / 2),
	       analysed_losses(count));
	return 0;
}
