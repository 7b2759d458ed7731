/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader of `top`: a screen, or an object per interval. */
#ifndef UCXBPF_CMD_TOP_SHOW_H
#define UCXBPF_CMD_TOP_SHOW_H

#include "cmd/live/reader.h"

/* struct reader_options.show; arg: bool *, whether JSON is wanted. */
int show_top(void *arg, int fd, const struct reader_options *options);

/* The exit status where standard output cannot be written: -errno (printed). */
int top_unwritten(int err);

#endif
