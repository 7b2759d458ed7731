// SPDX-License-Identifier: BSD-3-Clause
/* The operation that a call without a record waits for, found in the queues of its process. */
#include "outcome.h"

#define ON_STACK "0x7ffe0000f000"
#define IN_POOL "0x5555000000"

/* Tags of Open MPI: of MPI's 7 from rank 1 or 2 in MPI_COMM_WORLD, of a collective's from rank 3 */
#define FROM_1 "0x70000100000"
#define FROM_2 "0x70000200000"
#define OF_COLLECTIVE "0xfffff00000300000"
#define ALL "0xffffffffffffffff"

struct found {
	struct pair pair;
	VEC(struct fact_open) open;
	VEC(struct fact_unread) unread;
	size_t windows;
	struct analysis *analysis; /* owns the strings */
};

static void keep(void *arg, enum fact_type type, const void *fact, const struct fact_sums *sums)
{
	struct found *found = arg;

	(void)sums;
	if (type == FACT_OPEN)
		vec_push(&found->open, *(const struct fact_open *)fact);
	if (type == FACT_UNREAD)
		vec_push(&found->unread, *(const struct fact_unread *)fact);
	if (type == FACT_WINDOW)
		found->windows++;
}

static void side(struct found *found, json_t *side)
{
	assert_non_null(side);
	json_array_append_new(found->pair.job.sides, side);
}

#define LOOKS_APART 1000000000 /* ns */

/*
 * The first process is in that function at two looks, and its queues are read at the second.
 * more: other side records, taken over.
 */
static void look_beside(struct found *found, const char *function, const char *posted,
			const char *reason, int cut, json_t *more)
{
	const struct fact_sink sink = { found, keep };
	struct record_source source = { .ctx = &found->pair.job,
					.next = job_next,
					.rewind = job_rewind };
	struct job *job = &found->pair.job;
	struct fact_totals totals;
	json_t *queues, *process;
	size_t i;

	*found = (struct found){ 0 };
	pair_init_apart(&found->pair, "attach");
	json_array_foreach(job->sides, i, process)
	{
		if (!strcmp(json_string_value(json_object_get(process, "t")), "process"))
			json_object_set_new(process, "mpi", json_string("Open MPI 4.1.4"));
	}
	for (int k = 0; k < 2; k++) {
		job->now += LOOKS_APART;
		side(found,
		     json_pack("{s:s, s:i, s:i, s:I, s:s, s:s, s:s, s:s}", "t", "thread", "tgid", 1,
			       "tid", 1, "ts", (json_int_t)job->now, "state", "R", "function",
			       function, "address", "0x1234", "frame", "0x7ffe00010000"));
	}
	queues = json_pack("{s:s, s:i, s:s, s:I}", "t", "queues", "tgid", 1, "worker", "0x9000",
			   "ts", (json_int_t)job->now);
	json_object_set_new(queues, "posted", json_loads(posted, 0, NULL));
	if (reason)
		json_object_set_new(queues, "reason", json_string(reason));
	if (cut)
		json_object_set_new(queues, "cut", json_integer(cut));
	side(found, queues);
	json_array_extend(job->sides, more);
	json_decref(more);
	source.sides = job->sides;
	found->analysis = analysis_new();
	analysis_add_source(found->analysis, &source);
	assert_int_equal(analysis_run(found->analysis, &sink, &totals), 0);
	assert_int_equal(found->open.len, 1);
	assert_string_equal(found->open.data[0].function, function);
}

static void look(struct found *found, const char *function, const char *posted, const char *reason,
		 int cut)
{
	look_beside(found, function, posted, reason, cut, json_array());
	assert_true(found->open.data[0].certain);
}

static void release(struct found *found)
{
	vec_release(&found->open);
	vec_release(&found->unread);
	analysis_free(found->analysis);
	job_release(&found->pair.job);
}

static void expect(const char *function, const char *posted, int rank, bool certain)
{
	struct found found;

	look(&found, function, posted, NULL, 0);
	assert_int_equal(found.open.data[0].peer_rank, rank);
	assert_int_equal(found.open.data[0].peer_certain, certain);
	assert_int_equal(found.unread.len, 0);
	release(&found);
}

/*
 * Between the two looks a later call has a record only while a window lasts; length: of one that
 * began with the first look, 0: the budget allowed none.
 */
static void recorded_for(int64_t length, bool certain)
{
	struct found found;
	struct pair sizing;
	int64_t first;
	json_t *more;

	pair_init_apart(&sizing, "attach");
	first = (int64_t)sizing.job.now + LOOKS_APART;
	job_release(&sizing.job);
	more = length ? json_pack("[{s:s, s:i, s:I, s:I}]", "t", "window", "n", 1, "from",
				  (json_int_t)first, "to", (json_int_t)(first + length))
		      : json_pack("[{s:s, s:I, s:s, s:s}]", "t", "budget", "ts", (json_int_t)first,
				  "step", "windows", "reason", "start");
	look_beside(&found, "MPI_Recv", "[]", NULL, 0, more);
	assert_int_equal(found.windows, 1);
	assert_int_equal(found.open.data[0].certain, certain);
	assert_int_equal(found.open.data[0].until - found.open.data[0].since,
			 certain ? LOOKS_APART : 0);
	release(&found);
}

