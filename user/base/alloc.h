/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocations whose callers need no check: when memory runs out, a line on stderr says so and the
 * program ends at once, without exit handlers and without flushing output. Code that can go on
 * without the memory, or must clean up first (a capture that begins), calls malloc() and returns
 * -ENOMEM. free() releases all of these.
 */
#ifndef UCXBPF_BASE_ALLOC_H
#define UCXBPF_BASE_ALLOC_H

#include <argp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* The exit status of the program when memory runs out; UCXBPF_EXIT_FAILED until set. */
void alloc_set_status(int status);

/* Prints the message and ends the program. */
void alloc_failed(void) __attribute__((noreturn));

/*
 * From now on the JSON library uses these, too: it would drop values that it finds no memory for.
 * Not while a capture is made, which must end in order.
 */
void alloc_json(void);

void *xmalloc(size_t size) __attribute__((malloc));
void *xcalloc(size_t count, size_t size) __attribute__((malloc));
void *xreallocarray(void *data, size_t count, size_t size);

char *xstrdup(const char *text) __attribute__((malloc));
char *xstrndup(const char *text, size_t size) __attribute__((malloc));
char *xasprintf(const char *format, ...) __attribute__((malloc, format(printf, 1, 2)));
char *xvasprintf(const char *format, va_list args) __attribute__((malloc, format(printf, 1, 0)));

/* getline(3), which would report a lack of memory as the end of the file. */
ssize_t xgetline(char **line, size_t *room, FILE *file);

/*
 * argp_parse(3) without an index, which returns ENOMEM in silence; -h is --help. Its messages
 * cannot steer a terminal.
 */
int xargp_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

/* A stream into memory: fclose() sets *text, 0-terminated and the caller's to free, and *size. */
FILE *xmemstream(char **text, size_t *size);

#endif
