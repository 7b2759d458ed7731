// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/harness.h"

#include <sanitizer/allocator_interface.h>
#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/alloc.h"

size_t harness_spared;

#if __has_feature(address_sanitizer)

#define MOST_MEMORY (256ul << 20)
#define LARGE (1ul << 20)

/* A fault of the program like any other: an input of some KiB that takes so much memory. */
static void on_malloc(const volatile void *data, size_t size)
{
	(void)data;
	if (size < LARGE ||
	    __sanitizer_get_current_allocated_bytes() < MOST_MEMORY + harness_spared)
		return;
	fprintf(stderr, "more than %lu MiB of memory are in use\n", MOST_MEMORY >> 20);
	abort();
}

static void on_free(const volatile void *data)
{
	(void)data;
}

static void watch_memory(void)
{
	__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
}

const char *__asan_default_options(void);

/*
 * Freed memory is kept for less than usual, and stacks are short: a run takes less than 1 MiB, and
 * half of its time went into these. For a look at a fault: ASAN_OPTIONS=malloc_context_size=30.
 */
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=2:malloc_context_size=2:max_malloc_fill_size=0:"
	       "allocator_may_return_null=1:detect_leaks=1";
}

#else

static void watch_memory(void)
{
}

#endif

/*
 * The heap stays as large as it was, and only tables, which a run hardly touches, come from the
 * kernel, as zeros. AddressSanitizer has its own.
 */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 512 << 10);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	mallopt(M_TOP_PAD, 1 << 20);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	alloc_json();
	keep_memory();
	watch_memory();
	return 0;
}

bool harness_shows(const uint8_t *data, size_t size)
{
#ifdef FUZZ_FAST
	return XXH3_64bits(data, size) % FUZZ_FAST == 0;
#else
	(void)data;
	(void)size;
	return true;
#endif
}

void harness_fail(const char *what)
{
	fprintf(stderr, "wrong: %s\n", what);
	abort();
}

void harness_check_json(const char *text, size_t size)
{
	json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);

	if (!json)
		harness_fail("a result is not JSON");
	json_decref(json);
}

void bytes_add(bytes *to, const void *data, size_t size)
{
	if (!size)
		return;
	if (to->cap < to->len + size)
		vec_reserve(to, 2 * (to->len + size));
	memcpy(to->data + to->len, data, size);
	to->len += size;
}

/* For each of them the processor is asked for its features, which takes long in a guest. */
HARNESS_KEEP(ZSTD_DCtx, ZSTD_createDCtx, ZSTD_freeDCtx, 256ul << 10,
	     ZSTD_DCtx_reset(one, ZSTD_reset_session_and_parameters))
HARNESS_KEEP(ZSTD_CCtx, ZSTD_createCCtx, ZSTD_freeCCtx, 4ul << 20,
	     ZSTD_CCtx_reset(one, ZSTD_reset_session_and_parameters))

#define FRAME_MAGIC 0xfd2fb528u
#define FRAME_SIZED 0xa0 /* one segment, content size in four bytes */
#define BLOCK_MOST (128u << 10)

void bytes_add_frame(bytes *to, const void *data, size_t size)
{
	const uint32_t magic = FRAME_MAGIC, content = (uint32_t)size;
	const uint8_t sized = FRAME_SIZED;
	size_t done = 0;

	bytes_add(to, &magic, sizeof(magic));
	bytes_add(to, &sized, sizeof(sized));
	bytes_add(to, &content, sizeof(content));
	do {
		size_t n = size - done < BLOCK_MOST ? size - done : BLOCK_MOST;
		const uint32_t head = (uint32_t)n << 3 | (done + n == size);

		bytes_add(to, &head, 3);
		bytes_add(to, (const uint8_t *)data + done, n);
		done += n;
	} while (done < size);
}

static int files[HARNESS_FILES];

int harness_file(unsigned int number, const bytes *content)
{
	if (!files[number])
		files[number] = memfd_create("fuzz", MFD_CLOEXEC);
	if (files[number] < 0 || ftruncate(files[number], 0) || lseek(files[number], 0, SEEK_SET) ||
	    pwrite(files[number], content->data, content->len, 0) != (ssize_t)content->len)
		abort();
	return files[number];
}

const char *harness_path(unsigned int number)
{
	static char paths[HARNESS_FILES][32];

	snprintf(paths[number], sizeof(paths[number]), "/proc/self/fd/%d", files[number]);
	return paths[number];
}
