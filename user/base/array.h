/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UCXBPF_BASE_ARRAY_H
#define UCXBPF_BASE_ARRAY_H

/* Elements of an array, not of a pointer to its first. */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

#endif
