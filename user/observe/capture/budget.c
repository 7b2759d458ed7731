// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/budget.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "observe/capture/session.h"
#include "observe/capture/side.h"
#include "observe/process/record.h"
#include "ucxbpf.skel.h"

struct capture_session;

static json_t *ppm(double share)
{
	return json_integer((json_int_t)(share * 1e6 + 0.5));
}

/* Writes the step that holds from now on, and the measurements behind it. */
static void budget_side(struct capture_session *capture)
{
	const struct budget *budget = &capture->budget;
	const struct governor *governor = &budget->governor;
	uint64_t now = side_now();
	json_t *expected = json_object(), *programs = json_array();
	json_t *record = json_pack("{s:s, s:I, s:s, s:s, s:o, s:o, s:o}", "t", "budget", "ts",
				   (json_int_t)now, "step", governor_step_name(governor->step),
				   "reason", governor->reason, "budget_ppm", ppm(governor->budget),
				   "share_ppm", ppm(budget->share), "expected_ppm", expected);

	for (int step = STEP_MPI; step < STEPS; step++)
		json_object_set_new(expected, governor_step_name(step),
				    ppm(governor_predict(governor, now, step)));
	for (int group = 0; group < UB_GROUPS; group++)
		json_array_append_new(programs, json_integer((json_int_t)budget->program[group]));
	if (budget->tid) {
		record_integer(record, "tgid", budget->tgid);
		record_integer(record, "tid", budget->tid);
	}
	record_integer(record, "entry_ns", budget->trap.entry);
	record_integer(record, "return_ns", budget->trap.at_return);
	json_object_set_new(record, "program_ns", programs);
	if (governor->step == STEP_WINDOWS) {
		record_integer(record, "length_ns", capture->windows.length);
		record_integer(record, "period_ns", capture->windows.period);
	}
	side_write(capture->writer, record);
}

#define MS 1000000ull /* ns */
#define INTERVAL (100 * MS)
#define SOUND (5 * MS) /* for each group */
#define PROGRAM 200.0 /* ns that a hit spends in our programs, until that is measured */
#define PROGRAM_MAX 2000.0 /* above this, the thread was preempted */
#define ENOUGH_RUNS 2000
#define PLACING (10 * MS) /* until that is measured */
#define FIRST (5 * MS) /* length of the first window */
/* For tests: another step after each interval of that many ms. */
#define FORCE "UCXBPF_BUDGET_FORCE"

/* Where probes cannot be removed: assumed cost of the groups above, in multiples of those below. */
#define GUESS 5

int budget_open(struct capture_session *capture, double share)
{
	struct budget *budget = &capture->budget;
	const char *forced = getenv(FORCE);

	if (share <= 0)
		return 0;
	budget->on = true;
	budget->fixed = capture->options.mechanism == LINK_PERF;
	governor_init(&budget->governor, share);
	budget->interval = INTERVAL;
	if (forced && atoi(forced) > 0 && !budget->fixed) {
		budget->governor.forced = true;
		budget->interval = atoi(forced) * MS;
	}
	for (int group = 0; group < UB_GROUPS; group++)
		budget->program[group] = PROGRAM;
	capture->windows.length = WINDOWS_ENDLESS;
	capture->windows.period = 1000 * MS;
	capture->windows.governed = true;
	/* for a job that runs already, place no hot probe before its cost is known */
	if (!capture->options.command)
		capture->probes.hot.placed = 0;
	else if (budget->fixed)
		capture->probes.hot.placed = governor_groups(STEP_MPI);
	if (budget->fixed)
		log_warn("before Linux 6.6 probes cannot be removed quickly: --budget chooses its "
			 "level once, at the start");
	return links_measure(capture->options.mechanism, &budget->trap);
}

void budget_release(struct budget *budget)
{
	vec_release(&budget->threads);
	map_release(&budget->by_id);
}

/* ---- measured costs ---- */

static void add_run_time(int fd, uint64_t *time, uint64_t *runs)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (fd >= 0 && !bpf_prog_get_info_by_fd(fd, &info, &size)) {
		*time += info.run_time_ns;
		*runs += info.run_cnt;
	}
}

/* Runs are counted only while cost.c takes a sample. */
static void measure_programs(struct budget *budget, const struct link_programs *programs)
{
	uint64_t time[UB_GROUPS] = { 0 }, runs[UB_GROUPS] = { 0 };

	for (unsigned int kind = 1; kind < UB_KIND_MAX; kind++) {
		unsigned int group = ub_group(kind);

		add_run_time(programs->entry_fd[kind], &time[group], &runs[group]);
		add_run_time(programs->exit_fd[kind], &time[group], &runs[group]);
		add_run_time(programs->span_entry_fd[kind], &time[group], &runs[group]);
		add_run_time(programs->session_fd[kind], &time[group], &runs[group]);
		add_run_time(programs->return_fd[kind], &time[group], &runs[group]);
	}
	for (int group = 0; group < UB_GROUPS; group++)
		if (runs[group] >= ENOUGH_RUNS)
			budget->program[group] =
				fmin((double)time[group] / runs[group], PROGRAM_MAX);
}

