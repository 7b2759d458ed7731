// SPDX-License-Identifier: BSD-3-Clause
/* Ledgers as they are read: whole, cut off, and with something in them that is none of theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "site/plan/ledger.h"

#define HEAD                                                                                       \
	"{\"schema\":\"ucxbpf.ledger/1\",\"plan\":\"p\",\"node\":\"n0\",\"local\":1,\"rank\":5,"   \
	"\"size\":8,\"pid\":77,\"host\":\"h\",\"mpi\":\"MPI\",\"stages\":[\"path\",\"time\"]}\n"
#define BEGIN "{\"is\":\"begin\",\"stage\":\"time\",\"round\":3}\n"
#define TRANSFER                                                                                   \
	"{\"is\":\"transfer\",\"stage\":\"time\",\"round\":3,\"sub\":2,\"op\":\"p2p\","            \
	"\"src\":\"n0\",\"src_rank\":5,\"dst\":\"n1\",\"dst_rank\":6,\"src_mem\":\"host\","        \
	"\"dst_mem\":\"cuda\",\"size\":8,\"count\":3,\"bytes\":24,\"errors\":1,\"ns\":"            \
	"{\"timed\":2,\"min\":1,\"p25\":2,\"p50\":3,\"p75\":4,\"p99\":5,\"max\":6}}\n"
#define STUCK                                                                                      \
	"{\"is\":\"stuck\",\"stage\":\"time\",\"round\":4,\"src\":null,\"dst\":null,"              \
	"\"src_rank\":-1,\"dst_rank\":-1,\"late\":true}\n"
#define END "{\"is\":\"end\",\"transfers\":1}\n"

struct seen {
	size_t count;
	struct ledger_entry entries[8]; /* without their strings */
	char node[16];
};

static void take(void *arg, const struct ledger_entry *entry)
{
	struct seen *seen = arg;

	if (entry->kind == LEDGER_HEAD)
		snprintf(seen->node, sizeof(seen->node), "%s", entry->node);
	seen->entries[seen->count++] = *entry;
}

static int read_text(const char *text, struct seen *seen, char why[PLAN_WHY])
{
	char path[] = "/tmp/plan-ledger-XXXXXX";
	int file = mkstemp(path), err;

	*seen = (struct seen){ 0 };
	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
	err = ledger_read(path, take, seen, why);
	unlink(path);
	return err;
}

static void whole(void **state)
{
	char why[PLAN_WHY] = "";
	struct seen seen;
	const struct ledger_entry *entry = seen.entries;

	(void)state;
	assert_int_equal(read_text(HEAD BEGIN TRANSFER STUCK END, &seen, why), 0);
	assert_int_equal(seen.count, 5);
	assert_string_equal(seen.node, "n0");
	assert_int_equal(entry[0].stages, 1 << STAGE_PATH | 1 << STAGE_TIME);
	assert_int_equal(entry[0].pid, 77);
	assert_int_equal(entry[0].size, 8);
	assert_int_equal(entry[0].local, 1);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(entry[i].kind, i);
		assert_int_equal(entry[i].rank, 5);
	}
	assert_int_equal(entry[1].stage, STAGE_TIME);
	assert_int_equal(entry[1].round, 3);
	assert_int_equal(entry[2].op, PLAN_P2P);
	assert_int_equal(entry[2].sub, 2);
	assert_int_equal(entry[2].dst_rank, 6);
	assert_int_equal(entry[2].src_mem, PLAN_HOST);
	assert_int_equal(entry[2].dst_mem, PLAN_CUDA);
	assert_int_equal(entry[2].msg_size, 8);
	assert_int_equal(entry[2].count, 3);
	assert_int_equal(entry[2].bytes, 24);
	assert_int_equal(entry[2].errors, 1);
	assert_int_equal(entry[2].ns.timed, 2);
	assert_int_equal(entry[2].ns.min, 1);
	assert_int_equal(entry[2].ns.p25, 2);
	assert_int_equal(entry[2].ns.p50, 3);
	assert_int_equal(entry[2].ns.p75, 4);
	assert_int_equal(entry[2].ns.p99, 5);
	assert_int_equal(entry[2].ns.max, 6);
	assert_false(entry[2].late);
	assert_true(entry[3].late);
	assert_null(entry[3].src);
	assert_int_equal(entry[4].transfers, 1);
}

/* A rank that was killed in the middle of a line: what was before it counts. */
static void cut(void **state)
{
	char text[] = HEAD BEGIN TRANSFER, why[PLAN_WHY];
	struct seen seen;

	(void)state;
	for (size_t left = strlen(HEAD BEGIN); left < strlen(text); left++) {
		char part[sizeof(text)];

		snprintf(part, sizeof(part), "%.*s", (int)left, text);
		assert_int_equal(read_text(part, &seen, why), 0);
		assert_int_equal(seen.count, 2);
	}
}

static void wrong(void **state)
{
	static const struct {
		const char *text, *why;
		size_t before; /* lines that are taken */
	} cases[] = {
		{ "", "no line in it", 0 },
		{ BEGIN, "line 1: schema", 0 },
		{ HEAD HEAD, "line 2: schema", 1 },
		{ HEAD "what?\n" END, "line 2: all of it", 1 },
		{ HEAD "[]\n", "line 2: all of it", 1 },
		{ HEAD "{\"is\":\"over\"}\n", "line 2: is", 1 },
		{ HEAD "{\"is\":\"end\",\"transfers\":-1}\n", "line 2: transfers", 1 },
		{ HEAD "{\"is\":\"begin\",\"stage\":\"last\",\"round\":0}\n", "line 2: stage", 1 },
		{ HEAD BEGIN "{\"is\":\"begin\",\"stage\":\"time\"}\n", "line 3: round", 2 },
	};
	char why[PLAN_WHY];
	struct seen seen;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_not_equal(read_text(cases[i].text, &seen, why), 0);
		if (strncmp(why, cases[i].why, strlen(cases[i].why)))
			fail_msg("%s instead of %s", why, cases[i].why);
		assert_int_equal(seen.count, cases[i].before);
	}
	assert_int_not_equal(ledger_read("/nowhere", take, &seen, why), 0);
	assert_string_equal(why, "no such file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),
		cmocka_unit_test(cut),
		cmocka_unit_test(wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
