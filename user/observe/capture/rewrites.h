/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probed files that are rewritten in place. The kernel keeps a probe at its offset although the
 * code there has changed: the next process that maps the file would get a breakpoint in the middle
 * of an instruction. Only writers on this machine are noticed here; those elsewhere are, by the
 * times of the file (library_is_rewritten()).
 */
#ifndef UCXBPF_CAPTURE_REWRITES_H
#define UCXBPF_CAPTURE_REWRITES_H

#include <sys/stat.h>

#include "base/map.h"
#include "base/vec.h"
#include "observe/process/library.h"

/* The warning and the note of a file, with its path. */
#define REWRITTEN                                                                                  \
	"%s was rewritten in place: its probes are removed, and calls by processes that had "      \
	"mapped it before are missing from then on"

struct watched_file {
	int watch;
	uint64_t file; /* its key */
	char *path; /* owned; as its process sees it */
	char *open_path; /* owned; may be another file's by now */
	struct stat st; /* as it was when the file was examined */
	bool timed; /* any write changes its times */
};

struct rewrites {
	int fd; /* readable once a file was written to; -1: there is none */
	VEC(struct watched_file) files;
	VEC(char *) written; /* paths for rewrites_warn() */
};

void rewrites_init(struct rewrites *rewrites);
void rewrites_release(struct rewrites *rewrites);

/*
 * To be called before a file is probed. -ESTALE: its content has changed since it was examined.
 * Files of file systems that might not answer are not watched.
 */
int rewrites_watch(struct rewrites *rewrites, const struct library *library);

/*
 * Adds the keys of the files that were written to, and stops watching them. To open a file for
 * writing does not count, except on tmpfs.
 */
void rewrites_read(struct rewrites *rewrites, struct map *files);

/* Prints a warning for each of them, once their probes are removed. */
void rewrites_warn(struct rewrites *rewrites);

/* Stops watching the files in the map. */
void rewrites_forget(struct rewrites *rewrites, const struct map *files);

#endif
