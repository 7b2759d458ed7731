// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/derive.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "observe/capture/session.h"
#include "observe/capture/side.h"
#include "observe/process/record.h"
#include "ucxbpf.skel.h"

#define MS 1000000ull /* ns */
#define PATIENCE (100 * MS) /* of the first check, and between looks for hot functions */
#define READING (4 * MS) /* of unwinding rows between two looks at the rings */
#define AGAIN (20 * MS) /* of a later one */
#define PERIOD (5000 * MS) /* between checks */
#define ENOUGH 100 /* calls of a function that were compared */
#define HOT 2000 /* calls, transfers a second from which probes are worth removing */
/* Since the last short transfer that did not follow from a send. */
#define SHORTS_REST (10000 * MS)
#define SHORTS_QUIET (2000 * MS) /* without a new process: the next one may soon come, and send */
#define GAINS_SOON (1000 * MS) /* since probes came: a check, rows to read, another check */
#define SHORTS_REST_MOST (600000 * MS) /* twice as long after each that was missed */

#define UNPROBED (1u << UB_UNPROBED)
#define ALL_CALLS (UB_SHORTS - 2 - UNPROBED) /* whose probes come and go */

/* For tests: probes go and come each so many ms, whether or not that is worth it. */
#define FORCE "UCXBPF_DERIVE_FORCE"

static void set_masks(struct capture_session *capture, uint32_t away, uint32_t derived,
		      uint32_t check)
{
	struct ucxbpf__bss *kernel = kernel_object(capture->kernel)->bss;

	if (capture->derive.callers.unprobed)
		derived |= UNPROBED;
	__atomic_store_n(&kernel->calls_checked, check, __ATOMIC_SEQ_CST);
	/* a call is heard by its probe, or derived, at any moment */
	__atomic_or_fetch(&kernel->calls_derived, derived, __ATOMIC_SEQ_CST);
	__atomic_store_n(&kernel->calls_away, away, __ATOMIC_SEQ_CST);
	__atomic_store_n(&kernel->calls_derived, derived, __ATOMIC_SEQ_CST);
}

static void read_counts(struct derive *derive, const struct kernel *kernel)
{
	int cpus = libbpf_num_possible_cpus(), fd = kernel_map(kernel, "derived");
	struct ub_derived *each = calloc(cpus, sizeof(*each));

	for (uint32_t number = 0; each && number < UB_DERIVABLES; number++) {
		struct ub_derived *sum = &derive->counts[number];

		if (bpf_map_lookup_elem(fd, &number, each))
			continue;
		*sum = (struct ub_derived){ 0 };
		for (int cpu = 0; cpu < cpus; cpu++) {
			sum->seen += each[cpu].seen;
			sum->checked += each[cpu].checked;
			sum->differing += each[cpu].differing;
			sum->without += each[cpu].without;
			sum->derived += each[cpu].derived;
			sum->unproven += each[cpu].unproven;
		}
		sum->checked -= derive->spoilt[number].checked;
		sum->differing -= derive->spoilt[number].differing;
		sum->without -= derive->spoilt[number].without;
	}
	free(each);
}

/* The counters of a derivable function (by its number), without its name. */
static json_t *counts_json(const struct derive *derive, uint32_t number, const char *derived)
{
	const struct ub_derived *counts = &derive->counts[number];
	json_t *one = json_pack("{s:b, s:b}", "away", (int)(derive->away >> number & 1), "kept",
				(int)(derive->kept >> number & 1));

	record_integer(one, derived, (int64_t)counts->derived);
	record_integer(one, "compared", (int64_t)(counts->checked + counts->differing));
	record_integer(one, "differing", (int64_t)counts->differing);
	record_integer(one, "without", (int64_t)counts->without);
	record_integer(one, "away_ns", (int64_t)derive->away_ns[number]);
	return one;
}

static const char *function_name(uint32_t number)
{
	for (unsigned int row = 1; row < site_count(); row++)
		if (site_row(row)->wire.derivable == number)
			return site_row(row)->name;
	return NULL;
}

