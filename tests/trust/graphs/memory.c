// SPDX-License-Identifier: BSD-3-Clause
#include "trust/graphs/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "fuzz/harness.h"
#include "observe/process/proc.h"
#include "observe/process/remote_private.h"

#define WORDS (PAGE_BYTES / sizeof(uint64_t))
#define SMALL PAGE_BYTES /* reads of objects; larger ones search for them */
#define READ_NS 10000 /* a question to a helper, about */
#define CLOCK_READ_NS 100

struct word {
	uint64_t at, value;
};

static pid_t source;
static made_page fill_made;
static struct map pages; /* address -> its copy; 1: it cannot be read */
static struct map hot; /* pages that the walks of the unchanged process read */
static VEC(struct word) words; /* of these, but zeros */
static VEC(uint64_t) barred; /* mappings without any right */
struct memory_counts memory_counts;

static bool active;
static uint64_t seed, dice, now;
static double share, cold_share; /* of the words that are replaced */
static bool restless; /* each read replaces others */
static unsigned int faulty; /* one page of so many cannot be read; 0: none */
static VEC(struct word) replaced;

static uint64_t mix(uint64_t value)
{
	value += 0x9e3779b97f4a7c15;
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

static uint64_t next(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15;
	return mix(*state);
}

uint64_t memory_dice(uint64_t sides)
{
	return next(&dice) % sides;
}

/* ---- the process as it is ---- */

/* NULL: not readable. */
static const uint8_t *page_of(uint64_t address)
{
	bool fresh;
	uint64_t *known = map_insert(&pages, address, 0, &fresh);

	if (fresh) {
		uint8_t *page = xmalloc(PAGE_BYTES);
		struct iovec local = { page, PAGE_BYTES };
		struct iovec remote = { (void *)(uintptr_t)address, PAGE_BYTES };
		const bool got = process_vm_readv(source, &local, 1, &remote, 1, 0) == PAGE_BYTES;

		*known = got ? (uintptr_t)page : 1;
		if (got)
			harness_spared += PAGE_BYTES;
		else
			free(page);
	}
	return *known == 1 ? NULL : (const uint8_t *)(uintptr_t)*known;
}

uint64_t memory_word(uint64_t address)
{
	const uint8_t *page = page_of(address & ~(uint64_t)(PAGE_BYTES - 1));
	uint64_t value = 0;

	if (page)
		memcpy(&value, page + address % PAGE_BYTES, sizeof(value));
	return value;
}

static int note_barred(void *arg, const struct mapping *mapping)
{
	(void)arg;
	if (!mapping->readable && !mapping->writable && !mapping->executable)
		vec_push(&barred, mapping->start);
	return 0;
}

void memory_open(pid_t pid, made_page fill)
{
	source = pid;
	fill_made = fill;
	process_each_mapping(pid, note_barred, NULL);
}

/* Pages of the walks and their words are noted while nothing is replaced. */
static void note_hot(uint64_t address, const uint8_t *page)
{
	bool fresh;

	map_insert(&hot, address, 0, &fresh);
	for (size_t i = 0; fresh && i < WORDS; i++) {
		uint64_t value;

		memcpy(&value, page + i * sizeof(value), sizeof(value));
		if (value)
			vec_push(&words, ((struct word){ address + i * sizeof(value), value }));
	}
}

/* ---- what replaces a word ---- */

static const uint64_t numbers[] = {
	0,          1,         2,          8,          0x7f,       0xff,
	0xffff,     4096,      INT32_MAX,  UINT32_MAX, 1ull << 31, 1ull << 32,
	1ull << 47, INT64_MAX, 1ull << 63, UINT64_MAX,
};

static const uint64_t wild[] = {
	8,
	0x1000,
	(1ull << 47) - 8,
	(1ull << 47) - PAGE_BYTES,
	1ull << 56,
	0x8000000000000000,
	0xffff888000000000,
	0xffffffff81000000,
	0xffffffffff600000,
	0xfffffffffffffff8,
};

static struct word any_word(uint64_t *state)
{
	return words.len ? words.data[next(state) % words.len] : (struct word){ 0 };
}

static uint64_t any_barred(uint64_t *state)
{
	return barred.len ? barred.data[next(state) % barred.len] + next(state) % 64 : 0;
}

static uint64_t value_for(uint64_t *state, uint64_t at, uint64_t old)
{
	const uint64_t random = next(state);

	switch (next(state) % 16) {
	case 0:
	case 1:
	case 2: /* another one's: swapped objects */
		return any_word(state).value;
	case 3:
	case 4: /* a place in another object, or in front of it */
		return any_word(state).at - random % 8 * sizeof(old);
	case 5: /* itself */
		return at - random % 4 * sizeof(old);
	case 6:
		return numbers[random % ARRAY_SIZE(numbers)];
	case 7:
		return wild[random % ARRAY_SIZE(wild)];
	case 8:
		return any_barred(state);
	case 9: /* a little beside */
		return old + random % 129 - 64;
	case 10: /* the end of a page, behind which there may be none */
		return (old | (PAGE_BYTES - 1)) - random % 16;
	case 11:
		return old ^ 1ull << random % 64;
	case 12: /* one of two fields */
		return (old & 0xffffffff00000000) | (uint32_t)numbers[random % ARRAY_SIZE(numbers)];
	case 13:
		return (old & UINT32_MAX) | numbers[random % ARRAY_SIZE(numbers)] << 32;
	case 14: /* bytes of a text */
		return (old & ~(0xffull << random % 8 * 8)) | (random >> 8 & 0xff)
								      << random % 8 * 8;
	}
	return random;
}

uint64_t memory_value(uint64_t at, uint64_t old)
{
	return value_for(&dice, at, old);
}

uint64_t memory_pointer(void)
{
	return any_word(&dice).value;
}

void memory_replace(uint64_t address, uint64_t value)
{
	vec_push(&replaced, ((struct word){ address, value }));
}

/* ---- a graph ---- */

void memory_begin(uint64_t graph)
{
	static const double shares[] = { 0, 0, 0, 0.0005, 0.005, 0.05, 0.3, 1 };

	seed = dice = graph ? mix(graph) : 0;
	replaced.len = 0;
	share = graph ? shares[memory_dice(ARRAY_SIZE(shares))] : 0;
	cold_share = share < 0.002 ? share : 0.002;
	restless = graph && !memory_dice(16);
	faulty = graph && !memory_dice(16) ? 1 + (unsigned int)memory_dice(256) : 0;
	/* else single words: what one of them does, no other hides */
	for (uint64_t n = graph && !share ? 1 + memory_dice(4) : 0; n && words.len; n--) {
		const struct word word = any_word(&dice);

		memory_replace(word.at, memory_value(word.at, word.value));
	}
	now = 0;
	active = true;
}

void memory_end(void)
{
	active = false;
}

/* From one replaced word to the next, where that share of all is. */
static size_t step(uint64_t *state, double of_all)
{
	const double chosen = (double)(next(state) >> 11) / (1ull << 53);

	return 1 + (size_t)(2 * chosen * (1 / of_all - 1));
}

static void replace_some(uint64_t address, uint8_t *page)
{
	const double own = map_find(&hot, address, 0) ? share : cold_share;
	uint64_t state = mix(seed ^ address ^ (restless ? now << 32 : 0));

	for (size_t i = own > 0 ? step(&state, own) - 1 : WORDS; i < WORDS;
	     i += step(&state, own)) {
		uint64_t value;

		memcpy(&value, page + i * sizeof(value), sizeof(value));
		value = value_for(&state, address + i * sizeof(value), value);
		memcpy(page + i * sizeof(value), &value, sizeof(value));
		memory_counts.words++;
	}
	for (size_t i = 0; i < replaced.len; i++)
		if (replaced.data[i].at - address <= PAGE_BYTES - sizeof(uint64_t)) {
			memcpy(page + (replaced.data[i].at - address), &replaced.data[i].value,
			       sizeof(uint64_t));
			memory_counts.words++;
		}
}

/* False: not readable. */
static bool serve_page(uint64_t address, uint8_t *page, bool is_small)
{
	const uint8_t *is = NULL;

	if (address - MADE < 16 * MADE_PART) {
		memset(page, 0, PAGE_BYTES);
		fill_made(address, page);
	} else {
		is = page_of(address);
		if (!is)
			return false;
		memcpy(page, is, PAGE_BYTES);
		if (is_small && !seed)
			note_hot(address, is);
	}
	if (faulty && mix(seed + address) % faulty == 0)
		return false;
	replace_some(address, page);
	return true;
}

static long serve_memory(const struct remote_request *request, void *buffer)
{
	static const int errors[] = { EFAULT, ESRCH, EPERM, EACCES, ETIME, EAGAIN, EIO };
	size_t done = 0;

	memory_counts.reads++;
	now += READ_NS;
	while (done < request->size) {
		const uint64_t at = request->address + done, offset = at % PAGE_BYTES;
		size_t part = PAGE_BYTES - offset;
		uint8_t page[PAGE_BYTES];

		if (!serve_page(at - offset, page, request->size <= SMALL))
			break;
		part = part < request->size - done ? part : request->size - done;
		memcpy((uint8_t *)buffer + done, page + offset, part);
		done += part;
	}
	if (done)
		return (long)done;
	return faulty ? -errors[mix(seed ^ request->address) % ARRAY_SIZE(errors)] : -EFAULT;
}

/* Text that the process has in its memory: whatever of it is the process's. */
static void replace_text(char *text, long size)
{
	for (uint64_t n = memory_dice(16); n && size > 0; n--) {
		const uint64_t at = memory_dice((uint64_t)size);

		text[at] = memory_dice(4) ? (char)memory_dice(256) : '\0';
	}
}

long __real_remote_ask(struct remote_request *request, void *buffer);
long __wrap_remote_ask(struct remote_request *request, void *buffer);

/* All that a tracer reads of processes and their files is asked for there. */
long __wrap_remote_ask(struct remote_request *request, void *buffer)
{
	const bool was_active = active;
	long got;

	if (active && request->pid == source && !*request->name)
		return serve_memory(request, buffer);
	active = false;
	got = __real_remote_ask(request, buffer);
	active = was_active;
	if (active && seed && request->pid == source && strcmp(request->name, "maps") &&
	    strcmp(request->name, "exe"))
		replace_text(buffer, got);
	return got;
}

int __real_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time);

/* Deadlines of a graph pass after the same read whatever else the machine does. */
int __wrap_clock_gettime(clockid_t id, struct timespec *time)
{
	const int err = __real_clock_gettime(id, time);
	const uint64_t began = 1000000000ull;

	if (active && id == CLOCK_MONOTONIC) {
		now += CLOCK_READ_NS;
		time->tv_sec = (time_t)((began + now) / 1000000000);
		time->tv_nsec = (long)((began + now) % 1000000000);
	}
	return err;
}
