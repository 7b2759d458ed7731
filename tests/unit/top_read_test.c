// SPDX-License-Identifier: BSD-3-Clause
/* A view as JSON and back shows the same; how nodes stand is shown; what cannot be read is refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/place.h"
#include "show/top/panes.h"

#define SECOND 1000000000ull

/* A node, and the same node as it is read elsewhere. */
struct bed {
	struct live *live, *read;
	struct top_nics nics, read_nics;
	json_t *object;
	uint64_t now;
};

static int setup(void **state)
{
	struct bed *bed = calloc(1, sizeof(*bed));

	bed->live = live_new();
	bed->read = live_new();
	bed->now = 100 * SECOND;
	vec_push(&bed->nics.all, ((struct top_nic){ "mlx5_0:1", "up", 1e9, 5e6, NAN, 4e6, -1 }));
	*state = bed;
	return 0;
}

static int teardown(void **state)
{
	struct bed *bed = *state;

	live_free(bed->live);
	live_free(bed->read);
	vec_release(&bed->nics.all);
	vec_release(&bed->read_nics.all);
	json_decref(bed->object);
	free(bed);
	return 0;
}

static void begin(struct bed *bed, uint64_t watched)
{
	const struct live_tracer tracer = {
		.from = bed->now,
		.to = bed->now + SECOND,
		.real = bed->now,
		.watched = watched,
		.away = watched < SECOND,
		.budget = 0.03,
		.paid = 0.01,
		.cpu = NAN,
		.memory = 1 << 20,
		.hits = 1000,
		.trap_ns = 500,
		.program_ns = NAN,
		.lost = 1,
		.missed = 2,
	};

	bed->now += SECOND;
	live_begin(bed->live, &tracer);
}

static void process(struct bed *bed, int index, int rank, int size)
{
	const struct fact_sink sink = live_sink(bed->live);
	const struct fact_process fact = {
		.index = index,
		.host_name = "a",
		.pid = 10 + (uint32_t)index,
		.tgid = 20 + (uint32_t)index,
		.start_time = 7,
		.comm = "job",
		.job = "17",
		.rank = rank,
		.size = size,
	};

	fact_put(&sink, FACT_PROCESS, &fact);
}

static void traffic(struct bed *bed, int from, int to, uint64_t count)
{
	const struct fact_sink sink = live_sink(bed->live);
	const struct fact_call call = { .process = from, .function = "MPI_Send" };
	const struct fact_op send = {
		.process = from, .op = "tag_send", .function = "MPI_Send", .sends = true
	};
	const struct fact_op receive = { .process = from, .op = "tag_recv" };
	const struct fact_transfer transfer = {
		.process = from,
		.peer = to,
		.transport = "rc_mlx5",
		.device = "mlx5_0:1",
		.locality = to < 0 ? LOCALITY_UNKNOWN : LOCALITY_NODE,
		.kind = KIND_DATA,
		.data_path = "emulated",
		.initiator = "sender",
		.fetches = count % 2,
	};
	const struct fact_error error = { .process = from,
					  .what = FACT_ERROR_TRANSFER,
					  .status = "UCS_ERR_IO_ERROR",
					  .op = "tag_send",
					  .transport = "rc_mlx5",
					  .device = "mlx5_0:1" };
	const struct fact_sums sums = {
		.count = count, .bytes = 100 * count, .bytes_unknown = to < 0, .retries = count / 2
	};

	fact_put_sums(&sink, FACT_CALLS, &call, &sums);
	fact_put_sums(&sink, FACT_OPS, &send, &sums);
	fact_put_sums(&sink, FACT_OPS, &receive, &sums);
	fact_put_sums(&sink, FACT_TRANSFERS, &transfer, &sums);
	fact_put_sums(&sink, FACT_ERRORS, &error, &sums);
}

