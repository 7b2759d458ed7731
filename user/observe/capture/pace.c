// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/pace.h"

#include "base/log.h"
#include "observe/capture/session.h"
#include "observe/capture/side.h"

#define MS 1000000ull /* ns */
#define LOOK (20 * MS)
#define CREDIT (1000 * MS) /* a thread may spend the budget of that much time at once */
#define PROGRAM 250.0 /* ns that a hit spends in our programs, until that is measured */

int pace_open(struct capture_session *capture, double budget)
{
	struct pace *pace = &capture->pace;

	pace->budget = budget;
	pace->fixed = capture->options.mechanism == LINK_PERF;
	return links_measure(capture->options.mechanism, &pace->trap);
}

void pace_release(struct pace *pace)
{
	vec_release(&pace->accounts);
	map_release(&pace->by_id);
}

static double program_ns(const struct capture_session *capture)
{
	const struct cost_report cost = cost_report(&capture->cost, cells_count(&capture->cells));

	return cost.kernel_unknown || !cost.hits ? PROGRAM : (double)cost.kernel_ns / cost.hits;
}

/* The count may be that of another thread that has got the same id. */
static uint64_t gained(uint64_t now, uint64_t before)
{
	return now >= before ? now - before : now;
}

static struct pace_account settled(const struct pace *pace, const struct ub_task_hits *task,
				   double program, double earned)
{
	const uint64_t *index = map_find(&pace->by_id, task->tgid, task->tid);
	struct pace_account account = { .tgid = task->tgid, .tid = task->tid };
	uint64_t hits = task->hits[UB_GROUP_UCP], returns = task->returns[UB_GROUP_UCP];
	double cost;

	if (index)
		account = pace->accounts.data[*index - 1];
	cost = gained(hits, account.hits) * (pace->trap.entry + program) +
	       gained(returns, account.returns) * (pace->trap.at_return + program);
	account.hits = hits;
	account.returns = returns;
	account.paid += cost;
	account.debt += cost - earned;
	if (account.debt < 0)
		account.debt = 0;
	return account;
}

/* Forgets threads that have ended. Returns the highest debt. */
static double look(struct capture_session *capture)
{
	struct pace *pace = &capture->pace;
	const uint64_t now = side_now();
	const double earned = pace->budget * (now - pace->looked), program = program_ns(capture);
	VEC(struct pace_account) accounts = { 0 };
	task_hits tasks = { 0 };
	double most = 0;

	pace->looked = now;
	kernel_task_hits(capture->kernel, &tasks);
	for (size_t i = 0; i < tasks.len; i++) {
		struct pace_account account = settled(pace, &tasks.data[i], program, earned);

		most = account.debt > most ? account.debt : most;
		vec_push(&accounts, account);
	}
	vec_release(&tasks);
	for (size_t i = 0; i < pace->accounts.len; i++)
		if (pace->accounts.data[i].paid > pace->worst)
			pace->worst = pace->accounts.data[i].paid;
	map_release(&pace->by_id);
	vec_release(&pace->accounts);
	pace->accounts.data = accounts.data;
	pace->accounts.len = accounts.len;
	pace->accounts.cap = accounts.cap;
	for (size_t i = 0; i < accounts.len; i++)
		*map_insert(&pace->by_id, accounts.data[i].tgid, accounts.data[i].tid, NULL) =
			i + 1;
	return most;
}

void pace_begin(struct capture_session *capture)
{
	struct pace *pace = &capture->pace;

	pace->open = true;
	pace->since = pace->looked = side_now();
}

static void close_window(struct capture_session *capture)
{
	struct pace *pace = &capture->pace;

	kernel_pause(capture->kernel);
	pace->watched += side_now() - pace->since;
	pace->open = false;
	pace->away = true;
	windows_place(capture, 0);
	if (pace->fixed)
		log_warn("counting costs more than the budget, and before Linux 6.6 probes cannot "
			 "be removed quickly: from here on nothing is counted");
}

static void open_window(struct capture_session *capture)
{
	struct pace *pace = &capture->pace;

	if (!windows_place(capture, HOT_ALL)) {
		windows_place(capture, 0);
		return;
	}
	kernel_resume(capture->kernel);
	pace->open = true;
	pace->since = side_now();
}

void pace_step(struct capture_session *capture)
{
	struct pace *pace = &capture->pace;
	double most;

	if (!capture->options.live || !pace->looked || side_now() < pace->looked + LOOK)
		return;
	most = look(capture);
	if (pace->budget <= 0)
		return;
	if (pace->open && most > pace->budget * CREDIT)
		close_window(capture);
	else if (!pace->open && !pace->fixed && most <= 0)
		open_window(capture);
}

struct pace_report pace_take(struct capture_session *capture)
{
	struct pace *pace = &capture->pace;
	struct pace_report report = { .away = pace->away };
	uint64_t now;

	look(capture);
	now = side_now();
	report.watched = pace->watched + (pace->open ? now - pace->since : 0);
	report.paid = pace->worst;
	for (size_t i = 0; i < pace->accounts.len; i++) {
		if (pace->accounts.data[i].paid > report.paid)
			report.paid = pace->accounts.data[i].paid;
		pace->accounts.data[i].paid = 0;
	}
	pace->worst = 0;
	pace->watched = 0;
	pace->away = !pace->open;
	pace->since = now;
	return report;
}
