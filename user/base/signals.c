// SPDX-License-Identifier: BSD-3-Clause
#include "base/signals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"

/*
 * None that was ignored before, but SIGINT, which a shell has the background jobs of a script
 * ignore: who sends one means it.
 */
static void take(sigset_t *set, const int *numbers, size_t count)
{
	sigemptyset(set);
	for (size_t i = 0; i < count; i++) {
		struct sigaction action;

		if (numbers[i] == SIGINT ||
		    (!sigaction(numbers[i], NULL, &action) && action.sa_handler != SIG_IGN))
			sigaddset(set, numbers[i]);
	}
}

int signals_open(struct signals *signals, bool child)
{
	static const int taken[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = SIG_IGN };
	struct rlimit files;
	sigset_t set;

	take(&set, taken, ARRAY_SIZE(taken));
	sigprocmask(SIG_BLOCK, &set, &signals->old_mask);
	sigaction(SIGXFSZ, &action, &signals->old_size);
	action.sa_handler = SIG_DFL;
	sigaction(SIGCHLD, child ? &action : NULL, &signals->old_child);
	getrlimit(RLIMIT_NOFILE, &signals->old_files);
	files = signals->old_files;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	signals->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return signals->fd < 0 ? -errno : 0;
}

/*
 * Senders send twice: timeout(1) to the process and to its group, people in a hurry, launchers that
 * are slow to end. That long an end takes at most, where nothing hangs.
 */
#define TOGETHER_NS 5000000000

static uint64_t asked_at; /* of the first one; 0: none has come */

static void insist(int number)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!asked_at)
		asked_at = now;
	else if (now - asked_at > TOGETHER_NS)
		_exit(128 + number);
}

void signals_finish(bool asked)
{
	static const int insisting[] = { SIGINT, SIGTERM };
	const struct sigaction action = { .sa_handler = insist, .sa_flags = SA_RESTART };
	sigset_t set;

	asked_at = asked ? clock_ns(CLOCK_MONOTONIC) : 0;
	take(&set, insisting, ARRAY_SIZE(insisting));
	for (size_t i = 0; i < ARRAY_SIZE(insisting); i++)
		if (sigismember(&set, insisting[i]))
			sigaction(insisting[i], &action, NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void signals_restore(const struct signals *signals)
{
	setrlimit(RLIMIT_NOFILE, &signals->old_files);
	sigaction(SIGXFSZ, &signals->old_size, NULL);
	sigaction(SIGCHLD, &signals->old_child, NULL);
	sigprocmask(SIG_SETMASK, &signals->old_mask, NULL);
}

int signals_close(struct signals *signals, int number, int status)
{
	struct signalfd_siginfo info;

	number = number ? number : signals_next(signals, &info);
	close(signals->fd);
	signals_restore(signals);
	return number ? 128 + number : status;
}

int signals_next(const struct signals *signals, struct signalfd_siginfo *info)
{
	return read(signals->fd, info, sizeof(*info)) == sizeof(*info) ? (int)info->ssi_signo : 0;
}

void signal_text(char *out, size_t size, unsigned int number)
{
	const char *name = sigabbrev_np((int)number);

	if (name)
		snprintf(out, size, "signal %u (SIG%s)", number, name);
	else
		snprintf(out, size, "signal %u", number);
}
