/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an export goes: written beside its place, moved there when it is whole. */
#ifndef UCXBPF_EXPORT_OUTLET_H
#define UCXBPF_EXPORT_OUTLET_H

#include "show/export/export.h"

struct outlet {
	FILE *file; /* of a stream */
	char *path; /* what is written: NULL where that is a device or standard output */
	char *place; /* where it is to be */
	enum export_place kind;
	int fd; /* below file */
	int err; /* of the first write that failed, -errno */
};

/* path NULL: standard output. Returns 0 or -errno, with *why (static) or NULL. */
int outlet_open(struct outlet *outlet, const char *path, enum export_place kind, const char **why);

/* Closes and moves it to its place. Returns 0 or -errno, also of earlier writes. */
int outlet_keep(struct outlet *outlet);

/* Closes and removes what was not kept. */
void outlet_release(struct outlet *outlet);

#endif
