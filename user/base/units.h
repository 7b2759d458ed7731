/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers and durations as people read and write them. exact: every digit. Text is truncated at
 * size like snprintf().
 */
#ifndef UCXBPF_BASE_UNITS_H
#define UCXBPF_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 1234567 -> "1,234,567"; from ten million on "12.3 M" unless exact. */
void unit_count(char *out, size_t size, uint64_t count, bool exact);

/* 1536 -> "1.50 KiB"; exact: "1,536 B". */
void unit_bytes(char *out, size_t size, uint64_t bytes, bool exact);

/* 1234567 ns -> "1.23 ms"; exact: "1,234,567 ns". */
void unit_time(char *out, size_t size, uint64_t ns, bool exact);

/* "12.3 %"; only a part of 0 is shown as 0.0 %, only the whole as 100 %. */
void unit_share(char *out, size_t size, uint64_t part, uint64_t whole);

/*
 * Parses a number and its unit (300ms, 1s, 1.5min, 2h; m is min) up to the first other byte: *end.
 * -EINVAL: malformed; -ERANGE.
 */
int duration_parse(const char *text, const char **end, uint64_t *ns);

/* A whole word as duration_parse() parses it, or a number without a unit, in seconds. */
int seconds_parse(const char *text, double *seconds);

#endif
