// SPDX-License-Identifier: BSD-3-Clause
#include "site/policy/catalogue.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"

const char *const severity_names[SEVERITIES] = { "info", "warning", "critical" };

#define KIB 1024.0
#define MIB (1024 * KIB)

#define SETTING(rule, name) #name, offsetof(struct rule_settings, rule.name)

#define CRITICAL SEVERITY_CRITICAL
#define WARNING SEVERITY_WARNING
#define INFO SEVERITY_INFO

const struct catalogue_rule catalogue[CATALOGUE_RULES] = {
	/* completeness: these gate all others */
	[RULE_COV_01] = {
		.id = "COV-01",
		.family = FAMILY_COV,
		.title = "no record was lost",
		.severity = CRITICAL,
		.needs = NEEDS_CAPTURE,
		.causes = {
			"rings too small for the rate",
			"the tracer was starved of CPU",
			"disk full",
		},
		.remedy = "trace fewer levels (--level) or with --count",
		.reference = "Falco, Tetragon: drop counters",
	},
	[RULE_COV_02] = {
		.id = "COV-02",
		.family = FAMILY_COV,
		.title = "traced bytes agree with the ports' counters",
		.severity = CRITICAL,
		.needs = NEEDS_COUNTERS,
		.params = {
			{ SETTING(cov_02, low), PARAM_SHARE, 0.99 },
			{ SETTING(cov_02, high), PARAM_NUMBER, NAN },
			{ SETTING(cov_02, untraced), PARAM_LIST, 0 },
			{ SETTING(cov_02, slack), PARAM_SIZE, MIB },
		},
		.causes = {
			"traffic that no CPU posts (GPU-initiated, triggered)",
			"another job, storage or NCCL",
			"an unprobed copy of UCX",
		},
		.remedy = "trace the other traffic, or declare its interfaces under untraced",
		.reference = "openucx/ucx#11680",
	},
	[RULE_COV_03] = {
		.id = "COV-03",
		.family = FAMILY_COV,
		.title = "all planned traffic was traced once",
		.severity = CRITICAL,
		.needs = NEEDS_PLAN,
		.causes = {
			"a rank was not started",
			"a second copy of the libraries",
			"tracing began too late",
		},
		.remedy = "read the rank's output; run ucxbpf doctor -p PID",
		.reference = "ucTrace: UCP joined with UCT",
	},
	[RULE_COV_04] = {
		.id = "COV-04",
		.family = FAMILY_COV,
		.title = "both ends of every message were seen",
		.severity = CRITICAL,
		.needs = NEEDS_CAPTURE,
		.params = {
			{ SETTING(cov_04, share), PARAM_SHARE, 0.001 },
			{ SETTING(cov_04, open), PARAM_NUMBER, 5 },
		},
		.causes = { "a rank hangs", "one end is not traced", "an endpoint failed" },
		.remedy = "find out what the ranks named here wait for",
		.reference = "NVIDIA/nccl#2428",
	},
	[RULE_COV_05] = {
		.id = "COV-05",
		.family = FAMILY_COV,
		.title = "transport, device and memory of data are known",
		.severity = WARNING,
		.needs = NEEDS_CAPTURE,
		.params = {
			{ SETTING(cov_05, share), PARAM_SHARE, 0.01 },
			{ SETTING(cov_05, critical), PARAM_SHARE, 0.05 },
		},
		.causes = {
			"a build of UCX with an unknown layout",
			"endpoints made before tracing began",
		},
		.remedy = "start tracing with the job (ucxbpf run), or install UCX's debug symbols",
		.reference = "cilium/tetragon#4883",
	},
	[RULE_COV_06] = {
		.id = "COV-06",
		.family = FAMILY_COV,
		.title = "every process has the same libraries, all of them probed",
		.severity = CRITICAL,
		.needs = NEEDS_CAPTURE,
		.causes = {
			"a container's copy beside the host's",
			"HPC-X beside the distribution's UCX",
		},
		.remedy = "let the loader find one UCX only: LD_LIBRARY_PATH, ldconfig -p",
		.reference = "openucx/ucx#9727",
	},

	[RULE_CFG_01] = {
		.id = "CFG-01",
		.family = FAMILY_CFG,
		.title = "all nodes of a class have the same software and settings",
		.severity = WARNING,
		.needs = NEEDS_CAPTURE,
		.causes = {
			"a node was not updated",
			"an environment file differs",
			"a misspelt UCX_* name",
		},
		.remedy = "compare the nodes named here",
		.reference = "openucx/ucx#8730",
	},
	[RULE_RAIL_05] = {
		.id = "RAIL-05",
		.family = FAMILY_RAIL,
		.title = "each NIC of the class is up, at its rate and width",
		.severity = CRITICAL,
		.needs = NEEDS_INVENTORY,
		.causes = { "cable", "a port was taken down", "PCIe trained to fewer lanes" },
		.remedy = "check the port's state and reseat it",
		.reference = "openucx/ucx#9520",
	},

	/* paths */
	[RULE_PATH_01] = {
		.id = "PATH-01",
		.family = FAMILY_PATH,
		.title = "transfers take the paths that the policy expects",
		.severity = CRITICAL,
		.needs = NEEDS_CAPTURE,
		.causes = { "UCX_TLS or UCX_NET_DEVICES differ", "a transport module is missing" },
		.remedy = "compare ucx_info -d of this node and another one",
		.reference = "ucTrace, Table II",
	},
	[RULE_PATH_02] = {
		.id = "PATH-02",
		.family = FAMILY_PATH,
		.title = "nodes send no data over TCP, unless the policy allows it",
		.severity = CRITICAL,
		.needs = NEEDS_CAPTURE,
		.params = {
			{ SETTING(path_02, bytes), PARAM_SIZE, MIB },
			{ SETTING(path_02, share), PARAM_SHARE, 0.001 },
			{ SETTING(path_02, management), PARAM_LIST, 0 },
		},
		.causes = {
			"the InfiniBand module is missing or does not load",
			"memlock limit",
			"UCX was built against other libraries than the node's",
		},
		.remedy = "check ucx_info -d, ulimit -l and UCX's module folder; "
			  "if TCP is the network, allow it: expect: [{loc: inter, tl: [tcp]}]",
		.reference = "openucx/ucx#9727, #7245, #10016, #6264",
	},
	[RULE_PATH_03] = {
		.id = "PATH-03",
		.family = FAMILY_PATH,
		.title = "processes of one node do not communicate over a NIC",
		.severity = CRITICAL,
		.needs = NEEDS_CAPTURE,
		.causes = { "pid, ipc or user namespaces of containers", "cuda_ipc is switched off" },
		.remedy = "share the namespaces (--ipc host, --pid host); allow cuda_ipc and shared memory",
		.reference = "ucTrace (GROMACS), openucx/ucx#9213",
	},
	[RULE_PATH_04] = {
		.id = "PATH-04",
		.family = FAMILY_PATH,
		.title = "GPUs of one node communicate over cuda_ipc",
		.severity = CRITICAL,
		.needs = NEEDS_CAPTURE,
		.params = {
			{ SETTING(path_04, size), PARAM_SIZE, 64 * KIB },
			{ SETTING(path_04, share), PARAM_SHARE, 0.99 },
		},
		.causes = {
			"a cgroup hides the peer's GPU (--gpus-per-task)",
			"container namespaces",
			"memory that cannot be exported (VMM, pools)",
			"peer access is off",
		},
		.remedy = "give the job all GPUs and order them by CUDA_VISIBLE_DEVICES; --ipc host",
		.reference = "open-mpi/ompi#11949, openucx/ucx#7110",
	},
	/* below that, UCX 1.13.1 sends eagerly by bcopy even where cma is there */
	[RULE_PATH_05] = {
		.id = "PATH-05",
		.family = FAMILY_PATH,
		.title = "large host messages of one node are copied once",
		.severity = WARNING,
		.needs = NEEDS_CAPTURE,
		.params = { { SETTING(path_05, size), PARAM_SIZE, MIB } },
		.causes = {
			"kernel.yama.ptrace_scope",
			"user namespaces",
			"xpmem or knem is not loaded",
		},
		.remedy = "set ptrace_scope to 0, or load xpmem",
		.reference = "openucx/ucx#8958, #10317",
	},
	[RULE_PATH_06] = {
		.id = "PATH-06",
		.family = FAMILY_PATH,
		.title = "small GPU messages use gdr_copy",
		.severity = CRITICAL,
		.needs = NEEDS_CAPTURE,
		.params = { { SETTING(path_06, size), PARAM_SIZE, 8 * KIB } },
		.causes = {
			"the loader does not find libgdrapi",
			"gdrdrv is not loaded",
			"no device node",
		},
		.remedy = "install libgdrapi where the loader finds it; load gdrdrv",
		.reference = "NVIDIA/gdrcopy#234",
	},
	[RULE_PATH_07] = {
		.id = "PATH-07",
		.family = FAMILY_PATH,
		.title = "large GPU messages are not staged through host memory",
		.severity = CRITICAL,
		.needs = NEEDS_CAPTURE,
		.params = { { SETTING(path_07, size), PARAM_SIZE, 64 * KIB } },
		.causes = {
			"nvidia_peermem or dma-buf is missing",
			"BAR1 is too small",
			"GPU and NIC on different NUMA nodes",
		},
		.remedy = "load nvidia_peermem; place ranks near their NIC",
		.reference = "openucx/ucx#10871, #11121, #3984",
	},
	[RULE_PATH_08] = {
		.id = "PATH-08",
		.family = FAMILY_PATH,
		.title = "mlx5 devices use the accelerated transports",
		.severity = WARNING,
		.needs = NEEDS_CAPTURE,
		.causes = { "UCX was built without mlx5dv", "a mix of MOFED and rdma-core" },
		.remedy = "check that ucx_info -d lists rc_mlx5",
		.reference = "openucx/ucx#4770, #5979",
	},
	[RULE_PATH_09] = {
		.id = "PATH-09",
		.family = FAMILY_PATH,
		.title = "rc or dc is chosen by the number of endpoints",
		.severity = INFO,
		.needs = NEEDS_CAPTURE,
		.params = { { SETTING(path_09, endpoints), PARAM_COUNT, 256 } },
		.causes = { "the job grew beyond the limit" },
		.remedy = "set UCX_TLS for the scale",
		.reference = "openucx/ucx#3944",
	},
	[RULE_PATH_10] = {
		.id = "PATH-10",
		.family = FAMILY_PATH,
		.title = "UCX knows the type of memory",
		.severity = CRITICAL,
		.needs = NEEDS_CAPTURE,
		.causes = {
			"memory was allocated before UCX's hooks were in place",
			"a stale entry of the memory type cache",
		},
		.remedy = "set UCX_MEMTYPE_CACHE=n; link the CUDA runtime dynamically",
		.reference = "openucx/ucx#2755, #3210",
	},
	[RULE_PATH_11] = {
		.id = "PATH-11",
		.family = FAMILY_PATH,
		.title = "MPI uses UCX in every rank",
		.severity = CRITICAL,
		.needs = NEEDS_CAPTURE,
		.causes = {
			"another PML was selected: no device was in the list of PML ucx",
			"UCX_NET_DEVICES names no device of the node",
		},
		.remedy = "run with --mca pml ucx --mca pml_base_verbose 10",
		.reference = "open-mpi/ompi#11419, #9617",
	},
	[RULE_PATH_12] = {
		.id = "PATH-12",
		.family = FAMILY_PATH,
		.title = "both directions take the same path",
		.severity = WARNING,
		.needs = NEEDS_CAPTURE,
		.params = { { SETTING(path_12, size), PARAM_SIZE, MIB } },
		.causes = { "one node lacks a module", "settings differ between nodes" },
		.remedy = "compare both nodes' modules and UCX_* variables",
		.reference = "openucx/ucx#3984, #10548",
	},
	[RULE_PATH_13] = {
		.id = "PATH-13",
		.family = FAMILY_PATH,
		.title = "puts, gets and atomics are not emulated where a lane could carry them",
		.severity = CRITICAL,
		.needs = NEEDS_CAPTURE,
		.causes = {
			"UCX_TLS or UCX_NET_DEVICES excludes the lane",
			"cuda_ipc without NVLink, which has no get unless UCX_CUDA_IPC_ENABLE_GET_ZCOPY=y",
			"UCX_PROTO_ENABLE=y with UCX 1.13: atomics over shared memory",
			"shared memory cannot reach the memory: namespaces of containers; memory of the "
			"heap (UCX_ALLOC_PRIO) without cma or xpmem",
		},
		.remedy = "find a transport with put, get and atomics in ucx_info -d; allow it "
			  "in UCX_TLS",
		.reference = "UCX, src/ucp/rma/put_am.c: software emulation",
	},

	/* rails */
	[RULE_RAIL_01] = {
		.id = "RAIL-01",
		.family = FAMILY_RAIL,
		.title = "large messages use as many rails as expected",
		.severity = CRITICAL,
		.needs = NEEDS_CAPTURE,
		.params = { { SETTING(rail_01, size), PARAM_SIZE, MIB } },
		.causes = {
			"a rail is down",
			"UCX_MAX_RNDV_RAILS",
			"a bond that is not recognised",
		},
		.remedy = "set UCX_MAX_RNDV_RAILS, UCX_MAX_EAGER_RAILS; check the state of the ports",
		.reference = "openucx/ucx#10548",
	},
	[RULE_RAIL_02] = {
		.id = "RAIL-02",
		.family = FAMILY_RAIL,
		.title = "rails carry equal shares",
		.severity = WARNING,
		.needs = NEEDS_CAPTURE,
		.params = {
			{ SETTING(rail_02, max_over_mean), PARAM_NUMBER, 1.10 },
			{ SETTING(rail_02, critical), PARAM_NUMBER, 1.50 },
			{ SETTING(rail_02, size), PARAM_SIZE, 64 * KIB },
		},
		.causes = {
			"one of several rails is down",
			"all ranks are near the same NIC",
			"one path of a bond is used",
		},
		.remedy = "compare the bytes per NIC with its rate to find the idle one",
		.reference = "openucx/ucx#11680, #10430",
	},
	[RULE_RAIL_03] = {
		.id = "RAIL-03",
		.family = FAMILY_RAIL,
		.title = "fragments divide evenly among rails",
		.severity = WARNING,
		.needs = NEEDS_CAPTURE,
		.params = { { SETTING(rail_03, max_over_mean), PARAM_NUMBER, 1.10 } },
		.causes = { "one large fragment more than there are rails" },
		.remedy = "use smaller fragments, or a multiple of the number of rails",
		.reference = "multi-rail MPC: 3 NICs as fast as 2",
	},
	[RULE_RAIL_04] = {
		.id = "RAIL-04",
		.family = FAMILY_RAIL,
		.title = "rails are on different adapters",
		.severity = WARNING,
		.needs = NEEDS_INVENTORY,
		.causes = { "both ports of one adapter were taken" },
		.remedy = "name the devices in UCX_NET_DEVICES",
		.reference = "openucx/ucx#9520",
	},

	/* affinity */
	[RULE_AFF_01] = {
		.id = "AFF-01",
		.family = FAMILY_AFF,
		.title = "a GPU's traffic leaves by the nearest NIC",
		.severity = WARNING,
		.needs = NEEDS_INVENTORY,
		.params = { { SETTING(aff_01, share), PARAM_SHARE, 0.01 } },
		.causes = {
			"a virtual machine or container hides the distances",
			"the rank is bound to other cores",
		},
		.remedy = "set UCX_NET_DEVICES per rank, by the class's map",
		.reference = "openucx/ucx#11259, NVIDIA/nccl#820",
	},
	[RULE_AFF_02] = {
		.id = "AFF-02",
		.family = FAMILY_AFF,
		.title = "ranks run near their GPU and NIC",
		.severity = WARNING,
		.needs = NEEDS_INVENTORY,
		.causes = {
			"--bind-to none",
			"a cgroup's CPUs",
			"binding in MPI_Init, after the tracer read it",
		},
		.remedy = "bind ranks to the NUMA node of their GPU",
		.reference = "ucTrace",
	},
	[RULE_AFF_03] = {
		.id = "AFF-03",
		.family = FAMILY_AFF,
		.title = "no NIC serves two GPUs while another is idle",
		.severity = CRITICAL,
		.needs = NEEDS_INVENTORY,
		.causes = { "several NICs are equally near, and all ranks take the first" },
		.remedy = "set UCX_NET_DEVICES per rank",
		.reference = "openucx/ucx#8401",
	},
	[RULE_AFF_04] = {
		.id = "AFF-04",
		.family = FAMILY_AFF,
		.title = "both ends of a transfer use the same rail",
		.severity = INFO,
		.needs = NEEDS_INVENTORY,
		.causes = { "the order of NICs differs between nodes" },
		.remedy = "compare the order of devices",
		.reference = "multi-rail MPC",
	},

	/* protocol */
	[RULE_PROTO_01] = {
		.id = "PROTO-01",
		.family = FAMILY_PROTO,
		.title = "a larger message never takes less time",
		.severity = WARNING,
		.needs = NEEDS_TIMES,
		.params = {
			{ SETTING(proto_01, tolerance), PARAM_NUMBER, 1.15 },
			{ SETTING(proto_01, one_machine), PARAM_BOOL, 0 },
		},
		.causes = { "protocols switch at the wrong size" },
		.remedy = "set UCX_RNDV_THRESH, UCX_ZCOPY_THRESH",
		.reference = "openucx/ucx#7442",
	},
	[RULE_PROTO_02] = {
		.id = "PROTO-02",
		.family = FAMILY_PROTO,
		.title = "all nodes switch protocols at the same size and use one rendezvous scheme",
		.severity = WARNING,
		.needs = NEEDS_CAPTURE,
		.params = { { SETTING(proto_02, factor), PARAM_NUMBER, 2 } },
		.causes = { "thresholds are set on some nodes", "versions differ" },
		.remedy = "set UCX_RNDV_THRESH, UCX_RNDV_SCHEME on the nodes named here",
		.reference = "openucx/ucx#11091, #1832",
	},
	[RULE_PROTO_03] = {
		.id = "PROTO-03",
		.family = FAMILY_PROTO,
		.title = "collectives of GPU buffers move GPU memory",
		.severity = WARNING,
		.needs = NEEDS_CAPTURE,
		.params = { { SETTING(proto_03, share), PARAM_SHARE, 0 } },
		.causes = { "MPI reduces on the host" },
		.remedy = "use UCC or another collective component",
		.reference = "pmodels/mpich#5171",
	},
	[RULE_PROTO_04] = {
		.id = "PROTO-04",
		.family = FAMILY_PROTO,
		.title = "no memory is freed under an operation of its process",
		.severity = CRITICAL,
		.needs = NEEDS_CAPTURE,
		.causes = {
			"the program does not wait for its request, or for a flush",
			"a request was cancelled, and its callback not awaited",
		},
		.remedy = "complete the operation before ucp_mem_unmap()",
		.reference = "UCX, src/ucp/api/ucp.h: ucp_mem_unmap",
	},

	/* fabric */
	[RULE_FAB_01] = {
		.id = "FAB-01",
		.family = FAMILY_FAB,
		.title = "data uses the expected service level",
		.severity = WARNING,
		.needs = NEEDS_CAPTURE,
		.causes = { "UCX_IB_SL is not set" },
		.remedy = "set UCX_IB_SL",
		.reference = "GPU-to-GPU communication on Alps, Leonardo and LUMI",
	},
	[RULE_FAB_02] = {
		.id = "FAB-02",
		.family = FAMILY_FAB,
		.title = "both ends use the same RoCE addressing",
		.severity = CRITICAL,
		.needs = NEEDS_INVENTORY,
		.causes = { "GID tables differ", "the traffic class is set on one end" },
		.remedy = "set UCX_IB_GID_INDEX, UCX_IB_TRAFFIC_CLASS",
		.reference = "openucx/ucx#7785, #4512",
	},
	[RULE_FAB_03] = {
		.id = "FAB-03",
		.family = FAMILY_FAB,
		.title = "latencies have a short tail",
		.severity = WARNING,
		.needs = NEEDS_TIMES,
		.params = {
			{ SETTING(fab_03, p99_over_p50), PARAM_NUMBER, 3 },
			{ SETTING(fab_03, spread), PARAM_SHARE, 0.05 },
			{ SETTING(fab_03, one_machine), PARAM_BOOL, 0 },
		},
		.causes = { "congestion", "system noise" },
		.remedy = "repeat without other traffic; compare by distance",
		.reference = "GPU-to-GPU communication, Figure 8",
	},
	[RULE_FAB_04] = {
		.id = "FAB-04",
		.family = FAMILY_FAB,
		.title = "error counters do not increase",
		.severity = WARNING,
		.needs = NEEDS_COUNTERS,
		.params = { { SETTING(fab_04, wait_share), PARAM_SHARE, 0.01 } },
		.causes = { "cable or connector", "a port of a switch" },
		.remedy = "replace the cable of the port named here",
		.reference = "openucx/ucx#9590",
	},

	/* performance */
	[RULE_PERF_01] = {
		.id = "PERF-01",
		.family = FAMILY_PERF,
		.title = "no node is slower than its class",
		.severity = WARNING,
		.needs = NEEDS_TIMES,
		.params = {
			{ SETTING(perf_01, mad), PARAM_NUMBER, 6 },
			{ SETTING(perf_01, floor), PARAM_SHARE, 0.03 },
			{ SETTING(perf_01, confirm), PARAM_BOOL, 1 },
			{ SETTING(perf_01, one_machine), PARAM_BOOL, 0 },
		},
		.causes = { "PCIe width", "clock or power limit", "another process on the node" },
		.remedy = "check FAB-04 and RAIL-05 of the same node",
		.reference = "ClusterKit, Cluster Checker",
	},
	[RULE_PERF_02] = {
		.id = "PERF-02",
		.family = FAMILY_PERF,
		.title = "no pair is slower than its nodes explain",
		.severity = WARNING,
		.needs = NEEDS_TIMES,
		.params = {
			{ SETTING(perf_02, repeats), PARAM_COUNT, 3 },
			{ SETTING(perf_02, confirm), PARAM_BOOL, 1 },
			{ SETTING(perf_02, one_machine), PARAM_BOOL, 0 },
		},
		.causes = { "a link between their switches" },
		.remedy = "repeat with other partners on the same switches",
		.reference = "NVIDIA/nccl-tests#106",
	},
	[RULE_PERF_03] = {
		.id = "PERF-03",
		.family = FAMILY_PERF,
		.title = "goodput is near the links' rate",
		.severity = WARNING,
		.needs = NEEDS_TIMES,
		.params = {
			{ SETTING(perf_03, share), PARAM_SHARE, 0.85 },
			{ SETTING(perf_03, gpu_over_host), PARAM_SHARE, 0.9 },
			{ SETTING(perf_03, one_machine), PARAM_BOOL, 0 },
		},
		.causes = { "PCIe ACS", "PCIe width", "MTU", "NUMA placement" },
		.remedy = "check host memory first, then GPU memory",
		.reference = "NVIDIA/nccl-tests#112",
	},
	[RULE_PERF_04] = {
		.id = "PERF-04",
		.family = FAMILY_PERF,
		.title = "alltoall reaches the rate that the topology allows",
		.severity = INFO,
		.needs = NEEDS_TIMES,
		.params = {
			{ SETTING(perf_04, share), PARAM_SHARE, 0.7 },
			{ SETTING(perf_04, one_machine), PARAM_BOOL, 0 },
		},
		.causes = { "routing", "congestion" },
		.remedy = "compare with the edge forwarding index",
		.reference = "GPU-to-GPU communication, IV-A",
	},
	[RULE_PERF_05] = {
		.id = "PERF-05",
		.family = FAMILY_PERF,
		.title = "times and paths match the baseline",
		.severity = WARNING,
		.needs = NEEDS_TIMES | NEEDS_BASELINE,
		.params = {
			{ SETTING(perf_05, lower), PARAM_SHARE, 0.05 },
			{ SETTING(perf_05, upper), PARAM_SHARE, 0.10 },
			{ SETTING(perf_05, one_machine), PARAM_BOOL, 0 },
		},
		.causes = { "a driver, firmware or library was changed" },
		.remedy = "compare versions with the baseline's",
		.reference = "openucx/ucx#10868, #11091",
	},

	/* waiting */
	[RULE_WAIT_01] = {
		.id = "WAIT-01",
		.family = FAMILY_WAIT,
		.title = "no rank makes the others wait",
		.severity = INFO,
		.needs = NEEDS_CAPTURE,
		.params = { { SETTING(wait_01, share), PARAM_SHARE, 0.1 } },
		.causes = {
			"a slow core or GPU",
			"another process on its core",
			"more work than the others have",
		},
		.remedy = "find its call sites in WAITING; compare with another node",
		.reference = "Scalasca, root causes of wait states",
	},
	[RULE_WAIT_02] = {
		.id = "WAIT-02",
		.family = FAMILY_WAIT,
		.title = "every rank makes progress",
		.severity = INFO,
		.needs = NEEDS_CAPTURE,
		.params = { { SETTING(wait_02, share), PARAM_SHARE, 0.05 } },
		.causes = { "the rank computes between MPI_Isend or MPI_Irecv and the wait" },
		.remedy = "call MPI_Test in between, or use a progress thread; eager messages need neither",
		.reference = "open-mpi/ompi#9759",
	},
	[RULE_WAIT_03] = {
		.id = "WAIT-03",
		.family = FAMILY_WAIT,
		.title = "ranks enter collectives together",
		.severity = INFO,
		.needs = NEEDS_CAPTURE,
		.params = { { SETTING(wait_03, share), PARAM_SHARE, 0.2 } },
		.causes = { "uneven work", "system noise" },
		.remedy = "find the processes that cause it in CAUSES OF WAITING",
		.reference = "Scalasca, wait at N x N",
	},
};

