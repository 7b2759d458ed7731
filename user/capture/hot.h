/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes on what a job does all the time. With windows they come and go; those that only say what
 * is there (lives of objects) stay, so that names stay right. Plans are kept, and so are the files
 * that they are for: whoever mapped one may be gone by the next window.
 */
#ifndef UCXBPF_CAPTURE_HOT_H
#define UCXBPF_CAPTURE_HOT_H

#include <stdbool.h>

#include "base/vec.h"
#include "probe/links.h"

struct hot_file {
	int fd;
	VEC(struct link_probe) probes;
};

struct hot {
	struct links links;
	bool comes_back; /* plans are kept for another window */
	bool away; /* between windows: what is added waits */
	VEC(struct hot_file) files;
};

void hot_init(struct hot *hot, enum link_mechanism mechanism, const struct link_programs *programs,
	      bool comes_back);

/* Detaches everything and waits until the kernel has let go. */
void hot_release(struct hot *hot);

/* As links_attach(). Between windows nothing is attached yet, and nothing refused. */
int hot_add(struct hot *hot, const char *path, const struct link_probe *probes, size_t n,
	    size_t *refused);

/* All away, without waiting for the kernel. */
void hot_detach(struct hot *hot);

/* All back in place; -errno as links_attach() of the last file that failed. */
int hot_attach(struct hot *hot);

/* As links_drop_call_returns(), also of windows to come. */
void hot_drop_call_returns(struct hot *hot);

#endif
