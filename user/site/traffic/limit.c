// SPDX-License-Identifier: BSD-3-Clause
/*
 * How long a round may take. A clock that ticks tells a rank that waits from one that was stopped:
 * mpirun lets that go on before it ends it, and then it seems to wait like all others.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "site/traffic/traffic.h"

/*
 * Who did not tick for so long was stopped: on a machine with ten times more work than cores, ranks
 * were a second late.
 */
#define STOPPED_NS 4000000000ull

/* For signals' handlers. */
static pthread_t worker; /* who writes the ledger */
static uint64_t until;
static uint64_t ticked;
static const char *reasons; /* of limit_reasons() */
static uint64_t woken; /* when it went on after it was stopped; 0: it never was */

/* What was stopped long ago is not why it is stuck now. */
static bool was_stopped(uint64_t now)
{
	return now - ticked > STOPPED_NS || (woken && now - woken < STOPPED_NS);
}

static enum plan_ender ender(void)
{
	char text[16] = "";
	int file = reasons ? open(reasons, O_RDONLY | O_CLOEXEC) : -1;

	if (file < 0 || read(file, text, sizeof(text) - 1) <= 0)
		text[0] = '\0';
	if (file >= 0)
		close(file);
	for (int i = 0; i < PLAN_ENDERS; i++)
		if (!strcmp(text, plan_ender_names[i]))
			return i;
	return PLAN_BY_SOMEBODY;
}

static void say_where(bool ended)
{
	if (!book_stuck(was_stopped(now_ns()), ended, ended ? ender() : PLAN_BY_SOMEBODY))
		_exit(4);
}

static void leave(bool ended)
{
	say_where(ended);
	if (!ended)
		sleep(PLAN_GRACE_S);
	_exit(3);
}

/* MPI has threads of its own, which hold back nothing while the ledger is written. */
static bool is_elsewhere(int signal)
{
	if (pthread_equal(pthread_self(), worker))
		return false;
	pthread_kill(worker, signal);
	return true;
}

static void tick(int signal)
{
	uint64_t now = now_ns();

	if (is_elsewhere(signal))
		return;
	if (now - ticked > STOPPED_NS)
		woken = now;
	ticked = now;
	if (now >= until)
		leave(false);
}

static void terminate(int signal)
{
	if (!is_elsewhere(signal))
		leave(true);
}

/*
 * Open MPI 4.1's mpirun sends it a second before SIGTERM, which SIGKILL follows within
 * milliseconds: on a loaded machine a rank would not come to say where it was.
 */
static void go_on(int signal)
{
	int interrupted = errno;

	if (!is_elsewhere(signal))
		say_where(true);
	errno = interrupted;
}

static void list_signals(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGALRM);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGCONT);
}

void limit_hold(int how)
{
	sigset_t signals;

	list_signals(&signals);
	sigprocmask(how, &signals, NULL);
}

void limit_reasons(const char *path)
{
	reasons = path;
}

void limit_round(unsigned int seconds)
{
	struct sigaction ticks = { .sa_handler = tick, .sa_flags = SA_RESTART };
	/* a launcher ends the others of a job so when one has crashed */
	struct sigaction ends = { .sa_handler = terminate };
	struct sigaction goes_on = { .sa_handler = go_on, .sa_flags = SA_RESTART };
	struct itimerval each_second = { .it_interval.tv_sec = 1, .it_value.tv_sec = 1 };

	limit_hold(SIG_BLOCK);
	worker = pthread_self();
	list_signals(&ticks.sa_mask);
	list_signals(&ends.sa_mask);
	list_signals(&goes_on.sa_mask);
	ticked = now_ns();
	until = ticked + seconds * 1000000000ull;
	sigaction(SIGALRM, &ticks, NULL);
	sigaction(SIGTERM, &ends, NULL);
	sigaction(SIGCONT, &goes_on, NULL);
	setitimer(ITIMER_REAL, &each_second, NULL);
	limit_hold(SIG_UNBLOCK);
}

void limit_end(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	signal(SIGALRM, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGCONT, SIG_DFL);
}

/* What MPI finds wrong is that another rank has gone: this one was waiting. */
static void failed(MPI_Comm *world, int *error, ...)
{
	char text[MPI_MAX_ERROR_STRING];
	int length;

	(void)world;
	MPI_Error_string(*error, text, &length);
	fprintf(stderr, "ucxbpf-traffic: %s\n", text);
	limit_hold(SIG_BLOCK);
	leave(true);
}

void limit_errors(void)
{
	MPI_Errhandler handler;

	MPI_Comm_create_errhandler(failed, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Errhandler_free(&handler);
}