const struct catalogue_rule *catalogue_find(const char *id)
{
	for (size_t i = 0; i < CATALOGUE_RULES; i++)
		if (!strcmp(catalogue[i].id, id))
			return &catalogue[i];
	return NULL;
}

/* ---- as Markdown ---- */

static const char *const families[FAMILIES] = {
	[FAMILY_COV] = "Completeness: these rules gate all others",
	[FAMILY_CFG] = "Configuration",
	[FAMILY_RAIL] = "Rails",
	[FAMILY_PATH] = "Paths",
	[FAMILY_AFF] = "Affinity",
	[FAMILY_PROTO] = "Protocols",
	[FAMILY_FAB] = "Fabric",
	[FAMILY_PERF] = "Performance",
	[FAMILY_WAIT] = "Waiting",
};

static void print_size(double bytes, FILE *out)
{
	static const char units[] = " KMGT";
	size_t unit = 0;

	while (bytes >= 1024 && fmod(bytes, 1024) == 0 && units[unit + 1]) {
		bytes /= 1024;
		unit++;
	}
	fprintf(out, "%.0f%.*s", bytes, unit > 0, &units[unit]);
}

static void print_standard(const struct catalogue_param *param, FILE *out)
{
	if (isnan(param->standard))
		fputs("auto", out);
	else if (param->type == PARAM_SIZE)
		print_size(param->standard, out);
	else if (param->type == PARAM_BOOL)
		fputs(param->standard > 0 ? "true" : "false", out);
	else if (param->type == PARAM_LIST)
		fputs("[]", out);
	else
		fprintf(out, "%g", param->standard);
}

