// SPDX-License-Identifier: BSD-3-Clause
/* COV-03 and COV-04: ranks that were stopped, and those that had no time to say where they were. */
#include <signal.h>

#include "sweep_bed.h"

/*
 * What becomes of the eight ranks as the second round of times begins, two of each node:
 *   w  waits until a signal comes        t  waits until its own time is over
 *   s  writes nothing any more           l  was stopped until a signal came
 *   L  was stopped until its own time was over
 *   a  writes nothing, since it aborts   g  was stopped, went on, and ended
 *   G  was stopped, went on, and wrote nothing from the next round on
 */
static const char *ranks;

static bool is_behind(const struct ledger_entry *entry, char becomes)
{
	static bool cut[8];
	bool *over = &cut[entry->rank];

	if (entry->kind == LEDGER_BEGIN && entry->stage == STAGE_INTRA)
		*over = false;
	if (*over || becomes == 'g')
		return *over;
	*over = entry->kind == LEDGER_BEGIN && entry->stage == STAGE_TIME &&
		entry->round == (becomes == 'G' ? 2 : 1);
	return false;
}

static bool as_told(struct ledger_entry *entry)
{
	char becomes = ranks[entry->rank];

	if (is_behind(entry, becomes))
		return true;
	if (entry->kind != LEDGER_BEGIN || entry->stage != STAGE_TIME || entry->round != 1 ||
	    strchr("sa", becomes))
		return false;
	entry->kind = LEDGER_STUCK;
	entry->late = strchr("lLgG", becomes);
	entry->by_signal = !strchr("tL", becomes);
	return false;
}

/* Captures: all that those sent which ended, and how others did. */
static void capture(struct sweep_bed *bed)
{
	for (int rank = 0; rank < 8; rank++) {
		sweep_process(bed, rank);
		if (ranks[rank] == 'g')
			sweep_capture(bed, rank);
		if (ranks[rank] == 'a')
			fact_put(&bed->sink, FACT_LIFETIME,
				 &(struct fact_lifetime){ .process = rank,
							  .until = 20,
							  .exited = true,
							  .exit_status = -1,
							  .exit_signal = SIGABRT });
	}
}

#define STOPPED "rank 2 of n1 hangs: it was stopped"
#define BOTH "rank 2 of n1, rank 5 of n2 hang or have died"
#define AS_A_WHOLE "rank 0 did not come to its end: all of its ranks were stopped"

static const struct {
	const char *ranks;
	const char *fails[4]; /* of the four nodes; NULL: UNKNOWN */
	const char *unknown; /* what is said of one of them */
} cases[] = {
	{ "wwlwwwww", { NULL, STOPPED }, STOPPED },
	{ "ttLttttt", { NULL, STOPPED }, STOPPED },
	/* mpirun lets it go on before it ends all, and leaves no time */
	{ "wwlwwsww", { NULL, STOPPED }, STOPPED },
	{ "sslwsssw", { NULL, STOPPED }, STOPPED },
	/* whose own time was over had all of it to write */
	{ "ttlttstt", { NULL, STOPPED, "rank 5 of n2 hangs or has died" }, BOTH },
	{ "wwlwwlww", { NULL, STOPPED, "rank 5 of n2 hangs: it was stopped" }, BOTH },
	/* suspended and resumed by the resource manager, say */
	{ "llllllll", { NULL }, AS_A_WHOLE },
	{ "LLLLLLLL", { NULL }, AS_A_WHOLE },
	{ "lslsslls", { NULL }, AS_A_WHOLE },
	/* what comes later counts */
	{ "wwgwwwww", { NULL }, "the job was ended for an unknown reason" },
	{ "wwGwwwww",
	  { NULL, "rank 2 of n1 hangs or has died, in round 2" },
	  "rank 2 of n1 hangs" },
	/* the crash came first, whoever was stopped then */
	{ "wawwwwww", { "rank 1 of n0 has died of signal 6" }, "rank 1 of n0 has died" },
	{ "walwwsww", { "rank 1 of n0 has died of signal 6" }, "rank 1 of n0 has died" },
};

static void who_is_to_blame(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		bool told = false;
		struct sweep_bed bed;

		ranks = cases[i / 2].ranks;
		sweep_begin_four(&bed);
		bed.leave_out = as_told;
		capture(&bed);
		for (int rank = 0; rank < 8; rank++)
			sweep_ledger(&bed, rank, false);
		if (i % 2)
			sweep_by_evidence(&bed);
		judge_finish(bed.judge, i % 2 ? &(struct fact_totals){ 0 } : &bed.totals, 20000);
		for (int node = 0; node < 4; node++) {
			const char *fails = cases[i / 2].fails[node];
			const struct finding *finding =
				sweep_finding(&bed, "COV-03", sweep_node(&bed, 2 * node));

			sweep_expect(&bed, "COV-03", finding->subject.text,
				     fails ? VERDICT_FAIL : VERDICT_UNKNOWN, fails);
			told = told || (!fails && strstr(finding->why, cases[i / 2].unknown));
		}
		if (!told)
			fail_msg("%s: nobody says '%s'", ranks, cases[i / 2].unknown);
		sweep_end(&bed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_to_blame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
