/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How to know a UCT interface when one sees its first words: an interface begins with its
 * uct_iface_ops_t, copied from a table whose functions lie at known addresses.
 */
#ifndef UCXBPF_TARGET_SIGNATURES_H
#define UCXBPF_TARGET_SIGNATURES_H

#include "base/vec.h"
#include "observe/process/library.h"

struct signature {
	uint64_t address; /* of a function in the process */
	unsigned int table; /* which table it is from */
	unsigned int slot;
};

struct signature_table {
	uint64_t slot[ELF_OPS_SLOTS]; /* addresses in the process, 0 = not known */
};

struct signatures {
	VEC(struct signature) all; /* the rarest function of each table, by address */
	VEC(struct signature_table) tables;
	uint64_t lowest, highest; /* of the addresses */
};

/* From all UCT libraries of a process. */
void signatures_init(struct signatures *signatures, const mapped_libraries *mapped);
void signatures_release(struct signatures *signatures);

/* Most words of a heap are none of the functions: a cheap first test. */
static inline bool signatures_may_match(const struct signatures *signatures, uint64_t word)
{
	return word - signatures->lowest <= signatures->highest - signatures->lowest;
}

/*
 * Whether a word at `at`, inside a copied block of words that starts at block and has count words,
 * is part of an interface; then *iface is the index of its first word.
 */
bool signatures_match(const struct signatures *signatures, const uint64_t *block, size_t count,
		      size_t at, size_t *iface);

#endif