/* The sums so far. */
static void write_side(struct capture_session *capture)
{
	struct derive *derive = &capture->derive;
	const struct ub_derived *shorts = &derive->counts[UB_SHORT_SENDS];
	json_t *functions, *one, *side;

	read_counts(derive, capture->kernel);
	/* the file of a live session must not grow with time */
	if (capture->options.live)
		return;
	functions = json_array();
	for (uint32_t number = 1; number < UB_UNPROBED; number++) {
		const struct ub_derived *counts = &derive->counts[number];

		if (!counts->seen && !counts->derived)
			continue;
		one = counts_json(derive, number, "calls");
		json_object_set_new(one, "function", json_string(function_name(number)));
		json_array_append_new(functions, one);
	}
	side = json_pack("{s:s, s:I, s:o}", "t", "derived", "ts", (json_int_t)side_now(),
			 "functions", functions);
	if (shorts->seen || shorts->derived) {
		one = counts_json(derive, UB_SHORT_SENDS, "transfers");
		record_integer(one, "unproven", (int64_t)shorts->unproven);
		json_object_set_new(side, "short_sends", one);
	}
	side_write(capture->writer, side);
}

static uint64_t unknown(const struct capture_session *capture)
{
	return __atomic_load_n(&kernel_object(capture->kernel)->bss->callers_unknown,
			       __ATOMIC_RELAXED);
}

static uint64_t learnt(const struct capture_session *capture)
{
	return __atomic_load_n(&kernel_object(capture->kernel)->bss->shorts_learnt,
			       __ATOMIC_RELAXED);
}

/*
 * Whether a short send of a living process waits for resources. forget: clears all such sends,
 * since nobody sees the end of one that leaves while its probe is removed.
 */
static bool sends_wait(const struct capture_session *capture, bool forget)
{
	int fd = kernel_map(capture->kernel, "waiting");
	struct ub_waiting key;

	while (!bpf_map_get_next_key(fd, NULL, &key)) {
		if (!forget && (!kill((pid_t)key.tgid, 0) || errno != ESRCH))
			return true;
		bpf_map_delete_elem(fd, &key);
	}
	return false;
}

static void enter(struct derive *derive, enum derive_state state)
{
	derive->state = state;
	derive->since = side_now();
}

static void check(struct capture_session *capture)
{
	struct derive *derive = &capture->derive;

	set_masks(capture, 0, 0, ++derive->check);
	read_counts(derive, capture->kernel);
	memcpy(derive->before, derive->counts, sizeof(derive->before));
	derive->unknown = unknown(capture);
	derive->learnt = learnt(capture);
	derive->libraries = capture->probes.libraries.len;
	derive->newcomer = false;
	enter(derive, DERIVE_CHECKING);
}

static void end_absence(struct derive *derive)
{
	derive->proved = derive->away;
	for (uint32_t number = 1; number < UB_DERIVABLES; number++)
		if (derive->away >> number & 1)
			derive->away_ns[number] += side_now() - derive->since;
	derive->away = 0;
}

static void go_away(struct capture_session *capture, uint32_t functions)
{
	struct derive *derive = &capture->derive;
	size_t refused;

	derive->unknown = unknown(capture);
	derive->before[UB_SHORT_SENDS].unproven = derive->counts[UB_SHORT_SENDS].unproven;
	derive->away = functions;
	set_masks(capture, functions, functions, 0);
	enter(derive, DERIVE_AWAY);
	hot_leave_out(&capture->probes.hot, functions, &refused);
	write_side(capture);
	log_debug("derive: probes are away: %#x", functions);
}

/* From now on a task whose next call is seen has none that was not. */
static void calls_return(struct capture_session *capture, uint32_t functions)
{
	struct ucxbpf__bss *kernel = kernel_object(capture->kernel)->bss;
	const uint32_t back = __atomic_load_n(&kernel->calls_back, __ATOMIC_SEQ_CST) + 1;

	for (uint32_t number = 1; number < UB_DERIVABLES; number++)
		if (functions >> number & 1)
			__atomic_store_n(&kernel->calls_back_at[number], back, __ATOMIC_SEQ_CST);
	__atomic_store_n(&kernel->calls_back, back, __ATOMIC_SEQ_CST);
}

