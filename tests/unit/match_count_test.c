// SPDX-License-Identifier: BSD-3-Clause
/* Cells to facts, of captures made with --count and beside records: the last sums counting,
 * addresses as of their time.
 */
#include "explain/attribute/attribute.h"
#include "outcome.h"

#define UCT_EP "0x5000"

struct row {
	char what; /* c, o, t */
	int process, peer;
	const char *function, *op, *transport, *unexplained;
	enum fact_kind kind;
	bool fetches;
	struct fact_sums sums;
};

struct counts {
	VEC(struct row) rows;
	struct fact_totals totals;
};

static void got_calls(struct counts *counts, const struct fact_call *call,
		      const struct fact_sums *sums)
{
	struct row row = {
		.what = 'c', .process = call->process, .function = call->function, .sums = *sums
	};

	vec_push(&counts->rows, row);
}

static void got_ops(struct counts *counts, const struct fact_op *op, const struct fact_sums *sums)
{
	struct row row = { .what = 'o',
			   .process = op->process,
			   .function = op->function,
			   .op = op->op,
			   .sums = *sums };

	vec_push(&counts->rows, row);
}

static void got_transfers(struct counts *counts, const struct fact_transfer *transfer,
			  const struct fact_sums *sums)
{
	struct row row = { .what = 't',
			   .process = transfer->process,
			   .peer = transfer->peer,
			   .function = transfer->function,
			   .op = transfer->op,
			   .transport = transfer->transport,
			   .unexplained = transfer->unexplained,
			   .kind = transfer->kind,
			   .fetches = transfer->fetches,
			   .sums = *sums };

	vec_push(&counts->rows, row);
}

static void got_errors(struct counts *counts, const struct fact_error *error,
		       const struct fact_sums *sums)
{
	struct row row = { .what = error->what[0] == 'o'   ? 'f'
				   : error->what[0] == 'e' ? 'e'
							   : 'x',
			   .process = error->process,
			   .function = error->function,
			   .op = error->op,
			   .transport = error->transport,
			   .unexplained = error->status,
			   .sums = *sums };

	vec_push(&counts->rows, row);
}

static void counts_fact(void *arg, enum fact_type type, const void *fact,
			const struct fact_sums *sums)
{
	if (type == FACT_CALLS)
		got_calls(arg, fact, sums);
	else if (type == FACT_OPS)
		got_ops(arg, fact, sums);
	else if (type == FACT_TRANSFERS)
		got_transfers(arg, fact, sums);
	else if (type == FACT_ERRORS)
		got_errors(arg, fact, sums);
}

/* Three processes; the first one has endpoints to the others. */
struct bed {
	struct job job;
	struct task a, b, c;
	struct counts counts;
	struct analysis *analysis;
};

static void bed_init(struct bed *bed)
{
	memset(bed, 0, sizeof(*bed));
	job_init(&bed->job, "h1", "run");
	json_object_set_new(json_array_get(bed->job.sides, 0), "timed_every", json_integer(32));
	bed->a = job_process(&bed->job, 11, 0, "start");
	bed->b = job_process(&bed->job, 12, 1, "start");
	bed->c = job_process(&bed->job, 13, 2, "start");
	job_worker(&bed->a);
	job_worker(&bed->b);
	job_worker(&bed->c);
	job_connect(&bed->a, &bed->b);
	job_connect(&bed->a, &bed->c);
}

/* Of the first process; -1 = none. ep: the operation's. */
static void cell(struct bed *bed, int id, int call, int op, int xfer, int am_id, uint64_t ep)
{
	json_t *side = json_pack("{s:s, s:i, s:i, s:I}", "t", "cell", "id", id, "tgid", 11, "ts",
				 (json_int_t)++bed->job.now);
	char text[24];

	snprintf(text, sizeof(text), "%#lx", (unsigned long)ep);
	json_object_set_new(side, "call", json_integer(call));
	json_object_set_new(side, "op", json_integer(op));
	json_object_set_new(side, "xfer", json_integer(xfer));
	json_object_set_new(side, "am_id", json_integer(am_id));
	json_object_set_new(side, "size_class", json_integer(3));
	json_object_set_new(side, "obj", json_string(text));
	json_object_set_new(side, "uct_ep", json_string(xfer ? UCT_EP : "0"));
	json_object_set_new(side, "iface", json_string("0x3000"));
	json_array_append_new(bed->job.sides, side);
}

static void flags(struct bed *bed, int value)
{
	json_t *sides = bed->job.sides;

	json_object_set_new(json_array_get(sides, json_array_size(sides) - 1), "flags",
			    json_integer(value));
}

