/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines from a descriptor that does not block. Private to sweep/. */
#ifndef UCXBPF_SWEEP_LINES_H
#define UCXBPF_SWEEP_LINES_H

#include <stdbool.h>
#include <stddef.h>

#define LINES_MAX 4096 /* what is longer is cut */

struct lines {
	int fd;
	char text[LINES_MAX];
	size_t length;
};

/* Hands over all that has come, without its end; false: nothing will come any more. */
bool lines_read(struct lines *lines, void (*each)(void *context, char *line), void *context);

#endif
