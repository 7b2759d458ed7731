/* SPDX-License-Identifier: BSD-3-Clause */
/* What all targets share: files in memory, and texts that grow. */
#ifndef TESTS_FUZZ_HARNESS_H
#define TESTS_FUZZ_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

typedef VEC(uint8_t) bytes;

void bytes_add(bytes *to, const void *data, size_t size);

/* Appends one zstd frame that holds the data as it is: made in no time, and whole whatever it is.
 */
void bytes_add_frame(bytes *to, const void *data, size_t size);

/* Files in memory, kept from run to run. */
#define HARNESS_FILES 4

/* The file of that number, with this content and nothing else; its descriptor. */
int harness_file(unsigned int number, const bytes *content);

/* Its name, for who opens files by name. */
const char *harness_path(unsigned int number);

/* Bytes that do not count as memory in use: they are kept from run to run, or never touched. */
extern size_t harness_spared;

/* Ends the program with what is wrong. */
void harness_fail(const char *what) __attribute__((noreturn));

/*
 * Stands in for a pair of functions (-Wl,--wrap): an object that is freed becomes the next one that
 * is made, after a statement about `one` that clears it.
 */
#define HARNESS_KEEP(type, make, unmake, bytes, clear)                                             \
	type *__real_##make(void);                                                                 \
	type *__wrap_##make(void);                                                                 \
	size_t __wrap_##unmake(type *one);                                                         \
                                                                                                   \
	static VEC(type *) kept_##make;                                                            \
                                                                                                   \
	type *__wrap_##make(void)                                                                  \
	{                                                                                          \
		if (kept_##make.len)                                                               \
			return kept_##make.data[--kept_##make.len];                                \
		harness_spared += (bytes);                                                         \
		return __real_##make();                                                            \
	}                                                                                          \
                                                                                                   \
	size_t __wrap_##unmake(type *one)                                                          \
	{                                                                                          \
		if (one) {                                                                         \
			clear;                                                                     \
			vec_push(&kept_##make, one);                                               \
		}                                                                                  \
		return 0;                                                                          \
	}

/* Whether the results of this input are written: always, by a fast build for a few. */
bool harness_shows(const uint8_t *data, size_t size);

/* A result has to be JSON, whatever it was made of. */
void harness_check_json(const char *text, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *other,
				 size_t other_size, uint8_t *out, size_t most, unsigned int seed);

#endif
