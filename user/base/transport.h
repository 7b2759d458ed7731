/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This program's knowledge of each UCX transport, one row each. Code that treats transports
 * differently asks this table; only rules about a single transport name it.
 */
#ifndef UCXBPF_BASE_TRANSPORT_H
#define UCXBPF_BASE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>

enum transport_reach { REACH_UNKNOWN, REACH_SELF, REACH_NODE };

/*
 * A peer's memory that puts and gets reach: none, memory that UCX allocated as shared, or all of
 * it.
 */
enum transport_rma { RMA_UNKNOWN, RMA_NONE, RMA_SHARED, RMA_ALL };

struct transport {
	const char *name; /* as ucx_info -d prints it, which symbols may not have (posix: uct_mm_);
			     NULL: without a row */
	enum transport_reach
		reach; /* where all its peers are; 0 for a network: their host decides */
	bool host_only; /* it handles host memory only */
	/*
	 * It copies within its process: the remote address is the process's own GPU, in puts and
	 * gets alike (docs/attribution.md, copies).
	 */
	bool copies;
	enum transport_rma rma;
	bool atomics; /* on the same memory; a NIC may lack them */
	bool network; /* through a NIC */
	bool peer_reads; /* data of a put, too, waits until the peer's process reads it */
	/* uct_mm_iface: messages arrive in a FIFO in shared memory (src/uct/sm/mm/base) */
	bool fifo;
	bool pid_in_ep; /* its endpoints hold the peer's pid: uct_cma_ep.remote_pid */
	bool maps_peers; /* it maps peers' memory, which UCP may then read without a transfer */
	bool queue_pairs; /* one for each peer */
	bool plain_verbs; /* by libibverbs alone: see transport_accelerates() */
	/*
	 * The UCT modules that it needs, libuct_NAME.so: its own, which only newer releases may
	 * have, and the one that contains it in older releases or that it depends on. Empty: it is
	 * in libuct, or no rule asks.
	 */
	const char *modules[2];
	/*
	 * Variables that set its InfiniBand service level, without their prefix UCX_. The first
	 * that is set counts: a transport's configuration table includes those of its kind, and
	 * that of all InfiniBand (src/uct/ib). Empty: it is not InfiniBand.
	 */
	const char *level[5];
};

/* Begins a list of transports that includes the lanes of an endpoint, and perhaps others. */
#define LANES_SOME_OF "some of "

extern const struct transport transports[];
extern const size_t transport_count;

/* Whether UCX has a transport for such a NIC that is faster than plain_verbs (src/uct/ib/mlx5). */
bool transport_accelerates(const char *device);

/*
 * The row with that name. If no row has it, the row of its network family (rc_*, dc_*, ud_*, srd*,
 * gga*, ugni*), whose name is NULL, or a row of zeros. name NULL: the row of zeros.
 */
const struct transport *transport_named(const char *name);

#endif
