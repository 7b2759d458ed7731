/* SPDX-License-Identifier: BSD-3-Clause */
/* Many subjects of findings as one word. */
#ifndef UCXBPF_JUDGE_SUBJECTS_H
#define UCXBPF_JUDGE_SUBJECTS_H

#include <stddef.h>

/*
 * n0, n1, n2 -> "n[0-2]"; n0:mlx5_0, n1:mlx5_0 -> "n[0-1]:mlx5_0"; all pairs of some nodes ->
 * "n[0-3]>n[0-3]". What does not fold stands beside it, after a comma; of more than most such parts
 * (0: any number) the rest is counted. The caller frees it.
 */
char *subjects_fold(const char *const *subjects, size_t count, size_t most);

#endif