/* If a probe cannot be placed again, all stay away, and their calls are still derived. */
static void come_back(struct capture_session *capture, const char *why)
{
	struct hot *hot = &capture->probes.hot;
	struct derive *derive = &capture->derive;
	uint32_t away = derive->away;
	size_t refused;
	int err;

	if (away & UB_SHORTS)
		sends_wait(capture, true);
	err = hot_leave_out(hot, 0, &refused);
	if (!err)
		__atomic_store_n(&kernel_object(capture->kernel)->bss->shorts_back, side_now(),
				 __ATOMIC_SEQ_CST);
	log_debug("derive: %s%s%s", why, err ? ", but " : "", err ? strerror(-err) : "");
	end_absence(derive);
	if (err) {
		go_away(capture, away);
		return;
	}
	set_masks(capture, 0, away, 0);
	calls_return(capture, away & ALL_CALLS);
	write_side(capture);
	check(capture);
}

/* Whether a function of UCT may be called unseen. */
static bool transfers_hide(const struct probes *probes)
{
	for (size_t i = 0; i < probes->libraries.len; i++)
		if (probes->libraries.data[i].library->roles & LIB_UCT &&
		    probes->libraries.data[i].refused)
			return true;
	return !(probes->hot.placed & 1u << UB_GROUP_UCT);
}

/*
 * Whether transfers of short sends may be derived: for a while, all of them have followed from
 * their operations, none of an earlier operation is still to come, and this check has learnt
 * nothing new.
 */
static bool shorts_ready(const struct capture_session *capture)
{
	const struct derive *derive = &capture->derive;

	return learnt(capture) == derive->learnt && !transfers_hide(&capture->probes) &&
	       side_now() >= derive->shorts_from && !sends_wait(capture, false);
}

/*
 * The functions (by number) whose probes may go. One keeps its probe if its calls and operations
 * differed, or if a call had no operation.
 */
static uint32_t judge(struct capture_session *capture, uint64_t ns)
{
	struct derive *derive = &capture->derive;
	uint32_t ready = 0, left_out = derive->spoilt_now ? ALL_CALLS : 0;
	uint64_t count = 0;

	if (!shorts_ready(capture))
		left_out |= UB_SHORTS;
	for (uint32_t number = 1; number < UB_DERIVABLES; number++) {
		const struct ub_derived *now = &derive->counts[number];
		uint64_t checked = now->checked - derive->before[number].checked;

		if (now->differing || (now->without && number != UB_SHORT_SENDS))
			derive->kept |= 1u << number;
		if (checked < derive->enough || (derive->kept | left_out) & 1u << number)
			continue;
		count += checked;
		ready |= 1u << number;
	}
	return count * 1e9 / ns >= derive->hot ? ready : 0;
}

static void rest(struct capture_session *capture)
{
	struct derive *derive = &capture->derive;

	set_masks(capture, 0, 0, 0);
	memcpy(derive->before, derive->counts, sizeof(derive->before));
	enter(derive, DERIVE_RESTING);
}

/* How often a second the calls, transfers of a mask were seen since the state began. */
static double seen_rate(const struct derive *derive, uint32_t mask)
{
	uint64_t count = 0;

	for (uint32_t number = 1; number < UB_DERIVABLES; number++)
		if (mask >> number & 1)
			count += derive->counts[number].seen - derive->before[number].seen;
	return count * 1e9 / (side_now() - derive->since);
}

/* Notes short transfers that follow from no operation: more of them may come soon. */
static void shorts_look(struct derive *derive)
{
	uint64_t strays = derive->counts[UB_SHORT_SENDS].without;

	if (strays != derive->strays)
		derive->shorts_from = side_now() + derive->shorts_rest;
	derive->strays = strays;
}

