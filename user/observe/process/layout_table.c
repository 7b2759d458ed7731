// SPDX-License-Identifier: BSD-3-Clause
/*
 * Offsets in bytes, as the compiler lays out UCX's own headers; docs/layouts.md says how they were
 * got and what else was checked.
 */
#include "observe/process/layout.h"

#include "base/vec.h"

/* clang-format off */

#define BUILD(a, b, c, build) .name = #a "." #b "." #c "-" #build, .version = { a, b, c }

/* ucp_request_t; the fields that all of these builds have in one place are written out here. */
#define REQUEST(size, uct_comp, message_id, tag, recv_length, recv_tag_info)                   \
	.request_size = size,                                                                  \
	.wire.req_size = size, .wire.req_flags = 4, .wire.req_id = 8, .wire.req_super = 16,    \
	.wire.req_ep = 24, .wire.req_length = 48, .wire.req_proto_config = 80,                 \
	.wire.req_dt_length = 96, .wire.req_uct_comp = uct_comp,                               \
	.wire.req_msg_id = message_id, .wire.req_msg_tag = tag,                                \
	.wire.req_recv_length = recv_length, .wire.req_recv_info = recv_tag_info,              \
	.recv_tag = recv_tag_info - 32, .recv_worker = recv_tag_info - 112,                    \
	.recv_queue = recv_length == 48 ? 24 : recv_tag_info - 48,                             \
	.wire.proto_config_proto = 0, .wire.proto_name = 0, .wire.iface_worker = 1216,         \
	.wiface_worker = 544, .wiface_rsc_index = 568

/*
 * Memory type of the buffer: of sends of protocol v1 only where it was read from debug information,
 * since the fields before it come and go; of receives it has not moved but once, in 1.16.
 */
#define MEMORY(send, recv) .wire.req_mem = send, .wire.recv_mem = recv

#define EP(cfg_index, cfg_index_bytes, flags, uct_eps, uct_eps_count)                          \
	.wire.ep_worker = 0, .ep_cfg_index = cfg_index, .ep_flags = flags,                     \
	.ep_uct_eps = uct_eps, .ep_uct_eps_max = uct_eps_count,                                \
	.wire.ep_config = cfg_index, .wire.ep_config_bytes = cfg_index_bytes,                  \
	.wire.ep_lanes = uct_eps, .wire.ep_lane_count = uct_eps_count

/* The extension lies a fixed distance behind the ep, and its ids in a struct it points to. */
#define EXT_BEHIND(distance, ep_list, dest_uuid, control, remote_id, local_id)                 \
	.ep_ext = distance, .ep_ext_is_stride = 1, .ext_ep_list = ep_list,                     \
	.ext_dest_uuid = dest_uuid, .ext_control = control, .ext_remote_id = remote_id,        \
	.ext_local_id = local_id, .ext_uct_eps = UB_OFF_UNKNOWN

/* The ep points to its extension, whose first word points back. */
#define EXT_POINTER(ext, ep_list, dest_uuid, remote_id, local_id, uct_eps)                     \
	.ep_ext = ext, .ext_ep_list = ep_list, .ext_dest_uuid = dest_uuid,                     \
	.ext_control = UB_OFF_UNKNOWN, .ext_remote_id = remote_id, .ext_local_id = local_id,   \
	.ext_uct_eps = uct_eps

#define WORKER(context, uuid, address_name, all_eps, ifaces, num_ifaces)                       \
	.wire.worker_uuid = uuid, .worker_context = context, .worker_uuid = uuid,              \
	.worker_address_name = address_name, .worker_all_eps = all_eps,                        \
	.worker_ifaces = ifaces, .worker_num_ifaces = num_ifaces,                              \
	.wire.worker_ifaces = ifaces, .wire.worker_num_ifaces = num_ifaces

/* Tag matching, the pool of requests (chunks: in ucs_mpool_data_t), the operation of a protocol. */
#define QUEUES(tm, req_mp, chunks, op)                                                         \
	.worker_tm = tm, .worker_req_mp = req_mp, .mpool_chunks = chunks, .proto_config_op = op

#define CONTEXT(tl_rscs, num_tls, proto_enable)                                                \
	.context_tl_rscs = tl_rscs, .context_num_tls = num_tls,                                \
	.context_proto_enable = proto_enable

#define CMA(remote_pid) .cma_remote_pid = remote_pid

/* Until 1.21 a proxy holds its stub interface, uct_iface_t, itself; from 1.22 on it points to it. */
#define PROXY_HOLDS .proxy_ucp_ep = 408, .proxy_uct_ep = 416
#define PROXY_POINTS .proxy_ucp_ep = 16, .proxy_uct_ep = 24

/* Builds of one release whose requests are of one size. */
#define ASSERTS(state) .asserts = UCX_ASSERTS_##state

/* uct_mm_iface_t.recv_fifo_elems; the other two are as far behind it in all of these. */
#define FIFO(elems)                                                                            \
	.wire.mm_elems = elems, .fifo_elems = elems, .fifo_mask = elems + 28, .fifo_elem_size = elems + 116

