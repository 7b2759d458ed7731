/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals in words. */
#ifndef UCXBPF_BASE_SIGNAL_NAME_H
#define UCXBPF_BASE_SIGNAL_NAME_H

#include <stddef.h>

/* "signal 6 (SIGABRT)"; of one without a name "signal 35". */
void signal_text(char *out, size_t size, unsigned int number);

#endif
