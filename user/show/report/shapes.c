// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/internal.h"

const struct cube_shape report_calls_shape = {
	2,
	{
		{ "process", CUBE_PROCESS, NULL },
		{ "function", CUBE_STRING, "unknown" },
	},
};

const struct cube_shape report_plain_ops_shape = {
	4,
	{
		{ "process", CUBE_PROCESS, NULL },
		{ "op", CUBE_STRING, "unknown" },
		{ "function", CUBE_STRING, NULL },
		{ "protocol", CUBE_STRING, "unknown" },
	},
};

const struct cube_shape report_ops_shape = {
	7,
	{
		{ "process", CUBE_PROCESS, NULL },
		{ "op", CUBE_STRING, "unknown" },
		{ "function", CUBE_STRING, NULL },
		{ "protocol", CUBE_STRING, "unknown" },
		{ "memory", CUBE_STRING, "unknown" },
		{ "memory_reason", CUBE_STRING, NULL },
		{ "memory_known_by", CUBE_STRING, NULL },
	},
};

#define TRANSFER_KEYS                                                                              \
	[T_PROCESS] = { "process", CUBE_PROCESS, NULL },                                           \
	[T_PEER] = { "peer", CUBE_PROCESS, NULL }, [T_OP] = { "op", CUBE_STRING, "unknown" },      \
	[T_TRANSPORT] = { "transport", CUBE_STRING, "unknown" },                                   \
	[T_DEVICE] = { "device", CUBE_STRING, "unknown" },                                         \
	[T_LOCALITY] = { "locality", CUBE_LOCALITY, NULL },                                        \
	[T_KIND] = { "kind", CUBE_KIND, NULL }, [T_UCP_OP] = { "ucp_op", CUBE_STRING, NULL },      \
	[T_FUNCTION] = { "function", CUBE_STRING, NULL },                                          \
	[T_PROTOCOL] = { "protocol", CUBE_STRING, "unknown" },                                     \
	[T_SRC_MEM] = { "src_mem", CUBE_STRING, "unknown" },                                       \
	[T_DST_MEM] = { "dst_mem", CUBE_STRING, "unknown" }

const struct cube_shape report_plain_transfers_shape = { 12, { TRANSFER_KEYS } };

const struct cube_shape report_transfers_shape = {
	14,
	{
		TRANSFER_KEYS,
		[T_SRC_REASON] = { "src_reason", CUBE_STRING, NULL },
		[T_DST_REASON] = { "dst_reason", CUBE_STRING, NULL },
	},
};

const struct cube_shape report_call_sites_shape = {
	3,
	{
		{ "process", CUBE_PROCESS, NULL },
		{ "function", CUBE_STRING, "unknown" },
		{ "place", CUBE_STRING, NULL },
	},
};

const struct cube_shape report_stacks_shape = {
	3,
	{
		{ "process", CUBE_PROCESS, NULL },
		{ "function", CUBE_STRING, "unknown" },
		{ "stack", CUBE_STRING, NULL },
	},
};

#define MESSAGE_KEYS                                                                               \
	[M_SRC] = { "src", CUBE_PROCESS, NULL }, [M_DST] = { "dst", CUBE_PROCESS, NULL },          \
	[M_FUNCTION] = { "function", CUBE_STRING, NULL }

const struct cube_shape report_plain_messages_shape = { 3, { MESSAGE_KEYS } };

const struct cube_shape report_messages_shape = {
	10,
	{
		MESSAGE_KEYS,
		[M_SRC_MEM] = { "src_mem", CUBE_STRING, "unknown" },
		[M_DST_MEM] = { "dst_mem", CUBE_STRING, "unknown" },
		[M_SRC_REASON] = { "src_reason", CUBE_STRING, NULL },
		[M_DST_REASON] = { "dst_reason", CUBE_STRING, NULL },
		[M_CHAIN] = { "chain", CUBE_LIST, NULL },
		[M_VIA] = { "via", CUBE_LIST, NULL },
		[M_CHAIN_REASON] = { "chain_reason", CUBE_STRING, NULL },
	},
};
