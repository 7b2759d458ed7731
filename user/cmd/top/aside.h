/* SPDX-License-Identifier: BSD-3-Clause */
/* Warnings would be drawn over by a screen: they wait in a file until it is gone. */
#ifndef UCXBPF_CMD_TOP_ASIDE_H
#define UCXBPF_CMD_TOP_ASIDE_H

struct aside {
	int errors; /* standard error meanwhile; -1: it is itself */
};

#define ASIDE_NONE ((struct aside){ -1 })

/* Before the screen is there. A key does not stop this process any more (SIGTSTP). */
void aside_begin(struct aside *aside);

/* After it: prints the warnings that have waited. */
void aside_end(struct aside *aside);

#endif
