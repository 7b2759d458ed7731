/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is on a node at one moment: GPUs, NICs with their counters, copies of UCX and MPI, settings,
 * limits. As JSON, "ucxbpf.inventory/1" (docs/inventory.md). Counters of two snapshots with one
 * boot id, before and after a job, show the traffic of each NIC.
 */
#ifndef UCXBPF_INVENTORY_INVENTORY_H
#define UCXBPF_INVENTORY_INVENTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"

#define INVENTORY_SCHEMA "ucxbpf.inventory/1"

/* An unknown number; unknown texts are NULL. */
#define INVENTORY_UNKNOWN (-1)

/* Where a device is plugged in. */
struct inventory_pci {
	char *address; /* "0000:18:00.0"; NULL: no PCI device */
	char *path; /* of the bridges down to it: "pci0000:16/0000:16:02.0/0000:18:00.0" */
	int64_t width, max_width; /* lanes, of the link as it is and as the device could */
	int64_t speed, max_speed; /* MT/s: 2500, 5000, 8000, 16000, 32000, 64000 */
	int64_t numa; /* node; unknown where there is but one */
};

struct inventory_gpu {
	char *vendor; /* "nvidia", "amd", "intel" */
	char *model, *uuid, *driver;
	struct inventory_pci pci;
};

struct inventory_address {
	char *address; /* in numbers */
	char *type; /* "IPv4", "IPv6"; of GIDs "IB/RoCE v1", "RoCE v2" */
	int64_t index; /* of a GID */
	char *netdev; /* of a GID: "eth0" */
};

struct inventory_counter {
	char *name; /* the file's: "port_xmit_data", "tx_bytes" */
	int64_t value; /* as the file has it: port_xmit_data and port_rcv_data are in units of 4 B
			*/
};

/* A port of an RDMA device, or a network interface; a RoCE port is both, and there are two of them.
 */
struct inventory_nic {
	char *name; /* as UCX names it: "mlx5_0:1", "eth0" */
	char *kind; /* "verbs", "net" */
	char *link_layer; /* "InfiniBand", "Ethernet", "loopback" */
	char *driver; /* "mlx5_core", "veth" */
	char *state; /* "up", "down" or the driver's word ("init", "armed", "dormant") */
	char *physical; /* verbs: "LinkUp", "Polling"... */
	char *width_text; /* verbs: "4X HDR" */
	char *netdev; /* verbs: the interface of a RoCE port */
	char *master; /* net: the bond or bridge it belongs to */
	char *firmware, *model, *mac;
	int64_t rate; /* bit/s */
	int64_t mtu; /* B */
	int64_t traffic_class; /* verbs: of RoCE, if the driver reports it */
	struct inventory_pci pci;
	VEC(struct inventory_address) addresses;
	VEC(struct inventory_counter) counters;
};

struct inventory_numa {
	int64_t node;
	char *cpus; /* "0-31,64-95" */
	int64_t memory; /* B */
	char *distances; /* to each node: "10 21" */
};

/* A module of a copy of UCX (libuct_ib.so.0), which UCX loads where it can. */
struct inventory_module {
	char *path, *build_id;
	char *missing; /* why the loader would refuse it: the missing libraries; NULL: none */
};

/* A copy of UCX or of an MPI library that a program might load. */
struct inventory_library {
	char *path, *build_id;
	char *version; /* "1.13.1", "Open MPI 4.1.4" */
	char *found_by; /* "loader cache", "LD_LIBRARY_PATH", "usual folder" */
	char *missing; /* as of a module */
	VEC(struct inventory_module) modules; /* of UCX */
};

struct inventory_variable {
	char *name, *value;
	char *from; /* "environment", or the path of a ucx.conf; the last one of a name wins */
};

/* A kernel module that transports need. */
struct inventory_driver {
	char *name;
	char *version; /* NULL: not reported */
	char *device; /* "/dev/gdrdrv"; NULL: not needed, or missing */
};

struct inventory_limits {
	int64_t memlock, max_memlock; /* B; INT64_MAX: unlimited */
	int64_t open_files, max_open_files;
	int64_t ptrace_scope; /* kernel.yama.ptrace_scope */
	char *user_namespace, *pid_namespace, *ipc_namespace, *net_namespace; /* "4026531837" */
	int64_t initial_user_namespace; /* 1: it is that of the host */
	int64_t shm_bytes; /* size of /dev/shm */
};

struct inventory_cpus {
	char *model, *online, *allowed; /* lists as the kernel writes them */
	int64_t count;
};

/* A process that has a verbs device open. */
struct inventory_user {
	int64_t pid;
	char *comm, *device; /* "uverbs0" */
};

/* Why something is not known. */
struct inventory_reason {
	char *what; /* "nics/eth0/rate" */
	char *why;
};

struct inventory {
	char *version; /* of ucxbpf */
	char *host, *boot_id, *kernel, *machine;
	/*
	 * From the kernel itself, whatever is mounted over its file in /proc: one per machine.
	 * NULL: unknown
	 */
	char *kernel_boot_id;
	int64_t real_ns, mono_ns; /* CLOCK_REALTIME, CLOCK_MONOTONIC when the counters were read */
	int64_t took_ns;
	struct inventory_cpus cpus;
	struct inventory_limits limits;
	VEC(struct inventory_numa) numa;
	VEC(struct inventory_gpu) gpus; /* by PCI address: gpu0 is the first */
	VEC(struct inventory_nic) nics; /* by name */
	VEC(struct inventory_counter) tcp; /* of the network namespace: RetransSegs... */
	VEC(struct inventory_user) verbs_users;
	VEC(struct inventory_library) ucx, mpi;
	VEC(struct inventory_driver) drivers;
	VEC(struct inventory_variable) variables; /* UCX_*, of the environment */
	VEC(struct inventory_reason) unknown;
};

/*
 * Inspects this machine; root "" or a folder with proc/ and sys/ in it, whose content is not
 * trusted. Never fails: values that cannot be read are unknown. The caller's.
 */
struct inventory *inventory_collect(const char *root);

/* The same for NUMA nodes and NICs only: to read counters repeatedly. */
struct inventory *inventory_collect_nics(const char *root);

void inventory_free(struct inventory *inventory);

/* Each returns 0 or -errno of a failed write. */
int inventory_write(const struct inventory *inventory, FILE *out);
int inventory_text(const struct inventory *inventory, FILE *out);

#define INVENTORY_WHY 240

/*
 * Reads one. -EINVAL: unknown version or a member of the wrong type; why names it and the reason.
 * Any other -errno: the file cannot be read.
 */
int inventory_read(const char *path, struct inventory **inventory, char why[INVENTORY_WHY]);

/* The same of a text. */
int inventory_parse(const char *text, struct inventory **inventory, char why[INVENTORY_WHY]);

/* ---- queries ---- */ /* A NIC by UCX's device name; "mlx5_0" is its first port. NULL: unknown
			   name. */
const struct inventory_nic *inventory_nic(const struct inventory *inventory, const char *name);

/* Whether its state is known to be up. */
bool inventory_nic_up(const struct inventory_nic *nic);

/* Unknown: no such counter. */
int64_t inventory_counter(const struct inventory_nic *nic, const char *name);

/* Likewise, of TCP on all of the node. */
int64_t inventory_tcp_counter(const struct inventory *inventory, const char *name);

/* Why something is not known ("nics/eth0/rate"); NULL: no reason is recorded. */
const char *inventory_why(const struct inventory *inventory, const char *what);

/* Generation of PCI Express by its speed: 16000 MT/s is 4. 0: unknown. */
int inventory_pcie_gen(int64_t speed);

#endif