static void fails(struct bed *bed, int status)
{
	json_t *sides = bed->job.sides;

	json_object_set_new(json_array_get(sides, json_array_size(sides) - 1), "status",
			    json_integer(status));
}

static void sums(struct bed *bed, json_t *row)
{
	json_array_append_new(bed->job.sides, json_pack("{s:s, s:I, s:[o]}", "t", "cells", "ts",
							(json_int_t)++bed->job.now, "rows", row));
}

static void analyse_counts(struct bed *bed)
{
	const struct fact_sink sink = { &bed->counts, counts_fact };
	struct record_source source = {
		.ctx = &bed->job, .next = job_next, .rewind = job_rewind, .sides = bed->job.sides
	};

	bed->analysis = analysis_new();
	analysis_add_source(bed->analysis, &source);
	assert_int_equal(analysis_run(bed->analysis, &sink, &bed->counts.totals), 0);
}

static void bed_release(struct bed *bed)
{
	analysis_free(bed->analysis);
	vec_release(&bed->counts.rows);
	job_release(&bed->job);
}

static void last_sums_count(void **state)
{
	struct bed bed;
	const struct row *row;

	(void)state;
	bed_init(&bed);
	cell(&bed, 3, AT_MPI_SEND, 0, 0, 0, 0);
	sums(&bed, json_pack("[i, i]", 3, 5));
	sums(&bed, json_pack("[i, i]", 3, 7));
	analyse_counts(&bed);
	assert_int_equal(bed.counts.rows.len, 1);
	row = &bed.counts.rows.data[0];
	assert_int_equal(row->what, 'c');
	assert_string_equal(row->function, "MPI_Send");
	assert_int_equal(row->sums.count, 7);
	assert_int_equal(bed.counts.totals.counted, 1);
	assert_int_equal(bed.counts.totals.captures, 1);
	assert_int_equal(bed.counts.totals.timed_every, 32);
	bed_release(&bed);
}

static void is_error(const struct row *row, char what, const char *op, const char *status,
		     uint64_t count)
{
	assert_int_equal(row->what, what);
	assert_string_equal(row->op, op);
	assert_string_equal(row->unexplained, status);
	assert_int_equal(row->sums.count, count);
}

/* Errors are in no other sum: those who failed are counted apart from that. */
static void errors(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	cell(&bed, 3, 0, AT_TAG_SEND, 0, 0, EP(11, 12));
	fails(&bed, 80);
	sums(&bed, json_pack("[i, i]", 3, 5));
	cell(&bed, 4, 0, AT_TAG_SEND, AT_AM_SHORT, 2, EP(11, 12));
	fails(&bed, 33);
	sums(&bed, json_pack("[i, i]", 4, 2));
	analyse_counts(&bed);
	assert_int_equal(bed.counts.rows.len, 2);
	is_error(&bed.counts.rows.data[0], 'f', "tag_send", "UCS_ERR_ENDPOINT_TIMEOUT", 5);
	is_error(&bed.counts.rows.data[1], 'x', "tag_send", "unknown", 2);
	bed_release(&bed);
}

/* An operation is its call's, too: once in its own row, once in the call's. */
static void operations(void **state)
{
	struct bed bed;
	const struct row *row;

	(void)state;
	bed_init(&bed);
	cell(&bed, 3, AT_MPI_SEND, AT_TAG_SEND, 0, 0, EP(11, 12));
	sums(&bed, json_pack("[i, i, i, i, i, i, i]", 3, 10, 400, 0, 0, 2, 90));
	cell(&bed, 4, AT_MPI_RECV, AT_TAG_RECV, 0, 0, WORKER(11));
	flags(&bed, UB_CELL_UNSIZED);
	sums(&bed, json_pack("[i, i]", 4, 6));
	analyse_counts(&bed);
	assert_int_equal(bed.counts.rows.len, 4);
	row = &bed.counts.rows.data[0];
	assert_int_equal(row->what, 'o');
	assert_int_equal(row->sums.bytes, 400);
	assert_int_equal(row->sums.bytes_unknown, 0);
	assert_int_equal(row->sums.timed, 2);
	assert_int_equal(row->sums.time, 90);
	row = &bed.counts.rows.data[1];
	assert_int_equal(row->what, 'c');
	assert_int_equal(row->sums.count, 0);
	assert_int_equal(row->sums.ops, 10);
	assert_int_equal(row->sums.bytes, 400);
	assert_int_equal(bed.counts.rows.data[2].sums.bytes_unknown, 6);
	assert_int_equal(bed.counts.rows.data[3].sums.bytes_unknown, 0);
	bed_release(&bed);
}

