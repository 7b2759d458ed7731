/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of --ready, which says that records begin. NULL: none is wanted. */
#ifndef UCXBPF_CMD_TRACE_READY_H
#define UCXBPF_CMD_TRACE_READY_H

/* Before anything is done: whether there is a place for it. 0, or -errno (printed). */
int ready_check(const char *path);

/* 0, or -errno (printed). */
int ready_write(const char *path);

#endif
