/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UCXBPF_FILE_SORT_H
#define UCXBPF_FILE_SORT_H

#include "file/codec.h"

/*
 * Sorts rows by ts; rows of equal ts keep their order. spare: room for n rows. Returns where the
 * result is: rows or spare.
 */
struct block_row *rows_sort(struct block_row *rows, struct block_row *spare, size_t n);

#endif
