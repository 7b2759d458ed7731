/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes that `run`, `attach` and `sweep` make to their own process, and how a child undoes them;
 * signals as text.
 */
#ifndef UCXBPF_BASE_SIGNALS_H
#define UCXBPF_BASE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

struct signals {
	int fd; /* readable when one is pending */
	sigset_t old_mask;
	struct sigaction old_child, old_size;
	struct rlimit old_files;
};

/*
 * Receives SIGINT, SIGTERM and SIGHUP through a descriptor to poll, except SIGTERM and SIGHUP if
 * they were ignored before (nohup); makes a file size limit an error instead of a signal; raises
 * the limit of open files to its hard limit. child: this process will wait for one. -errno.
 */
int signals_open(struct signals *signals, bool child);

/* In a child, before exec: undoes all changes. Async-signal-safe. */
void signals_restore(const struct signals *signals);

/* The next pending signal, 0 = none. */
int signals_next(const struct signals *signals, struct signalfd_siginfo *info);

/*
 * From now on this process only finishes its work, which may block for ever on a file system or a
 * reader: the second SIGINT or SIGTERM ends it at once, 128 + signal. asked: the first one was seen
 * before.
 */
void signals_finish(bool asked);

/*
 * As signals_restore(), at the end. Returns the exit status: that of the signal that was seen
 * before (0: none), or is pending; else status.
 */
int signals_close(struct signals *signals, int number, int status);

/* "signal 6 (SIGABRT)"; without a name "signal 35". */
void signal_text(char *out, size_t size, unsigned int number);

#endif
