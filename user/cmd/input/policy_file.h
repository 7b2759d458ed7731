/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy that a command is given. */
#ifndef UCXBPF_CMD_INPUT_POLICY_FILE_H
#define UCXBPF_CMD_INPUT_POLICY_FILE_H

struct policy;

/* NULL path: the defaults. NULL: every error is printed, "FILE:LINE: what". */
struct policy *policy_of(const char *path);

#endif
