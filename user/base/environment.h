/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables of a process's environment: which ones captures keep, because they affect how messages
 * travel, and which UCX_* variables each UCX release knows, with all its modules, from UCX's
 * sources at its tags (scripts/ucx-names). UCX itself ignores a misspelt one in silence, or warns
 * of one that only an unloaded module uses.
 */
#ifndef UCXBPF_BASE_ENVIRONMENT_H
#define UCXBPF_BASE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether captures keep a variable of this name. All others are left out: an environment may hold
 * secrets, also in variables named like UCX's.
 */
bool environment_kept(const char *name);

/* Most bytes of names and values that are kept per process. */
#define ENVIRONMENT_ROOM (16u << 10)

/* The table, ended by a row with mask 0: names without "UCX_", a blank after each. */
struct ucx_names {
	uint32_t releases; /* bit 0: 1.10, bit 1: 1.11 and so on */
	const char *names;
};

extern const struct ucx_names ucx_names[];
extern const int ucx_names_newest; /* minor number of the last release of UCX in the table */

/* The same for one name, given with its UCX_ (or MPI_UCX_): the releases that know it. */
uint32_t ucx_name_mask(const char *name);

/* The bit of a version ("1.13.1"); 0: the table does not have it. */
uint32_t ucx_release_mask(const char *version);

/* Both of the above in one call; UCX_NAME_NO_RELEASE: the table lacks the version. */
enum ucx_name { UCX_NAME_KNOWN, UCX_NAME_NOT_KNOWN, UCX_NAME_NO_RELEASE };

#define UCX_NAME_MAX 64 /* bytes with the terminator; a longer name is treated as unknown */

/* The release's most similar name, with its prefix; false: no name is similar. */
bool ucx_name_nearest(const char *name, const char *version, char nearest[UCX_NAME_MAX]);

/* The releases that know it: "1.15 to 1.18"; false: no release does. */
bool ucx_name_releases(const char *name, char releases[UCX_NAME_MAX]);

#endif