const struct layout layout_table[] = {
	{ BUILD(1, 13, 1, assert), MEMORY(217, 56),
	  REQUEST(272, 152, 168, 176, 48, 224),
	  EP(9, 1, 16, 24, 6), EXT_BEHIND(131072, 8, 24, 48, 16, 8),
	  WORKER(104, 112, 220, 368, 488, 496),
	  QUEUES(880, 136, 40, 18),
	  CONTEXT(96, 120, 648), CMA(32), PROXY_HOLDS, FIFO(1336) },
	{ BUILD(1, 13, 1, release), MEMORY(209, 56),
	  REQUEST(264, 144, 160, 168, 48, 224),
	  EP(9, 1, 14, 16, 6), EXT_BEHIND(131072, 8, 24, 48, 16, 8),
	  WORKER(88, 96, 204, 352, 472, 480),
	  QUEUES(864, 120, 40, 18),
	  CONTEXT(96, 120, 648), CMA(16), PROXY_HOLDS, FIFO(1336) },
	{ BUILD(1, 14, 0, assert), MEMORY(0, 56),
	  REQUEST(272, 152, 168, 176, 48, 224),
	  EP(9, 1, 16, 24, 5), EXT_POINTER(64, 16, 96, 48, 40, 184),
	  WORKER(104, 112, 220, 368, 488, 496),
	  QUEUES(880, 136, 64, 26),
	  CONTEXT(144, 168, 720), CMA(32), PROXY_HOLDS, FIFO(1336) },
	{ BUILD(1, 14, 0, release), MEMORY(0, 56),
	  REQUEST(264, 144, 160, 168, 48, 224),
	  EP(9, 1, 14, 16, 5), EXT_POINTER(56, 16, 88, 48, 40, 176),
	  WORKER(88, 96, 204, 352, 472, 480),
	  QUEUES(864, 120, 64, 26),
	  CONTEXT(144, 168, 720), CMA(16), PROXY_HOLDS, FIFO(1336) },
	{ BUILD(1, 15, 0, assert), MEMORY(0, 56),
	  REQUEST(272, 152, 168, 176, 48, 224),
	  EP(9, 1, 16, 24, 5), EXT_POINTER(64, 16, 96, 48, 40, 184),
	  WORKER(104, 112, 220, 368, 488, 496),
	  QUEUES(880, 136, 64, 26),
	  CONTEXT(160, 184, 744), CMA(32), PROXY_HOLDS, FIFO(1336) },
	{ BUILD(1, 15, 0, release), MEMORY(0, 56),
	  REQUEST(264, 144, 160, 168, 48, 224),
	  EP(9, 1, 14, 16, 5), EXT_POINTER(56, 16, 88, 48, 40, 176),
	  WORKER(88, 96, 204, 352, 472, 480),
	  QUEUES(864, 120, 64, 26),
	  CONTEXT(160, 184, 744), CMA(16), PROXY_HOLDS, FIFO(1336) },
	{ BUILD(1, 16, 0, assert), MEMORY(218, 36),
	  REQUEST(272, 152, 168, 176, 40, 208),
	  EP(9, 1, 16, 24, 5), EXT_POINTER(64, 16, 96, 48, 40, 184),
	  WORKER(104, 112, 220, 368, 488, 496),
	  QUEUES(880, 136, 64, 26),
	  CONTEXT(176, 200, 776), CMA(32), PROXY_HOLDS, FIFO(1336) },
	{ BUILD(1, 16, 0, release), MEMORY(210, 36),
	  REQUEST(264, 144, 160, 168, 40, 200),
	  EP(9, 1, 14, 16, 5), EXT_POINTER(56, 16, 88, 48, 40, 176),
	  WORKER(88, 96, 204, 352, 472, 480),
	  QUEUES(864, 120, 64, 26),
	  CONTEXT(176, 200, 776), CMA(16), PROXY_HOLDS, FIFO(1336) },
	{ BUILD(1, 17, 0, assert), MEMORY(0, 36),
	  REQUEST(272, 152, 168, 176, 40, 208),
	  EP(9, 1, 16, 24, 5), EXT_POINTER(64, 16, 96, 48, 40, 184),
	  WORKER(104, 112, 220, 368, 488, 496),
	  QUEUES(880, 136, 64, 26),
	  CONTEXT(368, 392, 1024), CMA(32), PROXY_HOLDS, FIFO(1336) },
	{ BUILD(1, 17, 0, release), MEMORY(0, 36),
	  REQUEST(264, 144, 160, 168, 40, 200),
	  EP(9, 1, 14, 16, 5), EXT_POINTER(56, 16, 88, 48, 40, 176),
	  WORKER(88, 96, 204, 352, 472, 480),
	  QUEUES(864, 120, 64, 26),
	  CONTEXT(368, 392, 1024), CMA(16), PROXY_HOLDS, FIFO(1336) },
	{ BUILD(1, 18, 1, assert), MEMORY(217, 36),
	  REQUEST(272, 152, 168, 176, 40, 208),
	  EP(9, 1, 16, 24, 5), EXT_POINTER(64, 16, 96, 48, 40, 184),
	  WORKER(112, 120, 228, 376, 496, 504),
	  QUEUES(888, 144, 64, 18),
	  CONTEXT(440, 464, 1096), CMA(32), PROXY_HOLDS, FIFO(1336) },
	{ BUILD(1, 18, 1, release), MEMORY(209, 36),
	  REQUEST(264, 144, 160, 168, 40, 200),
	  EP(9, 1, 14, 16, 5), EXT_POINTER(56, 16, 88, 48, 40, 176),
	  WORKER(88, 96, 204, 352, 472, 480),
	  QUEUES(864, 120, 64, 18),
	  CONTEXT(440, 464, 1096), CMA(16), PROXY_HOLDS, FIFO(1336) },
	{ BUILD(1, 19, 0, assert), MEMORY(0, 36),
	  REQUEST(272, 152, 168, 176, 40, 208),
	  EP(9, 1, 16, 24, 5), EXT_POINTER(64, 16, 96, 48, 40, 200),
	  WORKER(112, 120, 228, 384, 504, 512),
	  QUEUES(896, 144, 64, 18),
	  CONTEXT(440, 464, 1104), CMA(32), PROXY_HOLDS, FIFO(1344) },
	{ BUILD(1, 19, 0, release), MEMORY(0, 36),
	  REQUEST(264, 144, 160, 168, 40, 200),
	  EP(9, 1, 14, 16, 5), EXT_POINTER(56, 16, 88, 48, 40, 192),
	  WORKER(88, 96, 204, 360, 480, 488),
	  QUEUES(872, 120, 64, 18),
	  CONTEXT(440, 464, 1104), CMA(16), PROXY_HOLDS, FIFO(1344) },
	{ BUILD(1, 20, 0, assert), MEMORY(0, 36),
	  REQUEST(280, 152, 168, 176, 40, 208),
	  EP(9, 1, 16, 24, 5), EXT_POINTER(64, 16, 96, 48, 40, 200),
	  WORKER(112, 120, 228, 384, 504, 512),
	  QUEUES(896, 144, 64, 18),
	  CONTEXT(440, 464, 1120), CMA(32), PROXY_HOLDS, FIFO(1344) },
	{ BUILD(1, 20, 0, release), MEMORY(0, 36),
	  REQUEST(272, 144, 160, 168, 40, 200),
	  EP(9, 1, 14, 16, 5), EXT_POINTER(56, 16, 88, 48, 40, 192),
	  WORKER(88, 96, 204, 360, 480, 488),
	  QUEUES(872, 120, 64, 18),
	  CONTEXT(440, 464, 1120), CMA(16), PROXY_HOLDS, FIFO(1344) },
	{ BUILD(1, 21, 0, assert), MEMORY(0, 36),
	  REQUEST(280, 152, 168, 176, 40, 208),
	  EP(8, 2, 12, 24, 5), EXT_POINTER(64, 16, 96, 48, 40, 208),
	  WORKER(112, 120, 228, 384, 504, 512),
	  QUEUES(896, 144, 64, 20),
	  CONTEXT(480, 504, 1176), CMA(32), PROXY_HOLDS, FIFO(1344) },
	{ BUILD(1, 21, 0, release), MEMORY(0, 36),
	  REQUEST(272, 144, 160, 168, 40, 200),
	  EP(8, 2, 12, 16, 5), EXT_POINTER(56, 16, 88, 48, 40, 200),
	  WORKER(88, 96, 204, 360, 480, 488),
	  QUEUES(872, 120, 64, 20),
	  CONTEXT(480, 504, 1176), CMA(16), PROXY_HOLDS, FIFO(1344) },
	{ BUILD(1, 22, 0, assert), ASSERTS(IN), MEMORY(0, 36),
	  REQUEST(280, 152, 168, 176, 40, 208),
	  EP(8, 2, 12, 24, 5), EXT_POINTER(64, 16, 96, 48, 40, 208),
	  WORKER(112, 120, 228, 384, 504, 512),
	  QUEUES(896, 144, 64, 20),
	  CONTEXT(480, 504, 1184), CMA(32), PROXY_POINTS, FIFO(1344) },
	{ BUILD(1, 22, 0, release), ASSERTS(OUT), MEMORY(0, 36),
	  REQUEST(280, 152, 168, 176, 40, 208),
	  EP(8, 2, 12, 16, 5), EXT_POINTER(56, 16, 88, 48, 40, 200),
	  WORKER(88, 96, 204, 360, 480, 488),
	  QUEUES(872, 120, 64, 20),
	  CONTEXT(480, 504, 1184), CMA(16), PROXY_POINTS, FIFO(1344) },
};

/* clang-format on */

const unsigned int layout_table_size = ARRAY_SIZE(layout_table);