/* Time that a group has cost a thread since the last look; sounding: entries alone are probed. */
static double cost_since(const struct budget *budget, const struct ub_task_hits *now,
			 const struct ub_task_hits *before, int group, bool sounding)
{
	uint64_t hits = now->hits[group] - (before ? before->hits[group] : 0);
	uint64_t returns = now->returns[group] - (before ? before->returns[group] : 0);

	if (sounding && group != UB_GROUP_MPI)
		returns = hits;
	return hits * (budget->trap.entry + budget->program[group]) +
	       returns * (budget->trap.at_return + budget->program[group]);
}

/* A thread's cost of each group, as odds: divided by the rest of its time. */
static void add_odds(struct governor_interval *interval, const double *costs, double paid,
		     double wall)
{
	double left = wall - paid > wall / 50 ? wall - paid : wall / 50;

	for (int group = 0; group < UB_GROUPS; group++)
		if (costs[group] / left > interval->odds[group])
			interval->odds[group] = costs[group] / left;
}

struct budget_look {
	struct governor_interval interval;
	double wall; /* ns */
	double most; /* ns, of the thread that paid most */
};

static void see(struct budget *budget, struct budget_look *look, const struct ub_task_hits *now,
		bool sounding)
{
	uint64_t *index = map_find(&budget->by_id, now->tgid, now->tid);
	const struct ub_task_hits *before = index ? &budget->threads.data[*index - 1] : NULL;
	double costs[UB_GROUPS], paid = 0;

	/* the id was reused by another thread */
	for (int group = 0; before && group < UB_GROUPS; group++)
		if (now->hits[group] < before->hits[group] ||
		    now->returns[group] < before->returns[group])
			before = NULL;
	for (int group = 0; group < UB_GROUPS; group++) {
		costs[group] = cost_since(budget, now, before, group, sounding);
		paid += costs[group];
	}
	add_odds(&look->interval, costs, paid, look->wall);
	if (paid > look->most) {
		look->most = paid;
		budget->tgid = now->tgid;
		budget->tid = now->tid;
	}
}

/* Records were dropped although detail.c thins first. */
static bool lost_records(struct capture_session *capture)
{
	const struct detail *detail = &capture->detail;
	uint64_t lost, before = capture->budget.lost;

	if (kernel_lost(capture->kernel, &lost))
		return false;
	capture->budget.lost = lost;
	return lost > before && (detail->fixed || detail->kept <= 1);
}

/* Costs since the last look. */
static struct budget_look look(struct capture_session *capture, bool sounding)
{
	struct budget *budget = &capture->budget;
	struct budget_look look = { .interval.now = side_now() };
	task_hits tasks = { 0 };

	look.wall = budget->looked ? look.interval.now - budget->looked : 1;
	budget->looked = look.interval.now;
	measure_programs(budget, kernel_programs(capture->kernel));
	kernel_task_hits(capture->kernel, &tasks);
	for (size_t i = 0; i < tasks.len; i++)
		see(budget, &look, &tasks.data[i], sounding);
	/* the dead are forgotten */
	map_release(&budget->by_id);
	budget->threads.len = 0;
	for (size_t i = 0; i < tasks.len; i++) {
		*map_insert(&budget->by_id, tasks.data[i].tgid, tasks.data[i].tid, NULL) = i + 1;
		vec_push(&budget->threads, tasks.data[i]);
	}
	vec_release(&tasks);
	look.interval.share = look.most < look.wall ? look.most / look.wall : 1;
	budget->share = look.interval.share;
	look.interval.lost = lost_records(capture);
	look.interval.may_gain = derive_may_gain(&capture->derive);
	return look;
}

/* ---- decisions ---- */

static void plan_windows(struct capture_session *capture)
{
	struct budget *budget = &capture->budget;
	struct governor_windows plan = governor_windows(&budget->governor, budget->fixed_cost);
	struct windows *windows = &capture->windows;

	if (budget->governor.forced)
		plan = (struct governor_windows){ budget->interval / 2, budget->interval * 5 / 2 };
	windows->length = plan.length;
	windows->period = plan.period;
	windows_schedule(windows);
}

static void name_step(struct capture_session *capture)
{
	const struct budget *budget = &capture->budget;

	capture->windows.step = governor_step_name(budget->governor.step);
	capture->windows.reason = budget->governor.reason;
	capture->windows.paid = budget->share;
	log_debug("budget: %s (%s), %.2f %% paid", capture->windows.step, budget->governor.reason,
		  100 * budget->share);
}

