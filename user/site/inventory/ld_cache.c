// SPDX-License-Identifier: BSD-3-Clause
/* /etc/ld.so.cache in the form of glibc since 2.1.94: sysdeps/generic/dl-cache.h, cache_file_new.
 */
#include <stdint.h>
#include <string.h>

#include "site/inventory/ld_cache.h"
#include "site/inventory/look.h"

#define MAX_CACHE (16 << 20)

static const char magic[] = "glibc-ld.so.cache1.1";

struct head {
	char magic[20];
	uint32_t count, text_bytes, rest[5];
};

struct entry {
	int32_t flags;
	uint32_t name, path, version; /* offsets from the head */
	uint64_t hardware;
};

static const char *text_at(const char *head, size_t size, uint32_t offset)
{
	return offset < size ? head + offset : "";
}

static void take_entries(struct ldso *ld, const char *head, size_t size)
{
	struct head fields;

	if (size < sizeof(fields))
		return;
	memcpy(&fields, head, sizeof(fields));
	for (uint32_t i = 0; i < fields.count; i++) {
		size_t at = sizeof(fields) + i * sizeof(struct entry);
		struct entry entry;

		if (at + sizeof(entry) > size)
			return;
		memcpy(&entry, head + at, sizeof(entry));
		vec_push(&ld->entries, ((struct ldso_entry){ text_at(head, size, entry.name),
							     text_at(head, size, entry.path) }));
	}
}

void ld_cache_read(struct ldso *ld)
{
	size_t size = 0;
	const char *head;

	ld->cache = look_whole("/etc/ld.so.cache", MAX_CACHE, &size);
	if (!ld->cache)
		return;
	/* an older form may come before it */
	head = memmem(ld->cache, size, magic, sizeof(magic) - 1);
	if (head)
		take_entries(ld, head, size - (size_t)(head - ld->cache));
}