static void print_evidence(unsigned int needs, FILE *out)
{
	static const char *const names[] = { "port counters", "inventory", "a sweep's plan",
					     "a sweep's times", "a baseline" };
	const char *join = "";

	if (!needs)
		fputs("captures", out);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!(needs & 1u << i))
			continue;
		fprintf(out, "%s%s", join, names[i]);
		join = ", ";
	}
}

static void print_rule(const struct catalogue_rule *rule, FILE *out)
{
	fprintf(out, "\n### %s: %s\n\n%s; judged from ", rule->id, rule->title,
		severity_names[rule->severity]);
	print_evidence(rule->needs, out);
	fputs(".\n\n", out);
	for (size_t i = 0; i < CATALOGUE_CAUSES && rule->causes[i]; i++)
		fprintf(out, "%s%s", i ? "; " : "- likely: ", rule->causes[i]);
	fprintf(out, "\n- do: %s\n- seen in: %s\n", rule->remedy, rule->reference);
	for (size_t i = 0; i < CATALOGUE_PARAMS && rule->params[i].name; i++) {
		fprintf(out, "%s`%s: ", i ? ", " : "- settings: ", rule->params[i].name);
		print_standard(&rule->params[i], out);
		fputc('`', out);
	}
	if (rule->params[0].name)
		fputc('\n', out);
}

int catalogue_print(FILE *out)
{
	fputs("# Rules of site validation\n\n"
	      "The rules of `ucxbpf check`, as `ucxbpf policy rules` prints them. Every rule also has the\n"
	      "setting `severity`: info, warning, critical or off.\n",
	      out);
	for (enum rule_family family = 0; family < FAMILIES; family++) {
		fprintf(out, "\n## %s\n", families[family]);
		for (size_t i = 0; i < CATALOGUE_RULES; i++)
			if (catalogue[i].family == family)
				print_rule(&catalogue[i], out);
	}
	return text_finish(out);
}
