// SPDX-License-Identifier: BSD-3-Clause
/*
 * The ledger (plan/ledger.h), written so that a rank which is killed leaves whole lines; and the
 * limit: a rank that takes too long, or is ended, writes down where it is and exits with 3.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/order.h"
#include "site/plan/ledger.h"
#include "site/traffic/traffic.h"

/* ---- signals ---- */

static void list_signals(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGALRM);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGCONT);
}

/* SIG_BLOCK: it is not ended while it writes; SIG_UNBLOCK. */
static void limit_hold(int how)
{
	sigset_t signals;

	list_signals(&signals);
	sigprocmask(how, &signals, NULL);
}

/* The rank is done and has nothing more to log: a signal may just end it. */
static void limit_end(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	signal(SIGALRM, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGCONT, SIG_DFL);
}

/* ---- the ledger ---- */

#define ROOM 65536
#define LINE 1024

struct book {
	int file;
	uint64_t transfers, errors;
	size_t used;
	char waiting[ROOM];
	char stuck[LINE]; /* line to write when the time limit is over */
};

/* For the signal's handler: a process has one ledger. */
static struct book *the_book;

static void flush(struct book *book)
{
	size_t done = 0;

	while (done < book->used) {
		ssize_t written = write(book->file, book->waiting + done, book->used - done);

		if (written < 0 && errno != EINTR)
			give_up("the ledger cannot be written: %s", strerror(errno));
		done += written > 0 ? written : 0;
	}
	book->used = 0;
}

__attribute__((format(printf, 2, 3))) static void add_line(struct book *book, const char *format,
							   ...)
{
	va_list args;

	limit_hold(SIG_BLOCK);
	if (ROOM - book->used < LINE)
		flush(book);
	va_start(args, format);
	book->used += vsnprintf(book->waiting + book->used, LINE, format, args);
	va_end(args);
	limit_hold(SIG_UNBLOCK);
}

/* Replaces characters that a JSON string would have to escape. */
static void plain(char *text)
{
	for (; *text; text++)
		if (*text == '"' || *text == '\\' || *text < ' ' || *text > '~')
			*text = ' ';
}

/* "intra","path": the stages carried out */
static void list_stages(const struct rank *rank, const bool stages[STAGES], char *to, size_t room)
{
	size_t used = 0;

	*to = '\0';
	for (int i = 0; i < STAGES; i++)
		if (stages[i] && plan_stage(rank->plan, i))
			used += snprintf(to + used, room - used, "%s\"%s\"", used ? "," : "",
					 plan_stage_names[i]);
}

static void add_head(struct book *book, const struct rank *rank, const char *node,
		     const struct arguments *arguments)
{
	char mpi[MPI_MAX_LIBRARY_VERSION_STRING], host[HOST_NAME_MAX + 1] = "", own[256];
	char list[STAGES * 16];
	int length;

	MPI_Get_library_version(mpi, &length);
	mpi[strcspn(mpi, ",\n")] = '\0';
	gethostname(host, sizeof(host) - 1);
	snprintf(own, sizeof(own), "%s", node);
	plain(mpi);
	plain(host);
	plain(own);
	list_stages(rank, arguments->stages, list, sizeof(list));
	add_line(book,
		 "{\"schema\":\"" LEDGER_SCHEMA "\",\"plan\":\"%s\",\"node\":\"%.200s\","
		 "\"local\":%d,\"rank\":%d,\"size\":%d,\"pid\":%d,\"host\":\"%.200s\","
		 "\"mpi\":\"%.100s\",\"stages\":[%s],\"part\":%u}\n",
		 rank->plan->id, own, rank->local, rank->rank, rank->size, getpid(), host, mpi,
		 list, arguments->part);
}

struct book *book_open(const struct rank *rank, const char *node, const struct arguments *arguments)
{
	struct book *book = xcalloc(1, sizeof(*book));
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s.%d.ndjson", arguments->ledger, node, rank->rank);
	book->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (book->file < 0)
		give_up("%s: %s", path, strerror(errno));
	add_head(book, rank, node, arguments);
	flush(book);
	the_book = book;
	return book;
}

void book_begin(const struct rank *rank)
{
	add_line(rank->book, "{\"is\":\"begin\",\"stage\":\"%s\",\"round\":%u}\n",
		 plan_stage_names[rank->stage], rank->round);
	limit_hold(SIG_BLOCK);
	flush(rank->book);
	limit_hold(SIG_UNBLOCK);
}