static void between_windows(void **state)
{
	(void)state;
	recorded_for(LOOKS_APART, true);
	recorded_for(LOOKS_APART - 1, false);
	recorded_for(0, false);
}

/* A receive on the call's stack is its own, whatever else is posted. */
static void own_receive(void **state)
{
	(void)state;
	expect("MPI_Recv", "[[\"" ON_STACK "\", \"" FROM_1 "\", \"" ALL "\"]]", 1, true);
	expect("MPI_Recv",
	       "[[\"" IN_POOL "\", \"" FROM_2 "\", \"" ALL "\"], [\"" ON_STACK "\", \"" FROM_1
	       "\", \"" ALL "\"]]",
	       1, true);
}

/* The only one that is posted may be of an earlier call, while the awaited message is on its way.
 */
static void only_receive(void **state)
{
	(void)state;
	expect("MPI_Recv", "[[\"" IN_POOL "\", \"" FROM_1 "\", \"" ALL "\"]]", 1, false);
	expect("MPI_Wait", "[[\"" IN_POOL "\", \"" FROM_1 "\", \"" ALL "\"]]", 1, false);
	expect("MPI_Recv", "[]", -1, false);
}

/* Receives of users are not awaited in a collective, nor those of one in a user's receive. */
static void of_collectives(void **state)
{
	(void)state;
	expect("MPI_Barrier", "[[\"" IN_POOL "\", \"" FROM_1 "\", \"" ALL "\"]]", -1, false);
	expect("MPI_Barrier",
	       "[[\"" IN_POOL "\", \"" FROM_1 "\", \"" ALL "\"], [\"" IN_POOL "\", \"" OF_COLLECTIVE
	       "\", \"" ALL "\"]]",
	       3, false);
	expect("MPI_Recv", "[[\"" IN_POOL "\", \"" OF_COLLECTIVE "\", \"" ALL "\"]]", -1, false);
}

/* Tags of Open MPI 4: of a blocking collective, and of the fifth and sixth that does not block. */
#define BLOCKING "0xfffff00000300005"
#define FIFTH "0xffffe10000300005"
#define SIXTH "0xffffe00000200005"
#define RECEIVE(tag) "[\"" IN_POOL "\", \"" tag "\", \"" ALL "\"]"

static void number(const char *function, const char *posted, int context, uint64_t sequence,
		   const char *by, const char *reason)
{
	const struct fact_open *open;
	struct found found;

	look(&found, function, posted, NULL, 0);
	open = &found.open.data[0];
	assert_int_equal(open->context, context);
	assert_int_equal(open->sequence, sequence);
	assert_true(open->sequence_by == by || !strcmp(open->sequence_by, by));
	if (reason)
		assert_string_equal(open->sequence_reason, reason);
	else
		assert_null(open->sequence_reason);
	release(&found);
}

/* Blocking collectives have constants in their tags, the others numbers. */
static void numbers_in_tags(void **state)
{
	(void)state;
	number("MPI_Barrier", "[" RECEIVE(BLOCKING) "]", 5, 0, NULL, FACT_NOT_FROM_START);
	number("MPI_Barrier", "[" RECEIVE(FIFTH) "]", 5, 0, NULL, FACT_NOT_FROM_START);
	number("MPI_Wait", "[" RECEIVE(FIFTH) "]", 5, 5, FACT_BY_TAGS, NULL);
	number("MPI_Waitall", "[" RECEIVE(FIFTH) ", " RECEIVE(FIFTH) "]", 5, 5, FACT_BY_TAGS, NULL);
	number("MPI_Waitall", "[" RECEIVE(FIFTH) ", " RECEIVE(SIXTH) "]", 5, 0, NULL, NULL);
	number("MPI_Waitall", "[" RECEIVE(FIFTH) ", " RECEIVE(FROM_1) "]", -1, 0, NULL, NULL);
	number("MPI_Wait", "[" RECEIVE(FROM_1) "]", -1, 0, NULL, NULL);
	number("MPI_Wait", "[]", -1, 0, NULL, NULL);
}

static void unread_queues(void **state)
{
	static const char own[] = "[[\"" ON_STACK "\", \"" FROM_1 "\", \"" ALL "\"]]";
	struct found found;

	(void)state;
	look(&found, "MPI_Recv", own, "took too long", 0);
	assert_int_equal(found.open.data[0].peer_rank, 1);
	assert_false(found.open.data[0].peer_certain);
	assert_int_equal(found.unread.len, 1);
	assert_int_equal(found.unread.data[0].process, 0);
	assert_string_equal(found.unread.data[0].reason, "took too long");
	release(&found);
	look(&found, "MPI_Recv", own, NULL, 5);
	assert_false(found.open.data[0].peer_certain);
	assert_int_equal(found.unread.len, 1);
	assert_null(found.unread.data[0].reason);
	assert_int_equal(found.unread.data[0].entries, 5);
	release(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_receive),    cmocka_unit_test(only_receive),
		cmocka_unit_test(of_collectives), cmocka_unit_test(numbers_in_tags),
		cmocka_unit_test(unread_queues),  cmocka_unit_test(between_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
