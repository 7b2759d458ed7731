// SPDX-License-Identifier: BSD-3-Clause
/* A judge takes input until it is finished: a call in another order aborts. */
#include "judge_bed.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "site/judge/evidence/evidence.h"
#include "site/plan/ledger.h"

static const struct fact_totals none;

static void finish(struct judge *judge)
{
	judge_finish(judge, &none, 0);
}

static void write_evidence(struct judge *judge)
{
	struct evidence_error error;

	assert_int_equal(judge_evidence_write(judge, &none, open("/dev/null", O_WRONLY), &error),
			 0);
}

static void sink(struct judge *judge)
{
	judge_sink(judge);
}

static void loss(struct judge *judge)
{
	judge_loss(judge, &(struct judge_loss){ .node = "n0", .files = 1 });
}

static void baseline(struct judge *judge)
{
	judge_baseline(judge, judge);
}

static void ledger(struct judge *judge)
{
	judge_ledger(judge, &(struct ledger_entry){ .kind = LEDGER_HEAD });
}

static void summary(struct judge *judge)
{
	judge_summary(judge);
}

/* Whether two calls, one behind the other, end the program. */
static bool aborts(void (*first)(struct judge *judge), void (*second)(struct judge *judge))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		struct judge *judge = judge_new(policy_default());

		signal(SIGABRT, SIG_DFL);
		close(STDERR_FILENO);
		first(judge);
		second(judge);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void order_of_calls(void **state)
{
	(void)state;
	assert_false(aborts(sink, loss));
	assert_false(aborts(loss, finish));
	assert_false(aborts(judge_learn_sizes, sink));
	assert_false(aborts(sink, write_evidence));
	assert_false(aborts(finish, summary));
	assert_true(aborts(sink, judge_learn_sizes));
	assert_true(aborts(sink, baseline));
	assert_true(aborts(sink, ledger));
	assert_true(aborts(sink, summary));
	assert_true(aborts(finish, sink));
	assert_true(aborts(finish, loss));
	assert_true(aborts(finish, finish));
	assert_true(aborts(finish, write_evidence));
	assert_true(aborts(write_evidence, finish));
	assert_true(aborts(write_evidence, summary));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(order_of_calls) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