/* Without the brace at its end. */
static int describe(char *to, const struct rank *rank, const char *is, const struct plan_step *step)
{
	const struct plan *plan = rank->plan;
	bool world = step && step->world;

	if (!step)
		return snprintf(to, LINE,
				"{\"is\":\"%s\",\"stage\":\"%s\",\"round\":%u,\"src\":null,"
				"\"dst\":null,\"src_rank\":-1,\"dst_rank\":-1",
				is, plan_stage_names[rank->stage], rank->round);
	return snprintf(
		to, LINE,
		"{\"is\":\"%s\",\"stage\":\"%s\",\"round\":%u,\"sub\":%u,\"op\":\"%s\","
		"\"src\":\"%.100s\",\"src_rank\":%d,\"dst\":%s%.100s%s,\"dst_rank\":%d,"
		"\"src_mem\":\"%s\",\"dst_mem\":\"%s\",\"size\":%" PRIu64 ",\"count\":%u",
		is, plan_stage_names[rank->stage], rank->round, step->sub,
		plan_op_names[step->work->op], plan->nodes.data[step->src].name,
		world ? rank->rank : world_rank(rank, step->src, step->src_local),
		world ? "" : "\"", world ? "null" : plan->nodes.data[step->dst].name,
		world ? "" : "\"", world ? -1 : world_rank(rank, step->dst, step->dst_local),
		plan_memory_names[step->work->src_mem], plan_memory_names[step->work->dst_mem],
		step->work->size, step->work->count);
}

void book_now(const struct rank *rank, const struct plan_step *step)
{
	struct book *book = rank->book;
	int length;

	limit_hold(SIG_BLOCK);
	length = describe(book->stuck, rank, "stuck", step);
	snprintf(book->stuck + length, LINE - length, ",\"late\":");
	limit_hold(SIG_UNBLOCK);
}

/* The first one is not counted: it makes the connection. */
static struct ledger_times sum_up(uint64_t *times, size_t count)
{
	size_t timed = count ? count - 1 : 0;
	const uint64_t *sorted = times + 1;

	if (!timed)
		return (struct ledger_times){ 0 };
	qsort(times + 1, timed, sizeof(*times), order_by_value);
	return (struct ledger_times){
		.timed = timed,
		.min = sorted[0],
		.p25 = sorted[(timed - 1) / 4],
		.p50 = sorted[(timed - 1) / 2],
		.p75 = sorted[(timed - 1) * 3 / 4],
		.p99 = sorted[(timed - 1) * 99 / 100],
		.max = sorted[timed - 1],
	};
}

void book_transfer(const struct rank *rank, const struct plan_step *step, uint64_t errors,
		   size_t timed)
{
	struct ledger_times ns = sum_up(rank->times, timed);
	char line[LINE];

	describe(line, rank, "transfer", step);
	add_line(rank->book,
		 "%s,\"bytes\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"ns\":{\"timed\":%" PRIu64
		 ",\"min\":%" PRIu64 ",\"p25\":%" PRIu64 ",\"p50\":%" PRIu64 ",\"p75\":%" PRIu64
		 ",\"p99\":%" PRIu64 ",\"max\":%" PRIu64 "}}\n",
		 line, step->work->size * step->work->count, errors, ns.timed, ns.min, ns.p25,
		 ns.p50, ns.p75, ns.p99, ns.max);
	rank->book->transfers++;
	rank->book->errors += errors;
}

bool book_end(const struct rank *rank)
{
	limit_end();
	add_line(rank->book, "{\"is\":\"end\",\"transfers\":%" PRIu64 "}\n", rank->book->transfers);
	flush(rank->book);
	if (close(rank->book->file))
		give_up("the ledger cannot be written: %s", strerror(errno));
	return !rank->book->errors;
}

/* Writes all of the line or nothing: half a line would spoil the next one. */
static bool put(const char *text, size_t length)
{
	return write(the_book->file, text, length) == (ssize_t)length;
}

/*
 * Writes the line prepared by book_now(). late: this process was stopped. ended: who else ends the
 * job. More may be written afterwards. Safe in signal handlers. Returns whether it was written.
 */
static bool book_stuck(bool late, bool ended, enum plan_ender by)
{
	const char *parts[] = { the_book->stuck,
				late ? "true" : "false",
				ended ? ",\"ended\":true" : "",
				"",
				"",
				"",
				"}\n" };
	char line[LINE + 64];
	size_t length = 0;

	if (ended && by != PLAN_BY_SOMEBODY) {
		parts[3] = ",\"by\":\"";
		parts[4] = plan_ender_names[by];
		parts[5] = "\"";
	}
	if (the_book->used && !put(the_book->waiting, the_book->used))
		return false;
	the_book->used = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		size_t part = strlen(parts[i]);

		memcpy(line + length, parts[i], part);
		length += part;
	}
	return put(line, length);
}

/* ---- the limit ---- */

/*
 * How long a round may take. A clock that ticks tells a rank that waits from one that was stopped:
 * mpirun lets that go on before it ends it, and then it seems to wait like all others.
 */

/*
 * A rank without a tick for so long was stopped: on a machine with ten times more work than cores,
 * ranks were late by a second.
 */
#define STOPPED_NS 4000000000ull

/* For signals' handlers. */
static pthread_t worker; /* who writes the ledger */
static uint64_t until;
static uint64_t ticked;
static const char *reasons; /* of limit_reasons() */
static uint64_t woken; /* when it went on after it was stopped; 0: it never was */

/* A stop long ago does not explain why the process is stuck now. */
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
		_exit(TRAFFIC_UNWRITTEN);
}

static void leave(bool ended)
{
	say_where(ended);
	if (!ended)
		sleep(PLAN_GRACE_S);
	_exit(TRAFFIC_STUCK);
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

/* Handles an error of MPI: another rank is gone, and this one was waiting for it. */
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