/* Payload is without UCP's headers and the user's; control has none; refused is not sent. */
static void transfers(void **state)
{
	struct bed bed;
	const struct row *row;

	(void)state;
	bed_init(&bed);
	cell(&bed, 3, AT_MPI_SEND, AT_TAG_SEND, AT_AM_SHORT, 2, EP(11, 12));
	sums(&bed, json_pack("[i, i, i, i, i]", 3, 10, 10 * (8 + 5), 0, 4));
	cell(&bed, 4, 0, AT_AM_SEND, AT_AM_BCOPY, 23, EP(11, 12));
	sums(&bed, json_pack("[i, i, i, i]", 4, 2, 2 * (8 + 16 + 100), 2 * 16));
	cell(&bed, 5, 0, 0, AT_AM_SHORT, 10, EP(11, 12));
	sums(&bed, json_pack("[i, i, i]", 5, 3, 3 * 24));
	cell(&bed, 6, 0, 0, AT_AM_BCOPY, 23, 0);
	flags(&bed, UB_CELL_HEADER);
	sums(&bed, json_pack("[i, i, i]", 6, 1, 64));
	analyse_counts(&bed);
	assert_int_equal(bed.counts.rows.len, 4);
	row = bed.counts.rows.data;
	assert_int_equal(row[0].sums.bytes, 50);
	assert_int_equal(row[0].sums.wire_bytes, 130);
	assert_int_equal(row[0].sums.retries, 4);
	assert_string_equal(row[0].function, "MPI_Send");
	assert_string_equal(row[0].transport, "posix");
	assert_int_equal(row[0].peer, 1);
	assert_int_equal(row[1].sums.bytes, 200);
	assert_null(row[1].function);
	assert_int_equal(row[2].kind, KIND_CONTROL);
	assert_int_equal(row[2].sums.bytes, 0);
	assert_null(row[2].unexplained);
	assert_int_equal(row[3].sums.bytes, 0);
	assert_int_equal(row[3].sums.bytes_unknown, 1);
	assert_int_equal(bed.counts.totals.data_bytes, 250);
	assert_int_equal(bed.counts.totals.to_op_bytes, 250);
	assert_int_equal(bed.counts.totals.to_call_bytes, 50);
	bed_release(&bed);
}

static void in_progress(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	/* the lane is known from the cell of an operation that comes later */
	cell(&bed, 3, 0, 0, AT_GET_ZCOPY, 0, 0);
	sums(&bed, json_pack("[i, i, i]", 3, 1, 1000));
	cell(&bed, 4, AT_MPI_SEND, AT_TAG_SEND, AT_AM_SHORT, 2, EP(11, 12));
	sums(&bed, json_pack("[i, i, i]", 4, 1, 9));
	analyse_counts(&bed);
	assert_non_null(bed.counts.rows.data[0].unexplained);
	assert_null(bed.counts.rows.data[0].function);
	assert_int_equal(bed.counts.rows.data[0].peer, 1);
	assert_int_equal(bed.counts.totals.unexplained_bytes, 1000);
	assert_int_equal(reason_sum(bed.counts.totals.unexplained), 1000);
	assert_int_equal(bed.counts.totals.to_call_bytes, 1);
	bed_release(&bed);
}

