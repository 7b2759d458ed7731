/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node's part of `attach --all-nodes`, and its protocol with the process that gathers. On its
 * standard output, where lines that begin with other words are somebody else's, such as a shell's
 * greeting:
 *
 * - SEND_READY: records have begun
 * - SEND_CAPTURE and a number: so many bytes of the capture follow
 *
 * It ends its trace when its standard input ends. So nodes need no shared folder, and the user who
 * asked owns the captures. Until then a capture is a file without a name, which leaves nothing
 * behind.
 */
#ifndef UCXBPF_CMD_NODES_SEND_H
#define UCXBPF_CMD_NODES_SEND_H

#include <stdbool.h>

#include "cmd/trace/temporary.h"

#define SEND_READY "ucxbpf-ready"
#define SEND_CAPTURE "ucxbpf-capture "

struct send {
	struct temporary temporary; /* where the capture goes until records begin */
	int fd; /* then */
};

/* 0, or -errno (printed). */
int send_open(struct send *send);

/* Records have begun: announces that, and unlinks the file. 0, or -errno (printed). */
int send_ready(struct send *send);

/* Whether the process that started this one wants no more records, or is gone. */
bool send_over(void);

/* The capture, which is whole. 0, or -errno (printed). */
int send_capture(struct send *send);

void send_close(struct send *send);

#endif
