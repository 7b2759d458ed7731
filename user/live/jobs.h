/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of jobs, fed with a live view after each of its intervals. They only grow, and those of
 * a job stay for a while after its end. Their number is bounded, whatever runs: JOBS_MOST steps of
 * jobs, JOB_PATHS paths each. A job, or a path, "other" has the sums that find no room, and those
 * of a job or path that is really called so.
 */
#ifndef UCXBPF_LIVE_JOBS_H
#define UCXBPF_LIVE_JOBS_H

#include "live/live.h"

#define JOBS_MOST 128
#define JOB_PATHS 32
#define JOB_ERRORS 16

/*
 * Data transfers, copies and control transfers of a job that are alike. Texts are plain, cut to
 * their room, with zeros behind; "": not known. Two rows of a job are never written alike, whatever
 * the names are: labels of monitoring systems must not be.
 */
struct job_path {
	char transport[32], device[64], memory[32];
	char way[16]; /* fact_data_path() */
	uint64_t fetches; /* 1: data comes to the process that starts it */
	struct live_sums sums; /* must follow the members of the key */
	uint64_t reported; /* of its bytes, those in an earlier line */
};

/*
 * Equal errors of a job: struct fact_error without process, operation and function. Texts as above.
 */
struct job_error {
	char what[16], status[32], transport[32], device[64];
	uint64_t count; /* must follow the members of the key */
};

/* Calls and operations that are open are counted by how long they are at least, in seconds. */
#define JOB_AGES 5
extern const unsigned int job_ages[JOB_AGES];

enum job_exit { JOB_EXIT_0, JOB_EXIT_OTHER, JOB_EXIT_SIGNAL, JOB_EXIT_UNKNOWN, JOB_EXITS };

/* Sums of a job for its line. */
struct job_sums {
	unsigned int ranks;
	uint64_t calls, sends, bytes;
	uint64_t unwatched, unprobed; /* ns */
	uint64_t lost;
};

/* A job's step, or a job without steps. */
struct live_job {
	/* texts as those of a path; "launcher:NUMBER" where there is no batch system */
	char id[256], step[64];
	/* ns, CLOCK_MONOTONIC: when it came, or came again, and the last interval with it alive */
	uint64_t began, seen;
	bool alive; /* in the last interval */
	bool line; /* it has ended in the last interval */
	unsigned int processes; /* alive */
	uint64_t unprobed_now; /* of the process that had most of it in the last interval */
	unsigned int ranks; /* processes that it ever had here */
	uint64_t unwatched; /* ns of its life without all probes... */
	uint64_t unprobed; /* ...of these, those before processes' libraries had any */
	uint64_t late; /* processes with such a time */
	uint64_t lost; /* records that found no room in its life, of whatever job */
	struct job_sums reported; /* in earlier lines */
	uint64_t calls, exits[JOB_EXITS];
	struct live_sums sends, receives;
	/* by age: threads in an MPI call, and those of them that await an operation */
	unsigned int open_calls[JOB_AGES], open_ops[JOB_AGES];
	struct job_path paths[JOB_PATHS + 2]; /* the last two: other ones, out and in */
	unsigned int path_count;
	struct job_error errors[JOB_ERRORS + 1]; /* the last one: all that did not fit */
	unsigned int error_count;
};

/* Whether it is no copy, and no control transfer. */
bool job_path_is_data(const struct job_path *path);

/* The transport and device of most data since the last line, whose bytes go to *most. */
const struct job_path *job_top(const struct live_job *job, uint64_t *most, uint64_t *data);

/* Sums that no line has had; and marks all as had. */
struct job_sums job_unreported(const struct live_job *job);
void job_mark_reported(struct live_job *job);

struct jobs;

/* keep: ns for which a job stays after its end. */
struct jobs *jobs_new(uint64_t keep);
void jobs_free(struct jobs *jobs);

/* Adds the last interval of the view. */
void jobs_add(struct jobs *jobs, const struct live *live);

/* In the order in which they came; the job "other" is the first, and is there once needed. */
size_t jobs_all(const struct jobs *jobs, struct live_job *const **all);

/* Since the begin: jobs that came, that had to go before their time, processes added to "other". */
struct jobs_totals {
	uint64_t came, dropped, folded;
	uint64_t ns, watched; /* of all intervals */
	uint64_t hits; /* of probes */
	double trap_s,
		program_s; /* CPU time of the jobs for them; 0 for intervals where it is unknown */
	double cpu_s; /* of the tracer */
};
const struct jobs_totals *jobs_totals(const struct jobs *jobs);

#endif
