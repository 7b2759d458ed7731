/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of side records (docs/side-records.md). */
#ifndef UCXBPF_PROCESS_RECORD_H
#define UCXBPF_PROCESS_RECORD_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

/* A record of that type with tgid and ts; the caller's. */
json_t *record_new(const char *type, pid_t tgid, uint64_t ts);

/* Sets nothing for NULL or "". A byte that is not UTF-8 becomes ?, as in all texts of side records.
 */
void record_text(json_t *record, const char *name, const char *text);

/*
 * Keeps only the first word of a command line, the program; NULL: none. The others may hold
 * secrets.
 */
void record_cut(json_t *words);

/* As json_hex(). */
void record_hex(json_t *record, const char *name, uint64_t value);
void record_integer(json_t *record, const char *name, int64_t value);

#endif
