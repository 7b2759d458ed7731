// SPDX-License-Identifier: BSD-3-Clause
#include "base/signals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"

static const int taken[] = { SIGINT, SIGTERM, SIGHUP };

static void take(sigset_t *set)
{
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
		struct sigaction action;

		if (!sigaction(taken[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(set, taken[i]);
	}
}

int signals_open(struct signals *signals, bool child)
{
	struct sigaction action = { .sa_handler = SIG_IGN };
	struct rlimit files;
	sigset_t set;

	sigemptyset(&set);
	take(&set);
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
