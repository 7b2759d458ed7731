// SPDX-License-Identifier: BSD-3-Clause
/*
 * The layout of a UCX build: a row of the table, else one made of the offsets of C struct members
 * in debug information.
 */
#include "observe/process/layout.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "observe/process/elf_private.h"

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

static void collect_types(struct dwarf_types *types, Dwarf_Die *unit)
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

/* Borrows dwarf until dwarf_types_free(). */
static struct dwarf_types *dwarf_types_new(Dwarf *dwarf)
{
	struct dwarf_types *types = xcalloc(1, sizeof(*types));
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	while (!dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL))
		collect_types(types, &unit);
	return types;
}

static void dwarf_types_free(struct dwarf_types *types)
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
static int follow_path(struct dwarf_types *types, const char *name, const char *path,
		       Dwarf_Die *type, unsigned int *offset)
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

/*
 * Offset in bytes of member ("send.state.uct_comp"; members of unnamed structs and unions are found
 * through them) in the struct called type, by tag or typedef; member "": the type's size.
 * -ENOENT: not there.
 */
static int dwarf_field_offset(struct dwarf_types *types, const char *type, const char *member,
			      unsigned int *offset)
{
	unsigned int found;
	Dwarf_Die die;

	if (follow_path(types, type, member, &die, &found))
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

/* Number of elements of an array member. -ENOENT. */
static int dwarf_array_length(struct dwarf_types *types, const char *type, const char *member,
			      unsigned int *length)
{
	unsigned int offset;
	Dwarf_Word size, element;
	Dwarf_Die die, element_type;

	if (follow_path(types, type, member, &die, &offset) ||
	    dwarf_tag(&die) != DW_TAG_array_type || dwarf_aggregate_size(&die, &size) ||
	    !type_of(&die, &element_type) || dwarf_aggregate_size(&element_type, &element) ||
	    !element)
		return -ENOENT;
	*length = (unsigned int)(size / element);
	return 0;
}

struct wanted_field {
	unsigned int field; /* offset in struct layout */
	unsigned int width; /* 2: struct ub_layout's, 4: struct layout's own */
	bool optional;
	const char *type, *member; /* "": size of the type */
	const char *other_type, *other_member; /* where older releases have it */
};

#define WIRE(name) offsetof(struct layout, wire.name), 2
#define OWN(name) offsetof(struct layout, name), 4

static const struct wanted_field wanted[] = {
	{ OWN(request_size), false, "ucp_request", "", NULL, NULL },
	{ WIRE(req_size), false, "ucp_request", "", NULL, NULL },
	{ WIRE(req_flags), false, "ucp_request", "flags", NULL, NULL },
	{ WIRE(req_id), true, "ucp_request", "id", NULL, NULL },
	{ WIRE(req_super), false, "ucp_request", "super_req", NULL, NULL },
	{ WIRE(req_ep), false, "ucp_request", "send.ep", NULL, NULL },
	{ WIRE(req_length), true, "ucp_request", "send.length", NULL, NULL },
	{ WIRE(req_proto_config), true, "ucp_request", "send.proto_config", NULL, NULL },
	{ WIRE(req_dt_length), true, "ucp_request", "send.state.dt_iter.length", NULL, NULL },
	{ WIRE(req_uct_comp), false, "ucp_request", "send.state.uct_comp", NULL, NULL },
	{ WIRE(req_msg_id), true, "ucp_request", "send.msg_proto.message_id", NULL, NULL },
	{ WIRE(req_msg_tag), true, "ucp_request", "send.msg_proto.tag", NULL, NULL },
	{ WIRE(req_recv_length), true, "ucp_request", "recv.dt_iter.length", "ucp_request",
	  "recv.length" },
	{ WIRE(req_recv_info), true, "ucp_request", "recv.tag.info", NULL, NULL },
	{ WIRE(proto_config_proto), true, "ucp_proto_config_t", "proto", NULL, NULL },
	{ WIRE(proto_name), true, "ucp_proto", "name", NULL, NULL },
	{ WIRE(ep_worker), false, "ucp_ep", "worker", NULL, NULL },
	{ WIRE(iface_worker), false, "uct_base_iface", "err_handler_arg", NULL, NULL },
	{ WIRE(worker_uuid), true, "ucp_worker", "uuid", NULL, NULL },
	{ OWN(ep_cfg_index), true, "ucp_ep", "cfg_index", NULL, NULL },
	{ OWN(ep_flags), true, "ucp_ep", "flags", NULL, NULL },
	{ OWN(ep_uct_eps), true, "ucp_ep", "uct_eps", NULL, NULL },
	{ OWN(ep_ext), true, "ucp_ep", "ext", NULL, NULL },
	{ OWN(ext_ep_list), true, "ucp_ep_ext", "ep_list", "ucp_ep_ext_gen_t", "ep_list" },
	{ OWN(ext_dest_uuid), true, "ucp_ep_ext", "ep_match", "ucp_ep_ext_gen_t", "ep_match" },
	{ OWN(ext_remote_id), true, "ucp_ep_ext", "remote_ep_id", "ucp_ep_ext_control_t",
	  "remote_ep_id" },
	{ OWN(ext_local_id), true, "ucp_ep_ext", "local_ep_id", "ucp_ep_ext_control_t",
	  "local_ep_id" },
	{ OWN(ext_control), true, "ucp_ep_ext_gen_t", "control_ext", NULL, NULL },
	{ OWN(ext_uct_eps), true, "ucp_ep_ext", "uct_eps", NULL, NULL },
	{ OWN(worker_context), true, "ucp_worker", "context", NULL, NULL },
	{ OWN(worker_uuid), true, "ucp_worker", "uuid", NULL, NULL },
	{ OWN(worker_address_name), true, "ucp_worker", "address_name", NULL, NULL },
	{ OWN(worker_all_eps), true, "ucp_worker", "all_eps", NULL, NULL },
	{ OWN(worker_ifaces), true, "ucp_worker", "ifaces", NULL, NULL },
	{ OWN(worker_num_ifaces), true, "ucp_worker", "num_ifaces", NULL, NULL },
	{ OWN(context_tl_rscs), true, "ucp_context", "tl_rscs", NULL, NULL },
	{ OWN(context_num_tls), true, "ucp_context", "num_tls", NULL, NULL },
	{ OWN(context_proto_enable), true, "ucp_context", "config.ext.proto_enable", NULL, NULL },
	{ OWN(wiface_worker), true, "ucp_worker_iface", "worker", NULL, NULL },
	{ OWN(wiface_rsc_index), true, "ucp_worker_iface", "rsc_index", NULL, NULL },
	{ OWN(cma_remote_pid), true, "uct_cma_ep", "remote_pid", NULL, NULL },
	{ OWN(proxy_ucp_ep), true, "ucp_proxy_ep", "ucp_ep", NULL, NULL },
	{ OWN(proxy_uct_ep), true, "ucp_proxy_ep", "uct_ep", NULL, NULL },
};

static void store(struct layout *layout, const struct wanted_field *want, unsigned int value)
{
	char *field = (char *)layout + want->field;
	uint16_t narrow = value < UB_OFF_UNKNOWN ? (uint16_t)value : UB_OFF_UNKNOWN;

	if (want->width == 2)
		memcpy(field, &narrow, sizeof(narrow));
	else
		memcpy(field, &value, sizeof(value));
}

static int find_one(struct dwarf_types *types, const struct wanted_field *want, unsigned int *value)
{
	int error = dwarf_field_offset(types, want->type, want->member, value);

	if (error && want->other_type)
		error = dwarf_field_offset(types, want->other_type, want->other_member, value);
	return error;
}

static int fill(struct layout *layout, Dwarf *dwarf)
{
	struct dwarf_types *types = dwarf_types_new(dwarf);
	int error = 0;

	for (size_t i = 0; !error && i < ARRAY_SIZE(wanted); i++) {
		unsigned int value = UB_OFF_UNKNOWN;

		if (find_one(types, &wanted[i], &value) && !wanted[i].optional)
			error = -ENOENT;
		store(layout, &wanted[i], value);
	}
	if (!error && dwarf_array_length(types, "ucp_ep", "uct_eps", &layout->ep_uct_eps_max))
		layout->ep_uct_eps = UB_OFF_UNKNOWN;
	dwarf_types_free(types);
	return error;
}

static long find_layout(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	Dwarf *dwarf = dwarf_begin_elf(elf->handle, DWARF_C_READ, NULL);
	struct layout layout = { 0 };
	int err = dwarf ? fill(&layout, dwarf) : -ENOENT;

	(void)arguments;
	(void)size;
	dwarf_end(dwarf);
	if (!err)
		answer_add(answer, &layout, sizeof(layout));
	return err;
}

static const struct layout *from_dwarf(const struct elf *elf, const unsigned int version[3])
{
	struct layout *layout = xcalloc(1, sizeof(*layout));

	if (elf_ask_for(elf, find_layout, NULL, 0, layout, sizeof(*layout))) {
		free(layout);
		return NULL;
	}
	/* the file may decide about offsets only */
	layout->name = "dwarf";
	layout->asserts = UCX_ASSERTS_UNKNOWN;
	memcpy(layout->version, version, sizeof(layout->version));
	return layout;
}

static const struct layout *from_debug_file(const struct elf *elf, const unsigned int version[3])
{
	const char *id = elf_build_id(elf);
	const struct layout *layout;
	struct elf *debug;
	char path[128];

	if (strlen(id) < 3)
		return NULL;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	if (elf_load(&debug, path))
		return NULL;
	layout = from_dwarf(debug, version);
	elf_free(debug);
	return layout;
}

const struct layout *layout_from_dwarf(const struct elf *elf, const unsigned int version[3])
{
	const struct layout *layout = from_dwarf(elf, version);

	return layout ? layout : from_debug_file(elf, version);
}

void layout_dwarf_free(const struct layout *layout)
{
	free((void *)layout);
}

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
	for (size_t i = 0; i < ARRAY_SIZE(same_structs); i++)
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