/* Looks whether there is something to gain. */
static void finish_rest(struct capture_session *capture)
{
	struct derive *derive = &capture->derive;
	bool hot_calls;

	if (side_now() - derive->since < derive->rest)
		return;
	read_counts(derive, capture->kernel);
	shorts_look(derive);
	hot_calls = seen_rate(derive, ALL_CALLS & ~derive->kept) >= derive->hot;
	derive->wanted = derive->wanted || hot_calls;
	if ((hot_calls && callers_known(&derive->callers)) ||
	    seen_rate(derive, UB_SHORTS & ~derive->kept) >= derive->hot)
		check(capture);
	else
		rest(capture);
}

/* Drops the comparisons of this check, but not the count of short transfers without a send. */
static void spoil(struct derive *derive, uint32_t mask)
{
	for (uint32_t number = 1; number < UB_DERIVABLES; number++) {
		struct ub_derived *now = &derive->counts[number], *spoilt = &derive->spoilt[number];
		const struct ub_derived *before = &derive->before[number];

		if (!(mask >> number & 1))
			continue;
		spoilt->checked += now->checked - before->checked;
		spoilt->differing += now->differing - before->differing;
		now->checked = before->checked;
		now->differing = before->differing;
		if (number == UB_SHORT_SENDS)
			continue;
		spoilt->without += now->without - before->without;
		now->without = before->without;
	}
}

/*
 * Calls cannot be compared if operations came from unknown code, which may or may not be a call's.
 * Transfers cannot be compared if some were not seen: UCX's functions have no probes, or had none
 * yet.
 */
static void spoil_check(struct capture_session *capture)
{
	struct derive *derive = &capture->derive;

	derive->spoilt_now =
		unknown(capture) != derive->unknown || !callers_known(&derive->callers);
	if (derive->spoilt_now)
		spoil(derive, ALL_CALLS);
	if (transfers_hide(&capture->probes) || capture->probes.libraries.len != derive->libraries)
		spoil(derive, UB_SHORTS);
}

#define LEARNING 5 /* checks on end, while new things are learnt in them */

static void finish_check(struct capture_session *capture)
{
	struct derive *derive = &capture->derive;
	uint64_t ns = side_now() - derive->since;
	uint32_t ready;

	if (ns < (derive->proved && AGAIN < derive->patience ? AGAIN : derive->patience))
		return;
	read_counts(derive, capture->kernel);
	spoil_check(capture);
	shorts_look(derive);
	ready = judge(capture, ns);
	if (learnt(capture) != derive->learnt && ++derive->learning < LEARNING)
		return check(capture);
	derive->learning = 0;
	if (!derive->spoilt_now)
		derive->rest = derive->patience;
	else
		derive->rest = derive->rest * 2 < PERIOD ? derive->rest * 2 : PERIOD;
	if (ready)
		return go_away(capture, ready);
	if (derive->spoilt_now || ns >= derive->patience)
		rest(capture);
}

/* Why probes that are away must come back; NULL: they need not. */
static const char *why_back(struct capture_session *capture)
{
	struct derive *derive = &capture->derive;
	const char *why = NULL;

	if (derive->away & ALL_CALLS && unknown(capture) != derive->unknown)
		return "an operation from code that is not known";
	if (derive->away & ALL_CALLS && !callers_known(&derive->callers))
		return "a process maps code that is not known";
	if (!(derive->away & UB_SHORTS))
		return NULL;
	if (derive->newcomer)
		return "a process is new";
	read_counts(derive, capture->kernel);
	if (derive->counts[UB_SHORT_SENDS].unproven != derive->before[UB_SHORT_SENDS].unproven)
		why = "a send whose transfer does not follow from it";
	else if (sends_wait(capture, false))
		why = "a send was refused as probes went";
	if (!why)
		return NULL;
	derive->shorts_rest *= derive->shorts_rest < SHORTS_REST_MOST ? 2 : 1;
	derive->shorts_from = side_now() + derive->shorts_rest;
	return why;
}

