// SPDX-License-Identifier: BSD-3-Clause
#include "base/transport.h"

#include <string.h>

#include "base/vec.h"

/* UCT_TL_DEFINE and, for those over mapped memory, UCT_MM_TL_DEFINE in src/uct, since UCX 1.13. */
const struct transport transports[] = {
	{ .name = "self", .reach = REACH_SELF, .host_only = true, .rma = RMA_ALL, .atomics = true },
	{ .name = "tcp", .host_only = true, .rma = RMA_NONE, .network = true, .peer_reads = true },
	{ .name = "posix",
	  .reach = REACH_NODE,
	  .host_only = true,
	  .rma = RMA_SHARED,
	  .atomics = true,
	  .fifo = true },
	{ .name = "sysv",
	  .reach = REACH_NODE,
	  .host_only = true,
	  .rma = RMA_SHARED,
	  .atomics = true,
	  .fifo = true },
	{ .name = "xpmem",
	  .reach = REACH_NODE,
	  .host_only = true,
	  .rma = RMA_ALL,
	  .atomics = true,
	  .fifo = true,
	  .maps_peers = true,
	  .modules = { "xpmem" } },
	{ .name = "cma",
	  .reach = REACH_NODE,
	  .host_only = true,
	  .rma = RMA_ALL,
	  .pid_in_ep = true,
	  .modules = { "cma" } },
	{ .name = "knem",
	  .reach = REACH_NODE,
	  .host_only = true,
	  .rma = RMA_ALL,
	  .modules = { "knem" } },

	{ .name = "rc_verbs",
	  .rma = RMA_ALL,
	  .atomics = true,
	  .network = true,
	  .queue_pairs = true,
	  .plain_verbs = true,
	  .level = { "RC_VERBS_SL", "RC_SL", "IB_SL" },
	  .modules = { "ib" } },
	{ .name = "rc_mlx5",
	  .rma = RMA_ALL,
	  .atomics = true,
	  .network = true,
	  .queue_pairs = true,
	  .level = { "RC_MLX5_SL", "RC_SL", "IB_SL" },
	  .modules = { "ib_mlx5", "ib" } },
	{ .name = "rc_gda", .network = true, .queue_pairs = true },
	{ .name = "dc_mlx5",
	  .rma = RMA_ALL,
	  .atomics = true,
	  .network = true,
	  .level = { "DC_MLX5_SL", "DC_SL", "RC_SL", "IB_SL" },
	  .modules = { "ib_mlx5", "ib" } },
	{ .name = "ud_verbs",
	  .rma = RMA_NONE,
	  .network = true,
	  .plain_verbs = true,
	  .level = { "UD_VERBS_SL", "UD_SL", "IB_SL" },
	  .modules = { "ib" } },
	{ .name = "ud_mlx5",
	  .rma = RMA_NONE,
	  .network = true,
	  .level = { "UD_MLX5_SL", "UD_SL", "IB_SL" },
	  .modules = { "ib_mlx5", "ib" } },
	{ .name = "gga_mlx5", .network = true },
	{ .name = "srd", .network = true },

	{ .name = "cuda_copy", .rma = RMA_NONE, .copies = true, .modules = { "cuda" } },
	{ .name = "gdr_copy",
	  .rma = RMA_NONE,
	  .copies = true,
	  .modules = { "cuda_gdrcopy", "cuda" } },
	{ .name = "cuda_ipc", .modules = { "cuda" } },
	{ .name = "rocm_copy", .rma = RMA_NONE, .copies = true },
	{ .name = "rocm_gdr", .rma = RMA_NONE, .copies = true },
	{ .name = "rocm_ipc" },
	{ .name = "ze_copy", .rma = RMA_NONE, .copies = true },
	{ .name = "gaudi_gdr" },

	{ .name = "ugni_rdma", .network = true },
	{ .name = "ugni_smsg", .network = true },
	{ .name = "ugni_udt", .network = true },
};

const size_t transport_count = ARRAY_SIZE(transports);

/*
 * Transports of releases or vendors without a row: the start of a name shows its kind of network.
 * The prefix is the whole name or ends before '_', but where any ending will do.
 */
static const struct {
	const char *prefix;
	bool any_ending;
	struct transport row;
} families[] = {
	{ "rc", false, { .network = true, .queue_pairs = true } },
	{ "dc", false, { .network = true } },
	{ "ud", false, { .network = true } },
	{ "srd", true, { .network = true } },
	{ "gga", true, { .network = true } },
	{ "ugni", true, { .network = true } },
	{ "sockcm", false, { .network = true } },
};

static const struct transport *family_of(const char *name)
{
	static const struct transport unknown;

	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		size_t len = strlen(families[i].prefix);

		if (!strncmp(name, families[i].prefix, len) &&
		    (families[i].any_ending || !name[len] || name[len] == '_'))
			return &families[i].row;
	}
	return &unknown;
}

bool transport_accelerates(const char *device)
{
	return !strncmp(device, "mlx5", 4);
}

const struct transport *transport_named(const char *name)
{
	for (size_t i = 0; name && i < transport_count; i++)
		if (!strcmp(transports[i].name, name))
			return &transports[i];
	return family_of(name ? name : "");
}
