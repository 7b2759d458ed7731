/* SPDX-License-Identifier: BSD-3-Clause */
/* The distribution's own libraries, as test material; a test is skipped where they are not. */
#ifndef TARGET_STOCK_H
#define TARGET_STOCK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "observe/process/elf.h"

/* Opens DIR/name from the usual library directories; skips the test if there is none. */
static inline struct elf *stock_open(const char *name)
{
	static const char *const directories[] = {
		"/usr/lib/x86_64-linux-gnu",
		"/usr/lib/aarch64-linux-gnu",
		"/usr/lib64",
		"/usr/lib",
	};
	struct elf *elf;
	char path[256];

	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
		snprintf(path, sizeof(path), "%s/%s", directories[i], name);
		if (!access(path, R_OK)) {
			assert_int_equal(elf_load(&elf, path), 0);
			return elf;
		}
	}
	print_message("%s is not installed\n", name);
	skip();
	return NULL;
}

/* Whether the expected numbers, those of Debian 12's build, hold for this file. */
static inline int stock_is(const struct elf *elf, const char *build_id)
{
	return !strcmp(elf_build_id(elf), build_id);
}

#define DEBIAN_UCT "3a16b6fd784e16e8791113e2c5d3e934eb595370"
#define DEBIAN_UCT_IB "45738f5f8279122e87ffedfa8b79a1832a2d82b3"
#define DEBIAN_UCP "22f8d37b580aa9aa63c01be332aaaed689ae0529"

#endif