void derive_step(struct capture_session *capture)
{
	struct derive *derive = &capture->derive;
	uint64_t since = side_now() - derive->since;
	const char *why;

	if (!derive->on)
		return;
	if (derive->wanted || derive->callers.unprobed)
		callers_work(&derive->callers, READING);
	switch (derive->state) {
	case DERIVE_NOT:
		break;
	case DERIVE_CHECKING:
		finish_check(capture);
		break;
	case DERIVE_RESTING:
		finish_rest(capture);
		break;
	case DERIVE_AWAY:
		why = why_back(capture);
		if (why || since >= derive->period)
			come_back(capture, why ? why : "time for a check");
		if (why)
			derive->proved = 0;
		break;
	}
}

void derive_begin(struct capture_session *capture)
{
	if (!capture->derive.on)
		return;
	/* these have their probes, and a job that runs starts no others at once */
	capture->derive.shorts_from = 0;
	capture->derive.placed = side_now();
	rest(capture);
}

bool derive_may_gain(const struct derive *derive)
{
	return derive->on && derive->state != DERIVE_NOT && !derive->away && !derive->proved &&
	       side_now() - derive->placed < GAINS_SOON;
}

/*
 * Transfers of other operations are no longer seen, so short ones cannot be distinguished from
 * them: no transfer is derived.
 */
static void shorts_stay(struct capture_session *capture)
{
	struct derive *derive = &capture->derive;

	if (!(derive->away & UB_SHORTS))
		return;
	derive->away_ns[UB_SHORT_SENDS] += side_now() - derive->since;
	derive->away &= ~UB_SHORTS;
	capture->probes.hot.away &= ~UB_SHORTS;
	set_masks(capture, derive->away, derive->away, 0);
}

void derive_placed(struct capture_session *capture)
{
	const unsigned int needed = 1u << UB_GROUP_MPI | 1u << UB_GROUP_UCP;
	struct derive *derive = &capture->derive;
	bool in_place = (capture->probes.hot.placed & needed) == needed;

	if (!derive->on)
		return;
	if (in_place && !(capture->probes.hot.placed & 1u << UB_GROUP_UCT))
		shorts_stay(capture);
	if ((derive->state != DERIVE_NOT) == in_place)
		return;
	capture->probes.hot.away = 0;
	end_absence(derive);
	derive->placed = side_now();
	rest(capture);
	if (!in_place)
		enter(derive, DERIVE_NOT);
}

void derive_process(struct capture_session *capture, pid_t tgid)
{
	struct derive *derive = &capture->derive;
	bool fresh;

	if (!derive->on)
		return;
	callers_process(&derive->callers, tgid);
	if (derive->callers.unprobed)
		__atomic_or_fetch(&kernel_object(capture->kernel)->bss->calls_derived, UNPROBED,
				  __ATOMIC_SEQ_CST);
	map_insert(&derive->processes, (uint64_t)tgid, 0, &fresh);
	derive->newcomer = derive->newcomer || fresh;
	if (fresh && derive->shorts_from < side_now() + derive->shorts_quiet)
		derive->shorts_from = side_now() + derive->shorts_quiet;
}

int derive_init(struct capture_session *capture)
{
	struct derive *derive = &capture->derive;
	const char *forced = getenv(FORCE);

	derive->patience = PATIENCE;
	derive->period = PERIOD;
	derive->enough = ENOUGH;
	derive->hot = HOT;
	if (forced && atoi(forced) > 0) {
		derive->patience = derive->period = atoi(forced) * MS;
		derive->enough = 1;
		derive->hot = 0;
	}
	derive->rest = derive->patience;
	derive->shorts_rest = forced ? 15 * derive->patience : SHORTS_REST;
	derive->shorts_quiet = forced ? derive->patience : SHORTS_QUIET;
	derive->on = true;
	enter(derive, DERIVE_RESTING);
	return callers_init(&derive->callers, capture->kernel, &capture->track.libraries);
}

void derive_release(struct derive *derive)
{
	callers_release(&derive->callers);
	map_release(&derive->processes);
}

void derive_end(struct capture_session *capture)
{
	if (!capture->derive.on)
		return;
	end_absence(&capture->derive);
	write_side(capture);
}