static void look(struct bed *bed, int index, const char *function, const char *reason)
{
	const struct fact_sink sink = live_sink(bed->live);
	const struct place place = { .label = "job.c:7" };
	const struct fact_thread fact = {
		.process = index,
		.tid = 20 + (uint32_t)index,
		.state = "running",
		.function = function,
		.place = function ? &place : NULL,
		.outside = !function && !reason,
		.reason = reason,
		.at = bed->now - SECOND / 10,
	};
	const struct fact_open open = {
		.process = index,
		.tid = fact.tid,
		.op = "tag_recv",
		.peer = -1,
		.peer_rank = 5,
		.tag = -1,
		.until = fact.at,
	};

	fact_put(&sink, FACT_THREAD, &fact);
	if (function)
		fact_put(&sink, FACT_OPEN, &open);
}

static json_t *printed(const struct live *live, const struct top_nics *nics)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_t *object;

	assert_int_equal(top_json(live, nics, out), 0);
	fclose(out);
	object = json_loads(text, 0, NULL);
	assert_non_null(object);
	free(text);
	return object;
}

static void end(struct bed *bed)
{
	const struct fact_totals totals = { .notes = { { "something is missing", 3 } } };
	const char *what;

	live_end(bed->live, &totals);
	json_decref(bed->object);
	bed->object = printed(bed->live, &bed->nics);
	assert_true(top_read(bed->object, bed->read, &bed->read_nics, &what));
}

static struct top_nodes nodes_of(const char *name, const struct live *live,
				 const struct top_nics *nics)
{
	const struct top_node node = {
		.name = name, .state = TOP_RUNNING, .live = live, .nics = nics
	};
	struct top_nodes nodes = { .named = name };

	vec_push(&nodes.all, node);
	return nodes;
}

/* All panes of both have the same cells. */
static void same_panes(const struct bed *bed)
{
	struct top_nodes a = nodes_of("n0", bed->live, &bed->nics),
			 b = nodes_of("n0", bed->read, &bed->read_nics);
	struct pane_head heads[2];

	for (int kind = 0; kind < PANES; kind++) {
		struct pane panes[2] = { 0 };

		pane_fill(&panes[0], kind, &a);
		pane_fill(&panes[1], kind, &b);
		assert_int_equal(panes[0].rows.len, panes[1].rows.len);
		for (size_t i = 0; i < panes[0].rows.len; i++)
			for (int k = 0; k < panes[0].count; k++) {
				const struct pane_cell *one = &panes[0].rows.data[i].cells[k],
						       *other = &panes[1].rows.data[i].cells[k];

				assert_string_equal(one->text, other->text);
				assert_int_equal(one->colour, other->colour);
			}
		pane_release(&panes[0]);
		pane_release(&panes[1]);
	}
	pane_head(&a, &heads[0]);
	pane_head(&b, &heads[1]);
	assert_string_equal(heads[0].who, heads[1].who);
	assert_string_equal(heads[0].much, heads[1].much);
	vec_release(&a.all);
	vec_release(&b.all);
}

/* The cell of a pane that both fill, by its row and the head of its column. */
static const char *cell(const struct top_nodes *nodes, enum pane_kind kind, size_t row,
			const char *head)
{
	static char text[sizeof(((struct pane_cell *)0)->text)];
	struct pane pane = { 0 };

	pane_fill(&pane, kind, nodes);
	assert_true(row < pane.rows.len);
	*text = '\0';
	for (int k = 0; k < pane.count; k++)
		if (!strcmp(pane.columns[k].head, head))
			strcpy(text, pane.rows.data[row].cells[k].text);
	pane_release(&pane);
	return text;
}

