/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the captures of a job's nodes come together. */
#ifndef UCXBPF_CMD_NODES_FOLDER_H
#define UCXBPF_CMD_NODES_FOLDER_H

/*
 * Makes the given folder, which may be there if it is empty; NULL: one with the job's id (NULL:
 * none) and the time in its name. *folder is its path, to be freed. 0; -EEXIST, -ENOTDIR: another
 * name is needed; -errno (all printed).
 */
int folder_make(const char *given, const char *job, char **folder);

#endif
