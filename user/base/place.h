/* SPDX-License-Identifier: BSD-3-Clause */
/* A place in a program's code, as far as it is known: where a call came from. */
#ifndef UCXBPF_BASE_PLACE_H
#define UCXBPF_BASE_PLACE_H

#include <stdint.h>

enum file_sort {
	FILE_UNKNOWN,
	FILE_LIBRARY, /* in a shared library */
	FILE_PROGRAM, /* in an executable: the program of a process */
};

/* Strings are interned, NULL = unknown: one pointer per text. */
struct place {
	const char *key; /* a unique text for every place, to sort and compare */
	const char *label; /* "cg.c:120", else "main+0x1f", "libsolve.so+0x1234", "0x7f..."; a
			    * name of C++ without parameters (base/demangle.h) */
	const char *frame; /* as one frame of a stack: "main", else the label */
	const char *module, *build_id; /* the file that contains it */
	enum file_sort sort; /* of that file */
	const char *symbol, *file;
	const char *demangled; /* the demangled symbol; NULL: not C++ */
	const char *library; /* that calls UCP from here: "UCC", "Charm++"; NULL: none */
	const char *role; /* of its file: "program", "mpi", "other"...; NULL: not known */
	const char *reason; /* why the module is not known */
	uint64_t address; /* in its process: the return address */
	uint64_t offset; /* in the module, link-time address */
	uint64_t symbol_offset; /* from the symbol's start */
	int line; /* 0 = not known */
};

/* How a call was reached. Its frames are the places that each function returns to. */
struct stack {
	const char *key; /* a unique text for every path */
	const struct place *const *frames; /* the innermost first: what called MPI */
	int depth;
	const char *end; /* why the outer frames are missing; NULL: the stack is complete */
};

#endif
