/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder of a sweep as it begins. */
#ifndef UCXBPF_CMD_SWEEP_FOLDER_H
#define UCXBPF_CMD_SWEEP_FOLDER_H

/*
 * A new one, with a copy of the policy in it (NULL: none). A folder that is there already is
 * refused: files of two sweeps would be judged as one. 0 or -errno, which is said.
 */
int sweep_folder(const char *folder, const char *policy_path);

#endif
