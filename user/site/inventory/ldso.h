/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the dynamic loader would find, determined from files (ld.so(8)): its cache, LD_LIBRARY_PATH,
 * the run paths of libraries. Nothing is loaded: a library's constructors are foreign code, and we
 * may be root. Private to inventory/.
 */
#ifndef UCXBPF_INVENTORY_LDSO_H
#define UCXBPF_INVENTORY_LDSO_H

#include "base/vec.h"

struct ldso_entry {
	const char *name, *path;
};

struct ldso_known {
	char *path, *missing;
};

struct ldso {
	char *cache; /* /etc/ld.so.cache, with a terminating NUL */
	VEC(struct ldso_entry) entries; /* of it */
	VEC(char *) folders; /* of LD_LIBRARY_PATH */
	VEC(struct ldso_known) known; /* files examined so far */
};

void ldso_init(struct ldso *ld);
void ldso_release(struct ldso *ld);

/*
 * Why the loader would refuse a library, the caller's; NULL: it would not. home: a folder whose UCX
 * is loaded before ("libucs.so.0" of a module), NULL: none.
 */
char *ldso_refuses(struct ldso *ld, const char *path, const char *home);

#endif
