// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/dwarf_fields.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct named_type {
	const char *name;
	Dwarf_Die die;
};

struct dwarf_types {
	VEC(struct named_type) all;
};

/* Types that libucp's and libuct's own sources define, to keep the list short. */
static bool is_ours(const char *name)
{
	return name && (!strncmp(name, "ucp_", 4) || !strncmp(name, "uct_", 4));
}

static bool is_definition(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	if (tag == DW_TAG_typedef)
		return true;
	return (tag == DW_TAG_structure_type || tag == DW_TAG_union_type) &&
	       !dwarf_hasattr(die, DW_AT_declaration);
}

static void collect(struct dwarf_types *types, Dwarf_Die *unit)
{
	Dwarf_Die die;

	if (dwarf_child(unit, &die))
		return;
	do {
		const char *name = dwarf_diename(&die);

		if (is_ours(name) && is_definition(&die))
			vec_push(&types->all, ((struct named_type){ name, die }));
	} while (!dwarf_siblingof(&die, &die));
}

struct dwarf_types *dwarf_types_new(Dwarf *dwarf)
{
	struct dwarf_types *types = calloc(1, sizeof(*types));
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	if (!types)
		return NULL;
	while (!dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL))
		collect(types, &unit);
	return types;
}

void dwarf_types_free(struct dwarf_types *types)
{
	if (types)
		vec_release(&types->all);
	free(types);
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, type) && !dwarf_peel_type(type, type);
}

static bool find_type(struct dwarf_types *types, const char *name, Dwarf_Die *type)
{
	for (size_t i = 0; i < types->all.len; i++) {
		Dwarf_Die *die = &types->all.data[i].die;

		if (strcmp(types->all.data[i].name, name) || dwarf_peel_type(die, type))
			continue;
		/* a typedef of a struct that this unit only declares leads nowhere */
		if (dwarf_haschildren(type) && !dwarf_hasattr(type, DW_AT_declaration))
			return true;
	}
	return false;
}

static unsigned int location_of(Dwarf_Die *member)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(member, DW_AT_data_member_location, &attribute) ||
	    dwarf_formudata(&attribute, &value))
		return 0;
	return (unsigned int)value;
}

static bool find_member(Dwarf_Die *type, const char *name, size_t length, Dwarf_Die *found,
			unsigned int *offset)
{
	Dwarf_Die member;

	if (dwarf_child(type, &member))
		return false;
	do {
		const char *own = dwarf_diename(&member);
		unsigned int inner = 0;
		Dwarf_Die inner_type;

		if (dwarf_tag(&member) != DW_TAG_member)
			continue;
		if (own && strlen(own) == length && !strncmp(own, name, length)) {
			*offset += location_of(&member);
			*found = member;
			return true;
		}
		if (!own && type_of(&member, &inner_type) &&
		    find_member(&inner_type, name, length, found, &inner)) {
			*offset += location_of(&member) + inner;
			return true;
		}
	} while (!dwarf_siblingof(&member, &member));
	return false;
}

/* Follows a path; *type becomes the last member's type. */
static int walk(struct dwarf_types *types, const char *name, const char *path, Dwarf_Die *type,
		unsigned int *offset)
{
	*offset = 0;
	if (!find_type(types, name, type))
		return -ENOENT;
	while (*path) {
		size_t length = strcspn(path, ".");
		Dwarf_Die member;

		if (!find_member(type, path, length, &member, offset) || !type_of(&member, type))
			return -ENOENT;
		path += length + (path[length] == '.');
	}
	return 0;
}

int dwarf_field_offset(struct dwarf_types *types, const char *type, const char *member,
		       unsigned int *offset)
{
	unsigned int found;
	Dwarf_Die die;

	if (walk(types, type, member, &die, &found))
		return -ENOENT;
	if (!*member) {
		int size = dwarf_bytesize(&die);

		if (size < 0)
			return -ENOENT;
		found = (unsigned int)size;
	}
	*offset = found;
	return 0;
}

int dwarf_array_length(struct dwarf_types *types, const char *type, const char *member,
		       unsigned int *length)
{
	unsigned int offset;
	Dwarf_Word size, element;
	Dwarf_Die die, element_type;

	if (walk(types, type, member, &die, &offset) || dwarf_tag(&die) != DW_TAG_array_type ||
	    dwarf_aggregate_size(&die, &size) || !type_of(&die, &element_type) ||
	    dwarf_aggregate_size(&element_type, &element) || !element)
		return -ENOENT;
	*length = (unsigned int)(size / element);
	return 0;
}
