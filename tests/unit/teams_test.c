// SPDX-License-Identifier: BSD-3-Clause
/* Collective operations of UCC, by their tags: joined over ranks, told apart by their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "explain/decode/internal.h"
#include "explain/teams/teams.h"

#define RANKS 4
#define TEAM 3

static struct decoder decoder;
static struct process processes[RANKS];
static const struct site_info send_site = { .name = "tag_send", .op = OP_TAG_SEND };
static const struct site_info recv_site = { .name = "tag_recv", .op = OP_TAG_RECV };

struct bed {
	struct teams *teams;
	uint64_t id; /* of the last operation */
	const char *symbol; /* that calls UCP from now on */
	int count, ranks; /* of the collectives; ranks: of the last one */
	char function[32], algorithm[32], reason[64], team[32];
	uint64_t messages, bytes;
	bool bound;
};

static void copy(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

static void on_collective(void *arg, const struct fact_collective *fact)
{
	struct bed *bed = arg;

	bed->count++;
	bed->ranks = fact->ranks;
	bed->messages = fact->messages;
	bed->bytes = fact->bytes;
	bed->bound = fact->bytes_bound;
	copy(bed->function, sizeof(bed->function), fact->function);
	copy(bed->algorithm, sizeof(bed->algorithm), fact->algorithm);
	copy(bed->reason, sizeof(bed->reason), fact->reason);
	copy(bed->team, sizeof(bed->team), fact->comm);
}

static void begin(struct bed *bed)
{
	const struct teams_sink sink = { bed, on_collective };

	*bed = (struct bed){ .symbol = "ucc_tl_ucp_allreduce_knomial_progress" };
	decoder_init(&decoder);
	for (int i = 0; i < RANKS; i++)
		processes[i] = (struct process){ .id = i, .index = i };
	bed->teams = teams_new(&decoder, &sink);
}

static void end(struct bed *bed)
{
	teams_finish(bed->teams);
	teams_free(bed->teams);
	decoder_release(&decoder);
}

static uint64_t tag_of(int sender, unsigned int number)
{
	return TEAM | (uint64_t)sender << 16 | (uint64_t)number << 46;
}

static uint64_t operate(struct bed *bed, int rank, bool sends, uint64_t tag)
{
	struct place place = { .symbol = bed->symbol, .frame = bed->symbol };
	const struct op op = {
		.id = ++bed->id,
		.process = &processes[rank],
		.site = sends ? &send_site : &recv_site,
		.caller = &place,
		.tag = tag,
	};

	name_caller(op.process, &place);
	teams_op_start(bed->teams, &op);
	return op.id;
}

static void deliver(struct bed *bed, uint64_t send, uint64_t recv, uint64_t bytes)
{
	const struct message message = { .send = send, .recv = recv, .bytes = bytes };

	teams_message(bed->teams, &message);
}

/* Each rank sends to the next one. */
static void ring(struct bed *bed, unsigned int number)
{
	uint64_t sends[RANKS], receives[RANKS];

	for (int i = 0; i < RANKS; i++)
		sends[i] = operate(bed, i, true, tag_of(i, number));
	for (int i = 0; i < RANKS; i++)
		receives[i] = operate(bed, i, false, tag_of((i + RANKS - 1) % RANKS, number));
	for (int i = 0; i < RANKS; i++)
		deliver(bed, sends[i], receives[(i + 1) % RANKS], 10);
}

static void one_operation_is_joined_over_its_ranks(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	ring(&bed, 1);
	end(&bed);
	assert_int_equal(bed.count, 1);
	assert_int_equal(bed.ranks, RANKS);
	assert_int_equal(bed.messages, RANKS);
	assert_int_equal(bed.bytes, 10 * RANKS);
	assert_true(!bed.bound);
	assert_string_equal(bed.function, "UCC allreduce");
	assert_string_equal(bed.algorithm, "knomial");
	assert_string_equal(bed.team, "UCC team 3");
}

static void numbers_that_wrap_are_other_operations(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	for (unsigned int i = 0; i < 70000; i++)
		ring(&bed, i % 0x7ff7);
	assert_true(bed.count > 70000 - 2 * OUTSTANDING); /* memory is bounded */
	end(&bed);
	assert_int_equal(bed.count, 70000);
	assert_int_equal(bed.ranks, RANKS);
}

static void operations_may_be_under_way_together(void **state)
{
	uint64_t first[2], second[2];
	struct bed bed;

	(void)state;
	begin(&bed);
	first[0] = operate(&bed, 0, true, tag_of(0, 5));
	second[0] = operate(&bed, 0, true, tag_of(0, 6));
	second[1] = operate(&bed, 1, false, tag_of(0, 6));
	first[1] = operate(&bed, 1, false, tag_of(0, 5));
	deliver(&bed, second[0], second[1], 1);
	deliver(&bed, first[0], first[1], 2);
	/* the second step of the first one */
	first[0] = operate(&bed, 1, true, tag_of(1, 5));
	first[1] = operate(&bed, 0, false, tag_of(1, 5));
	deliver(&bed, first[0], first[1], 2);
	end(&bed);
	assert_int_equal(bed.count, 2);
}

static void an_operation_that_lacks_an_end_has_no_number_of_ranks(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	operate(&bed, 0, true, tag_of(0, 9));
	deliver(&bed, operate(&bed, 0, true, tag_of(0, 9)), operate(&bed, 1, false, tag_of(0, 9)),
		4);
	end(&bed);
	assert_int_equal(bed.count, 1);
	assert_int_equal(bed.ranks, -1);
	assert_true(bed.bound);
	assert_int_equal(bed.bytes, 4);
}

static void functions_that_differ_leave_the_algorithm_unknown(void **state)
{
	uint64_t send;
	struct bed bed;

	(void)state;
	begin(&bed);
	send = operate(&bed, 0, true, tag_of(0, 9));
	bed.symbol = "ucc_tl_ucp_allreduce_sra_knomial_start";
	deliver(&bed, send, operate(&bed, 1, false, tag_of(0, 9)), 4);
	end(&bed);
	assert_string_equal(bed.algorithm, "");
	assert_string_equal(bed.reason, "its processes called several functions");
}

static void a_helper_function_names_nothing(void **state)
{
	uint64_t send;
	struct bed bed;

	(void)state;
	begin(&bed);
	bed.symbol = "ucc_tl_ucp_send_nb";
	send = operate(&bed, 0, true, tag_of(0, 9));
	bed.symbol = "ucc_tl_ucp_reduce_scatter_ring_progress";
	deliver(&bed, send, operate(&bed, 1, false, tag_of(0, 9)), 4);
	end(&bed);
	assert_string_equal(bed.function, "UCC reduce_scatter");
	assert_string_equal(bed.algorithm, "ring");
}

static void service_and_user_tags_have_no_number(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	operate(&bed, 0, true, tag_of(0, 0x7ff8));
	operate(&bed, 0, true, tag_of(0, 0x7ff9));
	operate(&bed, 0, true, tag_of(0, 0x7ffe));
	operate(&bed, 0, true, tag_of(0, 9) | 1ull << 61);
	end(&bed);
	assert_int_equal(bed.count, 0);
}

static void other_callers_have_no_meaning(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	bed.symbol = "main";
	operate(&bed, 0, true, tag_of(0, 9));
	bed.symbol = "UcxConnection::send_common";
	operate(&bed, 0, true, tag_of(0, 9));
	end(&bed);
	assert_int_equal(bed.count, 0);
}

/* Each has one more message, to a process that is not traced. */
static void memory_is_bounded_where_messages_are_missing(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	for (unsigned int i = 0; i < 100000; i++) {
		operate(&bed, 0, true, tag_of(0, i % 0x7ff7));
		ring(&bed, i % 0x7ff7);
	}
	assert_true(bed.count > 30000);
	end(&bed);
	assert_int_equal(bed.count, 100000);
	assert_int_equal(bed.ranks, -1);
}

static void a_persistent_operation_is_one(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	for (unsigned int i = 0; i < 1000; i++)
		ring(&bed, 5);
	end(&bed);
	assert_int_equal(bed.count, 1);
	assert_int_equal(bed.messages, 1000 * RANKS);
}

static void empty_parts_hide_ranks(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	bed.symbol = "ucc_tl_ucp_alltoallv_pairwise_progress.part.0";
	ring(&bed, 5);
	end(&bed);
	assert_int_equal(bed.ranks, -1);
	assert_string_equal(bed.function, "UCC alltoallv");
	assert_string_equal(bed.algorithm, "pairwise");
}

static struct place place_in(const char *function, const char *module)
{
	static const struct process program = { .exe = "/bin/app" };
	struct place place = { .frame = function, .symbol = function, .module = module };

	name_caller(&program, &place);
	return place;
}

/* Who calls UCP beside an MPI call that seems to go on, and who may be a part of it. */
static void beyond_mpi(void **state)
{
	struct process process = { .exe = "/bin/app" };
	const struct place pscom = place_in("psucp_sendv", "/lib/libpscom4ucp.so");
	const struct place ucc = place_in("ucc_tl_ucp_send_nb", "/lib/libucc_tl_ucp.so");
	const struct place ucxx = place_in("ucxx::Endpoint::tagSend", "/lib/libucxx.so");
	const struct place app = place_in("main", "/bin/app");
	const struct place other = place_in("f", "/lib/libother.so");

	(void)state;
	assert_false(decoder_beyond_mpi(&process, &pscom));
	assert_true(decoder_beyond_mpi(&process, &ucc));
	assert_true(decoder_beyond_mpi(&process, &ucxx));
	assert_true(decoder_beyond_mpi(&process, &app));
	assert_false(decoder_beyond_mpi(&process, &other));
	assert_false(decoder_beyond_mpi(&process, NULL));
	process.mpi_calls_ucc = true;
	assert_false(decoder_beyond_mpi(&process, &ucc));
	assert_true(decoder_beyond_mpi(&process, &ucxx));
}

static const char *role(const struct process *process, const char *function, const char *module)
{
	struct place place = { .frame = function, .symbol = function, .module = module };

	name_caller(process, &place);
	return place.role;
}

/* Which file called: a library above UCP wins over the program that it is linked into. */
static void roles_of_callers(void **state)
{
	struct process process = { .exe = "/bin/app" };
	const struct told_library libraries[] = {
		{ .role = "mpi", .path = "/lib/libmpi.so" },
		{ .role = "mpi_plugin", .path = "/lib/mca_pml_ucx.so" },
		{ .role = "mpi", .path = "/bin/app" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		vec_push(&process.libraries, libraries[i]);
	assert_string_equal(role(&process, "main", "/bin/app"), "program");
	assert_string_equal(role(&process, "LrtsSendFunc", "/bin/app"), "charm");
	assert_string_equal(role(&process, "MPIDI_send", "/lib/libmpi.so"), "mpi");
	assert_string_equal(role(&process, "mca_pml_ucx_send", "/lib/mca_pml_ucx.so"),
			    "mpi_plugin");
	assert_string_equal(role(&process, NULL, "/lib/mca_spml_ucx.so"), "shmem");
	assert_string_equal(role(&process, NULL, "/lib/libpscom4ucp.so"), "pscom");
	assert_string_equal(role(&process, "f", "/lib/libsolve.so"), "other");
	assert_null(role(&process, NULL, NULL));
	vec_release(&process.libraries);
}

static struct identity identity(const char *module, const char *symbol, const char *op,
				uint64_t tag)
{
	struct place place = { .module = module, .symbol = symbol, .frame = symbol };

	name_caller(&processes[0], &place);
	return decoder_identity(&decoder, &place, op, tag);
}

static void fields_of_tags(void **state)
{
	struct identity found;

	(void)state;
	decoder_init(&decoder);
	found = identity("/opt/libucc_tl_ucp-3f2a.so.1", NULL, "tag_send",
			 7 | 123456ull << 16 | 2ull << 40 | 1ull << 43 | 300ull << 46);
	assert_string_equal(found.library, "UCC");
	assert_string_equal(found.kind, "collective");
	assert_string_equal(found.team, "UCC team 7, scope 1.2");
	assert_int_equal(found.sender, 123456);
	assert_int_equal(found.number, 300);
	found = identity(NULL, "LrtsSendFunc", "tag_send", 0x41);
	assert_string_equal(found.kind, "register and send back");
	assert_int_equal(found.sender, -1);
	found = identity(NULL, "LrtsSendDevice", "tag_send", 0x4 | 77 << 4 | 5ull << 36);
	assert_string_equal(found.kind, "device");
	assert_int_equal(found.sender, 77);
	found = identity(NULL, "LrtsSendFunc", "tag_send", 0x18);
	assert_null(found.kind);
	found = identity(NULL, "Realm::UCP::UCPInternal::request_am", "am_send", 3);
	assert_string_equal(found.kind, "reply");
	found = identity(NULL, "Realm::UCP::UCPInternal::request_am", "am_send", 1000);
	assert_null(found.kind);
	found = identity("/usr/lib/libucxx.so", NULL, "tag_send", 0x41);
	assert_string_equal(found.library, "ucxx");
	assert_null(found.kind);
	assert_null(found.team);
	found = identity("/usr/lib/libucc_tl_ucpx.so", NULL, "tag_send", 0x41);
	assert_null(found.library);
	found = identity(NULL, NULL, "tag_send", 0x41);
	assert_null(found.library);
	decoder_release(&decoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_operation_is_joined_over_its_ranks),
		cmocka_unit_test(numbers_that_wrap_are_other_operations),
		cmocka_unit_test(operations_may_be_under_way_together),
		cmocka_unit_test(an_operation_that_lacks_an_end_has_no_number_of_ranks),
		cmocka_unit_test(functions_that_differ_leave_the_algorithm_unknown),
		cmocka_unit_test(a_helper_function_names_nothing),
		cmocka_unit_test(service_and_user_tags_have_no_number),
		cmocka_unit_test(other_callers_have_no_meaning),
		cmocka_unit_test(memory_is_bounded_where_messages_are_missing),
		cmocka_unit_test(a_persistent_operation_is_one),
		cmocka_unit_test(empty_parts_hide_ranks),
		cmocka_unit_test(beyond_mpi),
		cmocka_unit_test(roles_of_callers),
		cmocka_unit_test(fields_of_tags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
