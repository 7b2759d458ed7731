// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "observe/process/layout_table.h"

/* Releases whose structs equal those of a row, see docs/layouts.md for how that was established. */
static const struct {
	unsigned int version[3], row[3];
} same_structs[] = {
	{ { 1, 13, 0 }, { 1, 13, 1 } }, { { 1, 14, 1 }, { 1, 14, 0 } },
	{ { 1, 18, 0 }, { 1, 18, 1 } }, { { 1, 19, 1 }, { 1, 19, 0 } },
	{ { 1, 20, 1 }, { 1, 20, 0 } },
};

static bool is_version(const unsigned int a[3], const unsigned int b[3])
{
	return !memcmp(a, b, 3 * sizeof(*a));
}

static const unsigned int *row_version(const unsigned int version[3])
{
	for (size_t i = 0; i < sizeof(same_structs) / sizeof(*same_structs); i++)
		if (is_version(version, same_structs[i].version))
			return same_structs[i].row;
	return version;
}

static bool is_build(const struct layout *layout, unsigned int request_size,
		     enum ucx_asserts asserts)
{
	return layout->request_size == request_size &&
	       (layout->asserts == UCX_ASSERTS_UNKNOWN || layout->asserts == asserts);
}

const struct layout *layout_find(const unsigned int version[3], unsigned int request_size,
				 enum ucx_asserts asserts)
{
	const unsigned int *row = row_version(version);
	const struct layout *layout;

	for (unsigned int i = 0; (layout = layout_at(i)); i++)
		if (is_build(layout, request_size, asserts) && is_version(layout->version, row))
			return layout;
	return NULL;
}

bool layout_is_row(const struct layout *layout)
{
	return layout >= layout_table && layout < layout_table + layout_table_size;
}

const struct layout *layout_at(unsigned int i)
{
	return i < layout_table_size ? &layout_table[i] : NULL;
}
