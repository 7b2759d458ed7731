/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of existing.h: existing.c reads objects, existing_queues.c the queues of workers. */
#ifndef UCXBPF_CAPTURE_EXISTING_PRIVATE_H
#define UCXBPF_CAPTURE_EXISTING_PRIVATE_H

#include "observe/capture/existing.h"

/* False: all processes with that copy of UCX have ended, and the layout may be freed. */
bool existing_is_in_use(const struct existing *existing, const struct layout *layout);

/* As existing_read(), but keeps the list of the processes, with the number of their workers. */
void existing_read_all(struct existing *existing);
void existing_forget_unread(struct existing *existing);

#endif
