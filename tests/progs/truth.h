/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger of a workload program: what it really did, written as one JSON line per process, to be
 * compared with what the tracer saw. Thread safe; a program that dies writes its ledger before.
 *
 * $TRUTH names a directory: the line goes to $TRUTH/RANK.json, and the process id to
 * $TRUTH/RANK.pid at the start. Without $TRUTH the line is printed on stdout behind "truth ".
 */
#ifndef UCXBPF_TRUTH_H
#define UCXBPF_TRUTH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRUTH_MAX 256

struct truth_row {
	const char *name; /* MPI function or UCP operation */
	int dst; /* rank in MPI_COMM_WORLD, -1 where it does not apply */
	uint64_t count, bytes;
};

struct truth_table {
	struct truth_row row[TRUTH_MAX];
	int used;
};

static struct truth {
	pthread_mutex_t lock;
	const char *program;
	int rank, size;
	struct truth_table calls, messages, ops;
	uint64_t checksum;
	int unmatched_receives; /* cancelled, or still open at the end */
	char tail[256]; /* more JSON members, each with a leading comma */
} truth = { .lock = PTHREAD_MUTEX_INITIALIZER, .checksum = 14695981039346656037ull };

static inline void truth_add_many(struct truth_table *table, const char *name, int dst,
				  uint64_t count, uint64_t bytes)
{
	int i;

	pthread_mutex_lock(&truth.lock);
	for (i = 0; i < table->used; i++)
		if (table->row[i].dst == dst && !strcmp(table->row[i].name, name))
			break;
	if (i == TRUTH_MAX)
		abort();
	if (i == table->used)
		table->row[table->used++] = (struct truth_row){ .name = name, .dst = dst };
	table->row[i].count += count;
	table->row[i].bytes += bytes;
	pthread_mutex_unlock(&truth.lock);
}

static inline void truth_add(struct truth_table *table, const char *name, int dst, uint64_t bytes)
{
	truth_add_many(table, name, dst, 1, bytes);
}

static inline void truth_call(const char *function)
{
	truth_add(&truth.calls, function, -1, 0);
}

/* For loops that must not wait for the ledger in each turn. */
static inline void truth_calls(const char *function, uint64_t count)
{
	if (count)
		truth_add_many(&truth.calls, function, -1, count, 0);
}

/* A message to rank dst of MPI_COMM_WORLD that function hands over; bytes is the packed payload. */
static inline void truth_message(const char *function, int dst, uint64_t bytes)
{
	truth_add(&truth.messages, function, dst, bytes);
}

static inline void truth_op(const char *op, uint64_t bytes)
{
	truth_add(&truth.ops, op, -1, bytes);
}

static inline void truth_unmatched_receives(int count)
{
	truth.unmatched_receives += count;
}

/* T(MPI_Wait)(&request, &status): makes the call and counts it. */
#define T(function) (truth_call(#function), function)

/* FNV-1a over received data: the program's result. */
static inline void truth_data(const void *data, size_t size)
{
	const unsigned char *byte = data;

	pthread_mutex_lock(&truth.lock);
	while (size--)
		truth.checksum = (truth.checksum ^ *byte++) * 1099511628211ull;
	pthread_mutex_unlock(&truth.lock);
}

static inline FILE *truth_open(const char *suffix)
{
	const char *directory = getenv("TRUTH");
	char path[4096];
	FILE *file;

	if (!directory || !*directory)
		return NULL;
	snprintf(path, sizeof(path), "%s/%d.%s", directory, truth.rank, suffix);
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		exit(2);
	}
	return file;
}

static inline void truth_begin(const char *program, int rank, int size)
{
	FILE *file;

	truth.program = program;
	truth.rank = rank;
	truth.size = size;
	file = truth_open("pid");
	if (file) {
		fprintf(file, "%d\n", getpid());
		fclose(file);
	}
}

static inline void truth_rows(FILE *file, const char *key, const struct truth_table *table)
{
	int i;

	fprintf(file, ",\"%s\":[", key);
	for (i = 0; i < table->used; i++) {
		const struct truth_row *row = &table->row[i];

		fprintf(file, "%s{\"name\":\"%s\",\"dst\":%d,\"count\":%llu,\"bytes\":%llu}",
			i ? "," : "", row->name, row->dst, (unsigned long long)row->count,
			(unsigned long long)row->bytes);
	}
	fputc(']', file);
}

static inline void truth_end(void)
{
	FILE *named = truth_open("json"), *file = named ? named : stdout;

	pthread_mutex_lock(&truth.lock);
	fprintf(file, "%s{\"program\":\"%s\",\"rank\":%d,\"size\":%d,\"pid\":%d",
		named ? "" : "truth ", truth.program, truth.rank, truth.size, getpid());
	truth_rows(file, "calls", &truth.calls);
	truth_rows(file, "messages", &truth.messages);
	truth_rows(file, "ops", &truth.ops);
	fprintf(file, ",\"unmatched_receives\":%d,\"checksum\":\"%016llx\"%s}\n",
		truth.unmatched_receives, (unsigned long long)truth.checksum, truth.tail);
	pthread_mutex_unlock(&truth.lock);
	if (named)
		fclose(named);
	else
		fflush(stdout);
}

#endif