static void test_the_same_is_shown(void **state)
{
	struct bed *bed = *state;
	struct top_nodes nodes = nodes_of("n0", bed->read, &bed->read_nics),
			 alone = nodes_of(NULL, bed->live, &bed->nics);
	struct pane_head head;

	begin(bed, SECOND);
	process(bed, 0, 0, 2);
	process(bed, 1, 1, 2);
	traffic(bed, 0, 1, 10);
	look(bed, 0, "MPI_Send", NULL);
	look(bed, 1, NULL, "it was not stopped");
	end(bed);
	same_panes(bed);
	assert_false(json_is_true(json_object_get(bed->object, "rates_bound")));
	assert_string_equal(cell(&nodes, PANE_RANKS, 0, "SENDS/s"), "10");
	assert_string_equal(cell(&nodes, PANE_RANKS, 1, "NOW"), "? it was not stopped");

	/* sums are watched for a half, a peer is not known, a call goes on */
	begin(bed, SECOND / 2);
	process(bed, 0, 0, 2);
	process(bed, 1, 1, 2);
	traffic(bed, 1, -1, 7);
	look(bed, 0, NULL, NULL);
	look(bed, 1, "MPI_Recv", NULL);
	end(bed);
	same_panes(bed);
	assert_true(json_is_true(json_object_get(bed->object, "rates_bound")));
	pane_head(&alone, &head);
	assert_non_null(strstr(head.much, "sent >=1.37 KiB/s, >=14 sends/s, watched 50.0%  "));
	vec_release(&alone.all);
	assert_string_equal(cell(&nodes, PANE_RANKS, 1, "SENDS/s"), ">=14");
	assert_string_equal(cell(&nodes, PANE_RANKS, 1, "OUT/s"), ">=1.37 KiB");
	assert_string_equal(cell(&nodes, PANE_RANKS, 1, "NOW"), "MPI_Recv with 5");
	assert_string_equal(cell(&nodes, PANE_STUCK, 0, "FOR"), "?");
	assert_string_equal(cell(&nodes, PANE_PATHS, 1, "OPS/s"), ">=14");
	assert_string_equal(cell(&nodes, PANE_FUNCTIONS, 0, "CALLS/s"), ">=14");
	assert_string_equal(cell(&nodes, PANE_NODES, 0, "SENDS/s"), ">=14");
	for (int i = 0; i < 7; i++) {
		begin(bed, SECOND);
		process(bed, 0, 0, 2);
		process(bed, 1, 1, 2);
		traffic(bed, 0, 1, 4);
		look(bed, 1, "MPI_Recv", NULL);
		end(bed);
		same_panes(bed);
	}
	assert_string_equal(cell(&nodes, PANE_RANKS, 1, "NOW"), ">=7.00 s MPI_Recv with 5");
	assert_string_equal(cell(&nodes, PANE_STUCK, 0, "NODE"), "n0");
	assert_string_equal(cell(&nodes, PANE_ERRORS, 0, "COUNTED"), "38");
	assert_string_equal(cell(&nodes, PANE_ERRORS, 2, "COUNTED"), "19");

	/* one has ended, and is gone; another one comes */
	begin(bed, SECOND);
	process(bed, 0, 0, 2);
	end(bed);
	same_panes(bed);
	assert_string_equal(cell(&nodes, PANE_RANKS, 1, "NOW"), "ended");
	begin(bed, SECOND);
	process(bed, 0, 0, 2);
	process(bed, 2, 1, 2);
	traffic(bed, 2, 0, 3);
	end(bed);
	same_panes(bed);
	vec_release(&nodes.all);
}

