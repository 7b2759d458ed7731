// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/layout_dwarf.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe/process/dwarf_fields.h"
#include "observe/process/elf_private.h"

struct wanted {
	unsigned int field; /* offset in struct layout */
	unsigned int width; /* 2: struct ub_layout's, 4: struct layout's own */
	bool optional;
	const char *type, *member; /* "": size of the type */
	const char *other_type, *other_member; /* where older releases have it */
};

#define WIRE(name) offsetof(struct layout, wire.name), 2
#define OWN(name) offsetof(struct layout, name), 4

static const struct wanted wanted[] = {
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

static void store(struct layout *layout, const struct wanted *want, unsigned int value)
{
	char *field = (char *)layout + want->field;
	uint16_t narrow = value < UB_OFF_UNKNOWN ? (uint16_t)value : UB_OFF_UNKNOWN;

	if (want->width == 2)
		memcpy(field, &narrow, sizeof(narrow));
	else
		memcpy(field, &value, sizeof(value));
}

static int find_one(struct dwarf_types *types, const struct wanted *want, unsigned int *value)
{
	int error = dwarf_field_offset(types, want->type, want->member, value);

	if (error && want->other_type)
		error = dwarf_field_offset(types, want->other_type, want->other_member, value);
	return error;
}

static int fill(struct layout *layout, Dwarf *dwarf)
{
	struct dwarf_types *types = dwarf_types_new(dwarf);
	int error = types ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < sizeof(wanted) / sizeof(*wanted); i++) {
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

static const struct layout *from_dwarf(Dwarf *dwarf, const unsigned int version[3])
{
	struct layout *layout = calloc(1, sizeof(*layout));

	if (!layout)
		return NULL;
	memcpy(layout->version, version, sizeof(layout->version));
	layout->name = "dwarf";
	if (fill(layout, dwarf)) {
		free(layout);
		return NULL;
	}
	return layout;
}

static const struct layout *from_debug_file(const struct elf *elf, const unsigned int version[3])
{
	const char *id = elf_build_id(elf);
	const struct layout *layout = NULL;
	char path[128];
	Dwarf *dwarf;
	int fd;

	if (strlen(id) < 3)
		return NULL;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (dwarf)
		layout = from_dwarf(dwarf, version);
	dwarf_end(dwarf);
	close(fd);
	return layout;
}

const struct layout *layout_from_dwarf(const struct elf *elf, const unsigned int version[3])
{
	const struct layout *layout = NULL;
	Dwarf *dwarf = dwarf_begin_elf(elf->handle, DWARF_C_READ, NULL);

	if (dwarf)
		layout = from_dwarf(dwarf, version);
	dwarf_end(dwarf);
	return layout ? layout : from_debug_file(elf, version);
}

void layout_dwarf_free(const struct layout *layout)
{
	free((void *)layout);
}
