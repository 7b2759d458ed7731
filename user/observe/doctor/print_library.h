/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of doctor's text that is about libraries and where their probes go. Private to doctor/.
 */
#ifndef UCXBPF_DOCTOR_PRINT_LIBRARY_H
#define UCXBPF_DOCTOR_PRINT_LIBRARY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* A member's text, "-" where it has none. */
const char *doctor_text(const json_t *object, const char *key);

/* verbose: every site with its place. */
void doctor_print_library(const json_t *library, bool verbose, FILE *out);

/* All libraries together: sites by what a probe there is expected to cost. */
void doctor_print_placement(const json_t *processes, FILE *out);

#endif
