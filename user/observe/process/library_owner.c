// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/library_owner.h"

#include <string.h>

static size_t directory_length(const char *path, size_t length)
{
	while (length && path[length - 1] != '/')
		length--;
	return length ? length - 1 : 0;
}

static bool lies_in(const char *path, const char *directory, size_t length)
{
	return directory_length(path, strlen(path)) == length && !strncmp(path, directory, length);
}

static const struct library *ucp_in(const mapped_libraries *mapped, const char *directory,
				    size_t length)
{
	for (size_t i = 0; i < mapped->len; i++) {
		const struct library *library = mapped->data[i].library;

		if (library->roles & LIB_UCP && lies_in(library->path, directory, length))
			return library;
	}
	return NULL;
}

static const struct library *only_ucp(const mapped_libraries *mapped)
{
	const struct library *found = NULL;

	for (size_t i = 0; i < mapped->len; i++) {
		const struct library *library = mapped->data[i].library;

		if (!(library->roles & LIB_UCP) || library == found)
			continue;
		if (found)
			return NULL;
		found = library;
	}
	return found;
}

const struct library *library_owner_ucp(const mapped_libraries *mapped,
					const struct library *library)
{
	const struct library *found;
	size_t length = directory_length(library->path, strlen(library->path));

	if (library->roles & LIB_UCP)
		return library;
	found = ucp_in(mapped, library->path, length);
	if (!found)
		found = ucp_in(mapped, library->path, directory_length(library->path, length));
	return found ? found : only_ucp(mapped);
}
