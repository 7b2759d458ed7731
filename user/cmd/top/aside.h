/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps warnings in a file while a screen is shown, which would overwrite them. */
#ifndef UCXBPF_CMD_TOP_ASIDE_H
#define UCXBPF_CMD_TOP_ASIDE_H

struct aside {
	int errors; /* copy of standard error while it goes to the file; -1: it does not */
};

#define ASIDE_NONE ((struct aside){ -1 })

/* Before the screen opens. From then on SIGTSTP, which a key sends, is ignored. */
void aside_begin(struct aside *aside);

/* After the screen has closed: prints the warnings. */
void aside_end(struct aside *aside);

#endif
