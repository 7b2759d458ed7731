/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where UCX keeps its private fields, by version and build (assert or release), and how to tell
 * which version and build a libucp is. See docs/layouts.md for where the numbers come from.
 */
#ifndef UCXBPF_PROCESS_LAYOUT_H
#define UCXBPF_PROCESS_LAYOUT_H

#include <stdbool.h>

#include "observe/process/elf.h"
#include "ucxbpf.h"

/* Whether ucs_assert() is compiled in. */
enum ucx_asserts { UCX_ASSERTS_UNKNOWN, UCX_ASSERTS_IN, UCX_ASSERTS_OUT };

struct layout {
	const char *name; /* "1.13.1-assert" */
	unsigned int version[3];
	unsigned int request_size;
	enum ucx_asserts asserts; /* of rows that the request's size does not tell apart, else 0 */
	struct ub_layout wire; /* what BPF needs */
	/* what the snapshot needs; UB_OFF_UNKNOWN = not there in this version */
	unsigned int ep_cfg_index, ep_flags, ep_uct_eps, ep_uct_eps_max, ep_ext, ep_ext_is_stride;
	unsigned int ext_ep_list, ext_dest_uuid, ext_remote_id, ext_local_id, ext_control,
		ext_uct_eps;
	unsigned int worker_context, worker_uuid, worker_address_name, worker_all_eps,
		worker_ifaces, worker_num_ifaces;
	unsigned int context_tl_rscs, context_num_tls, context_proto_enable;
	unsigned int wiface_worker, wiface_rsc_index;
	unsigned int cma_remote_pid; /* in uct_cma_ep */
	unsigned int proxy_ucp_ep, proxy_uct_ep; /* in ucp_proxy_ep_t */
	/* what follows: 0 = not known */
	unsigned int fifo_elems, fifo_mask, fifo_elem_size; /* in uct_mm_iface */
	unsigned int worker_tm, worker_req_mp; /* tag matching, pool of requests */
	unsigned int mpool_chunks; /* in ucs_mpool_data_t */
	unsigned int proto_config_op; /* id of the operation, in the low 4 bits of a byte */
	unsigned int recv_queue, recv_tag,
		recv_worker; /* in ucp_request_t; the mask follows the tag */
};

/*
 * The layout of a version with that request size, and of that build where the size does not tell.
 * NULL = none known (then nothing private is read).
 */
const struct layout *layout_find(const unsigned int version[3], unsigned int request_size,
				 enum ucx_asserts asserts);

/* Whether it is a row of the table, not one read from debug information. */
bool layout_is_row(const struct layout *layout);

/* Iterates all: i = 0, 1, ... until NULL. */
const struct layout *layout_at(unsigned int i);

/*
 * Release numbers, from the constants that ucp_get_version() stores (src/ucp/core/ucp_version.c.in,
 * since 1.13), else from the text that ucp_get_version_string() returns. -ENOENT: not found.
 */
int ucx_version(const struct elf *elf, unsigned int version[3]);

/*
 * sizeof(ucp_request_t) in bytes: ucp_request_is_completed() gets a pointer behind the request and
 * reads its flags, which follow the first word (src/ucp/core/ucp_request.c, since 1.13).
 * 0: not found, or not x86-64.
 */
unsigned int ucx_request_size(const struct elf *elf);

/*
 * Whether ucs_assert() is compiled in: ucp_request_check_status() has one, and nothing else that
 * would leave it (src/ucp/core/ucp_request.c, since 1.13). Unknown: not found, or not x86-64.
 */
enum ucx_asserts ucx_asserts(const struct elf *elf);

/* All three, in the process that parses the file; 0.0.0, 0 and unknown where not found. */
void ucx_build(const struct elf *elf, unsigned int version[3], unsigned int *request_size,
	       enum ucx_asserts *asserts);

/*
 * From the libucp itself, else from its separate debug file below /usr/lib/debug (by build id or
 * .gnu_debuglink). NULL: no debug information, or one that lacks a struct. The caller frees it.
 */
const struct layout *layout_from_dwarf(const struct elf *elf, const unsigned int version[3]);

void layout_dwarf_free(const struct layout *layout);

/* One row per UCX version and build, for layout_find(). */
extern const struct layout layout_table[];
extern const unsigned int layout_table_size;

#endif