/* The head names nodes whose views do not go on, and sums without them are lower bounds. */
static void test_nodes_stand(void **state)
{
	struct bed *bed = *state;
	struct top_nodes nodes = nodes_of("here", bed->read, &bed->read_nics);
	struct pane_head head;
	struct top_node copy;

	begin(bed, SECOND);
	process(bed, 0, 0, 1);
	traffic(bed, 0, 0, 10);
	look(bed, 0, "MPI_Send", NULL);
	end(bed);
	pane_head(&nodes, &head);
	assert_string_equal(head.trouble, "");
	assert_non_null(strstr(head.who, "1 of 1 nodes"));
	assert_non_null(
		strstr(head.much,
		       "sent 1,000 B/s, 10 sends/s  tracer costs <=1.0% of 3%, watched >=100.0%"));

	nodes.all.data[0].state = TOP_LATE;
	pane_head(&nodes, &head);
	assert_non_null(strstr(head.who, "0 of 1 nodes"));
	assert_string_equal(head.much, "no node has current numbers");
	nodes.all.data[0].state = TOP_RUNNING;

	vec_push(&nodes.all,
		 ((struct top_node){ .name = "lost", .state = TOP_FAILED, .why = "no route" }));
	vec_push(
		&nodes.all,
		((struct top_node){ .name = "slow", .state = TOP_STARTING, .silent = 3 * SECOND }));
	vec_push(&nodes.all, ((struct top_node){ .name = "done", .state = TOP_ENDED }));
	copy = nodes.all.data[0];
	vec_push(&nodes.all, copy);
	nodes.all.data[4].name = "late";
	nodes.all.data[4].state = TOP_LATE;
	nodes.all.data[4].silent = 9 * SECOND;
	pane_head(&nodes, &head);
	assert_string_equal(head.trouble, "failed: lost  late: late  starting: slow  ended: done");
	assert_string_equal(head.troubles, "1 failed  1 late  1 starting  1 ended");
	assert_non_null(strstr(head.who, "1 of 5 nodes"));
	assert_non_null(strstr(head.who, ">=1 process"));
	assert_non_null(
		strstr(head.much, "sent >=1,000 B/s, >=10 sends/s  tracer on 1 node costs"));
	/* each has its row, and its reason */
	assert_string_equal(cell(&nodes, PANE_RANKS, 1, "RANK"), "failed: no route");
	assert_string_equal(cell(&nodes, PANE_RANKS, 2, "RANK"), "starting for 3 s");
	assert_string_equal(cell(&nodes, PANE_RANKS, 3, "RANK"), "ended");
	assert_string_equal(cell(&nodes, PANE_RANKS, 4, "NOW"), "9 s ago: MPI_Send with 5");
	assert_string_equal(cell(&nodes, PANE_NODES, 1, "VIEW"), "failed");
	assert_string_equal(cell(&nodes, PANE_NODES, 1, "WHY"), "no route");
	assert_string_equal(cell(&nodes, PANE_NODES, 0, "SENT/s"), "1,000 B");
	assert_string_equal(cell(&nodes, PANE_NODES, 1, "SENT/s"), "-");
	vec_release(&nodes.all);
}

/* In 80 columns each pane shows its columns beside a node's name, and something of the last one. */
static void test_panes_fit(void **state)
{
	struct bed *bed = *state;
	struct top_nodes nodes = nodes_of("a-node-with-a-long-name", bed->live, &bed->nics);

	begin(bed, SECOND);
	end(bed);
	for (int kind = 0; kind < PANES; kind++) {
		struct pane pane = { 0 };
		int wide = 0, narrow = 0;

		pane_fill(&pane, kind, &nodes);
		assert_int_equal(pane_width(&pane, 0, 80), 8);
		for (int k = 0; k < pane.count; k++) {
			if (pane_width(&pane, k, 80) != PANE_LEFT_OUT)
				narrow += pane_width(&pane, k, 80) + 1;
			wide += pane_width(&pane, k, 200) + 1;
		}
		assert_in_range(narrow, 20, 80 + 1 - (kind == PANE_PATHS ? 0 : 6));
		assert_in_range(wide, narrow, 150);
		pane_release(&pane);
	}
	vec_release(&nodes.all);
}

/* A member that is missing makes no zero. */
static void test_unreadable(void **state)
{
	static const char *const needed[] = { "from_ns", "watched_ns", "tracer",  "processes",
					      "paths",   "functions",  "threads", "nics" };
	struct bed *bed = *state;
	json_t *object, *more = json_array();
	const char *what;

	begin(bed, SECOND);
	process(bed, 0, 0, 1);
	traffic(bed, 0, 0, 10);
	end(bed);
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		object = json_copy(bed->object);
		json_object_del(object, needed[i]);
		assert_false(top_read(object, bed->read, &bed->read_nics, &what));
		assert_int_equal(live_count(bed->read), 1);
		json_decref(object);
	}
	for (int i = 0; i < 5000; i++) /* more processes than a node has */
		json_array_append(more,
				  json_array_get(json_object_get(bed->object, "processes"), 0));
	object = json_copy(bed->object);
	json_object_set_new(object, "processes", more);
	assert_false(top_read(object, bed->read, &bed->read_nics, &what));
	assert_string_equal(what, "processes");
	json_decref(object);
	json_object_del(json_array_get(json_object_get(bed->object, "processes"), 0), "receives");
	assert_false(top_read(bed->object, bed->read, &bed->read_nics, &what));
	assert_string_equal(what, "count");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_same_is_shown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nodes_stand, setup, teardown),
		cmocka_unit_test_setup_teardown(test_panes_fit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unreadable, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