/* What a send cannot have made tells nothing of whose lane it went by, nor does wire-up. */
static void no_evidence(void **state)
{
	static const struct {
		int xfer, am_id, calls;
	} rows[] = { { AT_GET_ZCOPY, 0, 0 }, { AT_AM_BCOPY, 11, 0 }, { AT_AM_BCOPY, 1, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bed bed;

		bed_init(&bed);
		cell(&bed, 3, AT_MPI_SEND, AT_TAG_SEND, rows[i].xfer, rows[i].am_id, EP(11, 12));
		sums(&bed, json_pack("[i, i, i]", 3, 100, 100000));
		analyse_counts(&bed);
		assert_int_equal(bed.counts.rows.data[0].peer, -1);
		assert_int_equal(!!bed.counts.rows.data[0].function, rows[i].calls);
		bed_release(&bed);
		/* the send's own is fewer, and counts */
		bed_init(&bed);
		cell(&bed, 3, AT_MPI_SEND, AT_TAG_SEND, rows[i].xfer, rows[i].am_id, EP(11, 12));
		sums(&bed, json_pack("[i, i, i]", 3, 100, 100000));
		cell(&bed, 4, AT_MPI_SEND, AT_TAG_SEND, AT_AM_SHORT, 2, EP(11, 13));
		sums(&bed, json_pack("[i, i, i]", 4, 1, 9));
		analyse_counts(&bed);
		assert_int_equal(bed.counts.rows.data[0].peer, 2);
		assert_int_equal(bed.counts.rows.data[1].peer, 2);
		bed_release(&bed);
	}
}

/* The direction of a sum is that of its transfers. */
static void gets_fetch(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	cell(&bed, 3, AT_MPI_SEND, AT_TAG_SEND, AT_GET_ZCOPY, 0, EP(11, 12));
	sums(&bed, json_pack("[i, i, i]", 3, 100, 100000));
	cell(&bed, 4, AT_MPI_SEND, AT_TAG_SEND, AT_AM_SHORT, 2, EP(11, 13));
	sums(&bed, json_pack("[i, i, i]", 4, 1, 9));
	analyse_counts(&bed);
	assert_string_equal(bed.counts.rows.data[0].op, "get_zcopy");
	assert_true(bed.counts.rows.data[0].fetches);
	assert_false(bed.counts.rows.data[1].fetches);
	bed_release(&bed);
}

/* Of UCX 1.21: the headers are those of other fragments. */
static void numbered_fragments(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	cell(&bed, 3, AT_MPI_SEND, AT_AM_SEND, AT_AM_BCOPY, 27, EP(11, 12));
	sums(&bed, json_pack("[i, i, i, i]", 3, 2, 2 * (32 + 16 + 500), 2 * 16));
	cell(&bed, 4, AT_MPI_SEND, AT_AM_SEND, AT_AM_BCOPY, 28, EP(11, 13));
	sums(&bed, json_pack("[i, i, i]", 4, 3, 3 * (24 + 700)));
	analyse_counts(&bed);
	for (int i = 0; i < 2; i++) {
		const struct row *row = &bed.counts.rows.data[i];

		assert_int_equal(row->peer, 1 + i);
		assert_int_equal(row->kind, KIND_DATA);
		assert_string_equal(row->function, "MPI_Send");
		assert_int_equal(row->sums.bytes, i ? 2100 : 1000);
	}
	bed_release(&bed);
}

/* Of a damaged file: what it is about is described nowhere. */
static void transfer_of_no_site(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	cell(&bed, 3, AT_MPI_SEND, AT_TAG_SEND, 9999, 2, EP(11, 12));
	sums(&bed, json_pack("[i, i, i]", 3, 1, 9));
	analyse_counts(&bed);
	assert_int_equal(bed.counts.rows.data[0].what, 'o');
	bed_release(&bed);
}

/* One address, two endpoints one after the other: each keeps what was sent on it. */
static void address_reused(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	cell(&bed, 3, 0, AT_TAG_SEND, AT_AM_SHORT, 2, EP(11, 12));
	sums(&bed, json_pack("[i, i, i]", 3, 2, 2 * 9));
	cell(&bed, 4, 0, AT_TAG_SEND, AT_AM_SHORT, 2, EP(11, 13));
	sums(&bed, json_pack("[i, i, i]", 4, 3, 3 * 9));
	analyse_counts(&bed);
	assert_int_equal(bed.counts.rows.data[0].peer, 1);
	assert_int_equal(bed.counts.rows.data[0].sums.count, 2);
	assert_int_equal(bed.counts.rows.data[1].peer, 2);
	assert_int_equal(bed.counts.rows.data[1].sums.count, 3);
	bed_release(&bed);
}

/* What found no cell is in no process's rows, and is told. Unknown ids are passed over. */
static void others(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	sums(&bed, json_pack("[i, i, i]", UB_OTHER_XFERS, 4, 99));
	sums(&bed, json_pack("[i, i]", UB_OTHER_CALLS, 5));
	sums(&bed, json_pack("[i, i]", 77, 5));
	analyse_counts(&bed);
	assert_int_equal(bed.counts.rows.len, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(bed.counts.rows.data[i].process, -1);
	assert_int_equal(reason_sum(bed.counts.totals.notes), 9);
	bed_release(&bed);
}

/* They keep their process and bytes; the report names why their operation is unknown. */
static void beyond_the_share(void **state)
{
	const struct fact_totals *totals;
	const struct row *row;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	cell(&bed, 3, 0, 0, AT_AM_SHORT, 2, 0);
	flags(&bed, UB_CELL_BEYOND);
	json_object_set_new(json_array_get(bed.job.sides, json_array_size(bed.job.sides) - 1),
			    "uct_ep", json_string("0"));
	sums(&bed, json_pack("[i, i, i]", 3, 4, 4 * 8 + 1000));
	analyse_counts(&bed);
	totals = &bed.counts.totals;
	assert_int_equal(bed.counts.rows.len, 1);
	row = &bed.counts.rows.data[0];
	assert_int_equal(row->what, 't');
	assert_int_equal(row->process, 0);
	assert_int_equal(row->peer, -1);
	assert_int_equal(row->sums.count, 4);
	assert_int_equal(row->sums.bytes, 1000);
	assert_int_equal(row->sums.bytes_unknown, 0);
	assert_int_equal(reason_sum(totals->notes), 4);
	assert_non_null(strstr(totals->notes[0].reason, "share of the kernel's cells"));
	assert_non_null(strstr(totals->unexplained[0].reason, "share of the kernel's cells"));
	assert_int_equal(totals->unexplained[0].count, 1000);
	bed_release(&bed);
}

/* Cells of a capture that records are what its records lack; the share with detail is known. */
static void beside_records(void **state)
{
	struct bed bed;
	const struct fact_totals *totals = &bed.counts.totals;
	const struct row *row;

	(void)state;
	bed_init(&bed);
	json_object_del(json_array_get(bed.job.sides, 0), "timed_every");
	cell(&bed, 3, AT_MPI_SEND, 0, 0, 0, 0);
	sums(&bed, json_pack("[i, i]", 3, 3));
	cell(&bed, 4, AT_MPI_SEND, AT_TAG_SEND, 0, 0, EP(11, 12));
	sums(&bed, json_pack("[i, i, i]", 4, 3, 15));
	cell(&bed, 5, AT_MPI_SEND, AT_TAG_SEND, AT_AM_SHORT, 2, EP(11, 12));
	sums(&bed, json_pack("[i, i, i, i, i]", 5, 3, 3 * (8 + 5), 0, 1));
	job_send_short(&bed.a, &bed.b, 7, 5);
	analyse_counts(&bed);
	assert_int_equal(totals->counted, 0);
	assert_int_equal(totals->calls.recorded, 1);
	assert_int_equal(totals->calls.of, 4);
	assert_int_equal(totals->ops.recorded, 1);
	assert_int_equal(totals->ops.of, 4);
	assert_int_equal(totals->transfers.recorded, 1);
	assert_int_equal(totals->transfers.of, 4);
	assert_int_equal(totals->sent.recorded, 1);
	assert_int_equal(totals->sent.of, 4);
	assert_int_equal(totals->unsummed, 0);
	assert_int_equal(totals->data_bytes, 20);
	assert_int_equal(totals->to_call_bytes, 20);
	row = &bed.counts.rows.data[bed.counts.rows.len - 1];
	assert_int_equal(row->what, 't');
	assert_int_equal(row->peer, 1);
	assert_int_equal(row->sums.retries, 1);
	bed_release(&bed);
}

/* A size class bounds what each transfer carries, less all headers that it may have. */
static void least_of_each(void **state)
{
	static const struct site_info bcopy = { .kind = UB_XFER, .verb = VERB_AM };
	static const struct site_info put = { .kind = UB_XFER, .verb = VERB_PUT };
	struct count_cell cell = {
		.xfer = &bcopy, .am_id = 2, .size_class = 14, .count = 3, .bytes = 27000
	};

	(void)state;
	assert_int_equal(cell_load(&cell).payload, 27000 - 3 * 8);
	assert_int_equal(cell_load(&cell).least, 8192 - 8);
	cell.headers = 100;
	assert_int_equal(cell_load(&cell).least, 8192 - 100 - 8);
	cell.headers = 9000;
	assert_int_equal(cell_load(&cell).least, 0);
	cell.flags = UB_CELL_HEADER;
	assert_int_equal(cell_load(&cell).payload, UINT64_MAX);
	assert_int_equal(cell_load(&cell).least, 0);
	cell = (struct count_cell){ .xfer = &put, .size_class = 1, .count = 1, .bytes = 1 };
	assert_int_equal(cell_load(&cell).least, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_sums_count),    cmocka_unit_test(operations),
		cmocka_unit_test(transfers),          cmocka_unit_test(in_progress),
		cmocka_unit_test(address_reused),     cmocka_unit_test(no_evidence),
		cmocka_unit_test(gets_fetch),         cmocka_unit_test(transfer_of_no_site),
		cmocka_unit_test(numbered_fragments), cmocka_unit_test(others),
		cmocka_unit_test(beyond_the_share),   cmocka_unit_test(beside_records),
		cmocka_unit_test(least_of_each),      cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
