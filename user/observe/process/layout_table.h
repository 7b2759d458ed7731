/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per UCX version and build; read by layout.c only. */
#ifndef UCXBPF_TARGET_LAYOUT_TABLE_H
#define UCXBPF_TARGET_LAYOUT_TABLE_H

#include "observe/process/layout.h"

extern const struct layout layout_table[];
extern const unsigned int layout_table_size;

#endif