static void apply(struct capture_session *capture)
{
	struct budget *budget = &capture->budget;
	struct governor *governor = &budget->governor;
	struct windows *windows = &capture->windows;

	if (windows->open) {
		windows_close(capture,
			      governor->step == STEP_WINDOWS ? 0 : governor_groups(governor->step));
		windows->due = windows->closed;
	}
	for (name_step(capture); governor->step > STEP_WINDOWS; name_step(capture)) {
		windows->length = WINDOWS_ENDLESS;
		if (windows_open(capture, governor_groups(governor->step)))
			break;
		governor_lower(governor, side_now());
	}
	if (governor->step == STEP_WINDOWS) {
		windows_place(capture, 0);
		plan_windows(capture);
	}
	budget_side(capture);
	if (governor->step == STEP_WINDOWS)
		return;
	look(capture, false);
	budget->next = side_now() + budget->interval;
}

/* Whether the next group may be placed; a guess where it could not be removed again. */
static bool may_come(const struct budget *budget)
{
	const struct governor *governor = &budget->governor;
	double sum = 0;

	for (int group = 0; group < UB_GROUPS; group++)
		sum += governor->odds[group];
	sum *= budget->fixed ? 1 + GUESS : 1;
	return sum / (1 + sum) <= governor->budget;
}

static void wait_ns(uint64_t ns)
{
	usleep(ns / 1000);
}

void budget_sound(struct capture_session *capture)
{
	static const enum governor_step steps[] = { STEP_MPI, STEP_UCP, STEP_UCT };
	struct budget *budget = &capture->budget;
	struct governor *governor = &budget->governor;
	uint64_t from = side_now(), sounding = 0;

	for (int i = 0; i < 3; i++) {
		struct budget_look seen;

		governor->step = steps[i];
		windows_place(capture, governor_groups(steps[i]));
		look(capture, true);
		wait_ns(SOUND);
		seen = look(capture, true);
		sounding += SOUND;
		governor_learn(governor, seen.interval.now, governor_groups(steps[i]),
			       seen.interval.odds);
		if (!may_come(budget))
			break;
	}
	budget->placing = side_now() - from - sounding;
	log_debug("budget: placing took %.3f ms; entry %.0f ns, return %.0f ns more",
		  budget->placing / 1e6, budget->trap.entry, budget->trap.at_return);
	if (!budget->fixed)
		governor->step = governor_best(governor, side_now(),
					       capture->derive.on ? governor_patience(governor)
								  : governor->budget);
}

void budget_begin(struct capture_session *capture)
{
	struct budget *budget = &capture->budget;
	struct governor *governor = &budget->governor;
	struct windows *windows = &capture->windows;
	enum governor_step lowest;

	if (budget->fixed && !budget->looked)
		governor->step = STEP_MPI;
	/* perf links take 0.1 s each to close, so probes in place stay */
	lowest = budget->fixed ? STEP_MPI : STEP_WINDOWS;
	governor->reason = "start";
	budget->fixed_cost = budget->placing ? budget->placing : PLACING;
	while (governor->step > STEP_WINDOWS &&
	       !windows_place(capture, governor_groups(governor->step)) && governor->step > lowest)
		governor_lower(governor, side_now());
	name_step(capture);
	if (governor->step == STEP_WINDOWS) {
		/* opens the first window at once; its end calls plan_windows() */
		windows->length = governor->forced ? budget->interval / 2 : FIRST;
		windows->due = side_now();
		budget_side(capture);
		return;
	}
	windows_begin(capture);
	kernel_resume(capture->kernel);
	budget_side(capture);
	look(capture, false);
	budget->next = side_now() + budget->interval;
}

uint64_t budget_next(const struct budget *budget)
{
	bool ticks = budget->on && !budget->fixed && budget->next &&
		     budget->governor.step != STEP_WINDOWS;

	return ticks ? budget->next : UINT64_MAX;
}

void budget_step(struct capture_session *capture)
{
	struct budget *budget = &capture->budget;
	struct budget_look seen;

	if (side_now() < budget_next(budget))
		return;
	seen = look(capture, false);
	budget->next = side_now() + budget->interval;
	if (governor_decide(&budget->governor, &seen.interval))
		apply(capture);
}

/* Probes were removed and placed since the last window. */
void budget_window_opens(struct capture_session *capture)
{
	struct budget *budget = &capture->budget;
	double most = look(capture, false).most;

	budget->fixed_cost = (budget->fixed_cost + most) / 2;
	log_debug("budget: probes that came and went cost %.3f ms", most / 1e6);
}

void budget_window_closed(struct capture_session *capture)
{
	struct budget_look seen = look(capture, false);

	log_debug("budget: a window cost %.3f ms", seen.most / 1e6);
	if (governor_decide(&capture->budget.governor, &seen.interval))
		apply(capture);
	else
		plan_windows(capture);
}
