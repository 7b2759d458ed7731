/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture session records a traced job in one file. The session owns the probes: they are removed
 * however it ends, even by SIGKILL.
 */
#ifndef UCXBPF_CAPTURE_CAPTURE_H
#define UCXBPF_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "observe/probe/links.h"
#include "observe/probe/sites.h"

struct capture_options {
	const char *output;
	const char *mode; /* "run" or "attach" */
	char *const *command; /* run: the command, NULL-terminated; else NULL */
	enum level level;
	bool call_ends; /* exact ends of MPI calls, by return probes */
	bool count; /* sums instead of records of calls, operations and transfers */
	const char *libraries; /* more directories for capture_prepare(), colons between; NULL */
	size_t ring_bytes; /* per CPU; 0: by the memory of the machine, growing */
	enum link_mechanism mechanism;
	uint64_t window_ns, period_ns; /* duty cycle; 0: continuous */
	double budget; /* highest cost to a thread, as a share of its time; 0: no limit */
	bool stacks; /* user stacks at calls, and at operations outside of them, x86-64 */
	bool derive; /* derive MPI calls from operations, where proven; not with stacks */
	bool arguments; /* keep arguments of command lines, too */
	bool progress; /* a line on stderr, rewritten about twice a second */
	unsigned int thin; /* slices with detail of UB_SLICES; 0: as the rings allow */
	bool *unwritable; /* set if the file cannot be created; NULL: not wanted */
	bool all; /* every process that maps UCX or MPI, now and later */
	bool passing; /* the file is deleted once it has been read: no power cut matters to it */
	bool live; /* sums are taken by capture_take() and left out of the file; with count */
};

struct capture_session;

/*
 * To be called once before capture_open(), while there is one thread. Starts the readers
 * (reader.h), which have no rights, drops the rights that tracing does not need, and starts the
 * helpers of remote.h with the rest.
 */
void capture_confine(void);

/*
 * Loads the programs and creates the file. Prints the error; -EPERM, -ENOSYS (kernel),
 * -ENOSPC and the like (file).
 */
int capture_open(struct capture_session **capture, const struct capture_options *options);

/* Traces this process, which has not run yet, and its children to come. -ESRCH, -EACCES. */
int capture_add_started(struct capture_session *capture, pid_t pid);

/*
 * Gets ready to trace a running process: its libraries are probed, its UCX objects read. Its
 * records start with capture_begin(). -ESRCH: gone; -EOPNOTSUPP: 32-bit; -EINVAL: the id of a
 * thread; -EEXIST: added before; -EACCES.
 */
int capture_add_running(struct capture_session *capture, pid_t pid);

/*
 * The same for a process that waits to be traced before it uses UCX. If its memory confirms that it
 * has not, the process counts as traced from its start.
 */
int capture_add_waiting(struct capture_session *capture, pid_t pid);

/* Starts the records of all processes that were added, and begins the file. */
int capture_begin(struct capture_session *capture);

/* Traces every process that maps UCX or MPI now; with options.all also those to come. */
void capture_add_all(struct capture_session *capture);

/*
 * Places probes in files that a new process is likely to map, before its first call: in the usual
 * folders, those of LD_LIBRARY_PATH, and those in the run path of programs among the words of
 * command. command NULL: not known.
 */
void capture_prepare(struct capture_session *capture, char *const *command,
		     char *const *environment);

/* Number of processes that mapped UCX or MPI so far. */
unsigned int capture_processes(const struct capture_session *capture);

/* Whether anything but starts and ends of processes was recorded. */
bool capture_has_records(const struct capture_session *capture);

/* Traced processes that are alive. */
unsigned int capture_alive(const struct capture_session *capture);

/* Those of them that map UCX or MPI. */
unsigned int capture_alive_with_ucx(const struct capture_session *capture);

/*
 * Works for about ms milliseconds: drains, follows, writes. 0, or -errno when the file cannot be
 * written any more (printed): then all probes are removed, and the file is readable up to there.
 */
int capture_work(struct capture_session *capture, int ms);

#define CAPTURE_WAKERS 3

/*
 * A live session under which nothing runs may sleep until then, ns of CLOCK_MONOTONIC, or until one
 * of these has input (-1: none). Without this it works 4 times a second.
 */
void capture_sleep_until(struct capture_session *capture, uint64_t until,
			 const int fds[CAPTURE_WAKERS]);

/* An interval of a live session, and the session at its end. */
struct capture_interval {
	uint64_t from, to; /* ns, CLOCK_MONOTONIC */
	uint64_t real; /* CLOCK_REALTIME at to, ns */
	unsigned int alive; /* processes being traced that are alive */
	uint64_t cpu_ns, memory; /* of this process so far; resident bytes, 0: unknown */
	bool kernel_known; /* whether kernel_ns is known */
	uint64_t kernel_ns; /* in BPF programs so far, traps excluded: an estimate */
	uint64_t hits; /* of probes so far */
	uint64_t watched; /* ns of the interval with all probes in place: the sums are of that time
			   */
	bool away; /* the budget removed them for the rest */
	double paid; /* ns of the interval that the most expensive thread spent in probes */
	double trap_ns; /* ns of a hit outside the programs */
	uint64_t lost; /* records of objects and processes that found no room so far */
	unsigned int missed; /* ended with UCX before a look, so far */
	bool quiet; /* nothing ran: it has no file */
};

/*
 * Of a live session: writes the growth of the sums since the last call (the first one: since
 * capture_begin()), threads' positions and UCX's queues to a separate file, and updates the
 * capture's file, so that both together describe the interval. 0 or -errno (printed).
 */
int capture_take(struct capture_session *capture, const char *path,
		 struct capture_interval *interval);

/*
 * Of a live session, once the last interval is read: forgets everything that ended before it, and
 * removes it from the capture's file if that has grown enough. Returns whether it did.
 */
bool capture_trim(struct capture_session *capture);

/*
 * Detaches and frees. An existing file is left unchanged before capture_begin() and, of a process
 * that was started, in the first half second until it runs its program.
 */
void capture_abandon(struct capture_session *capture);

/* Detaches, drains the rings, completes the file, frees. */
int capture_close(struct capture_session *capture, const char *reason);

#endif
