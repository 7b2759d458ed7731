/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers scrapes in a process of its own, which has no rights and sees no capture. Clients reach
 * this process alone, and it answers while the reader of the view waits for something.
 */
#ifndef UCXBPF_CMD_SERVE_ANSWER_H
#define UCXBPF_CMD_SERVE_ANSWER_H

#include <stdio.h>

#include "cmd/serve/listen.h"

/* Starts the process, which ends when the returned descriptor is closed; -errno (printed). */
int answer_start(const struct listener *listener);

/*
 * Hands it the next response: write() puts the metrics, in OpenMetrics if open. 0, or
 * -errno; -EPIPE: it has ended.
 */
int answer_give(int fd, int (*write)(void *arg, bool open, FILE *out), void *arg);

#endif
