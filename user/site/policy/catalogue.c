// SPDX-License-Identifier: BSD-3-Clause
#include "site/policy/catalogue.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

const char *const severity_names[SEVERITIES] = { "info", "warning", "critical" };

#define KIB 1024.0
#define MIB (1024 * KIB)

#define SETTING(rule, name) #name, offsetof(struct rule_settings, rule.name)

#define CRITICAL SEVERITY_CRITICAL
#define WARNING SEVERITY_WARNING
#define INFO SEVERITY_INFO

const struct catalogue_rule catalogue[CATALOGUE_RULES] = {
	/* completeness: these gate all others */
	{ "COV-01",
	  "no record was lost",
	  CRITICAL,
	  NEEDS_CAPTURE,
	  { { 0 } },
	  { "rings too small for the rate", "the tracer was starved of CPU", "disk full" },
	  "trace fewer levels (--level) or with --count",
	  "Falco, Tetragon: drop counters" },
	{ "COV-02",
	  "traced bytes agree with the ports' counters",
	  CRITICAL,
	  NEEDS_COUNTERS,
	  { { SETTING(cov_02, low), PARAM_SHARE, 0.99 },
	    { SETTING(cov_02, high), PARAM_NUMBER, NAN },
	    { SETTING(cov_02, untraced), PARAM_LIST, 0 },
	    { SETTING(cov_02, slack), PARAM_SIZE, MIB } },
	  { "traffic that no CPU posts (GPU-initiated, triggered)", "another job, storage or NCCL",
	    "an unprobed copy of UCX" },
	  "trace the other traffic, or declare its interfaces under untraced",
	  "openucx/ucx#11680" },
	{ "COV-03",
	  "what was planned was traced, once",
	  CRITICAL,
	  NEEDS_PLAN,
	  { { 0 } },
	  { "a rank was not started", "a second copy of the libraries", "tracing began too late" },
	  "look at the rank's output; ucxbpf doctor -p PID",
	  "ucTrace: UCP joined with UCT" },
	{ "COV-04",
	  "both ends of every message were seen",
	  CRITICAL,
	  NEEDS_CAPTURE,
	  { { SETTING(cov_04, share), PARAM_SHARE, 0.001 },
	    { SETTING(cov_04, open), PARAM_NUMBER, 5 } },
	  { "a rank hangs", "one end is not traced", "an endpoint failed" },
	  "look at the ranks named here: what do they wait for",
	  "NVIDIA/nccl#2428" },
	{ "COV-05",
	  "bytes are known by transport, device and memory",
	  WARNING,
	  NEEDS_CAPTURE,
	  { { SETTING(cov_05, share), PARAM_SHARE, 0.01 },
	    { SETTING(cov_05, critical), PARAM_SHARE, 0.05 } },
	  { "a build of UCX whose layout is not known", "endpoints made before tracing began" },
	  "start tracing with the job (ucxbpf run), or install UCX's debug symbols",
	  "cilium/tetragon#4883" },
	{ "COV-06",
	  "the same libraries, all probed, in every process",
	  CRITICAL,
	  NEEDS_CAPTURE,
	  { { 0 } },
	  { "a container's copy beside the host's", "HPC-X beside the distribution's UCX" },
	  "let one UCX be found: LD_LIBRARY_PATH, ldconfig -p",
	  "openucx/ucx#9727" },

	{ "CFG-01",
	  "the same software and settings on all nodes of a class",
	  WARNING,
	  NEEDS_CAPTURE,
	  { { 0 } },
	  { "a node was not updated", "an environment file differs", "a misspelt UCX_* name" },
	  "compare the nodes named here",
	  "openucx/ucx#8730" },
	{ "RAIL-05",
	  "each NIC of the class is up, at its rate and width",
	  CRITICAL,
	  NEEDS_INVENTORY,
	  { { 0 } },
	  { "cable", "a port was taken down", "PCIe trained to fewer lanes" },
	  "look at the port's state and reseat it",
	  "openucx/ucx#9520" },

	/* paths */
	{ "PATH-01",
	  "transfers go the way the policy expects",
	  CRITICAL,
	  NEEDS_CAPTURE,
	  { { 0 } },
	  { "UCX_TLS or UCX_NET_DEVICES differ", "a transport module is missing" },
	  "compare ucx_info -d on this node with another one",
	  "ucTrace, Table II" },
	{ "PATH-02",
	  "no data over TCP, where there is a faster network",
	  CRITICAL,
	  NEEDS_CAPTURE,
	  { { SETTING(path_02, bytes), PARAM_SIZE, MIB },
	    { SETTING(path_02, share), PARAM_SHARE, 0.001 },
	    { SETTING(path_02, management), PARAM_LIST, 0 } },
	  { "the InfiniBand module is missing or does not load", "memlock limit",
	    "built against other libraries than the node's" },
	  "ucx_info -d; ulimit -l; look for the module in UCX's module folder",
	  "openucx/ucx#9727, #7245, #10016, #6264" },
	{ "PATH-03",
	  "processes of one node do not talk over a NIC",
	  CRITICAL,
	  NEEDS_CAPTURE,
	  { { 0 } },
	  { "pid, ipc or user namespaces of containers", "cuda_ipc switched off" },
	  "share the namespaces (--ipc host, --pid host); allow cuda_ipc and shared memory",
	  "ucTrace (GROMACS), openucx/ucx#9213" },
	{ "PATH-04",
	  "GPUs of one node talk over cuda_ipc",
	  CRITICAL,
	  NEEDS_CAPTURE,
	  { { SETTING(path_04, size), PARAM_SIZE, 64 * KIB },
	    { SETTING(path_04, share), PARAM_SHARE, 0.99 } },
	  { "a cgroup hides the peer's GPU (--gpus-per-task)", "container namespaces",
	    "memory that cannot be exported (VMM, pools)", "peer access is off" },
	  "give the job all GPUs and order them by CUDA_VISIBLE_DEVICES; --ipc host",
	  "open-mpi/ompi#11949, openucx/ucx#7110" },
	/* below that, UCX 1.13.1 sends eagerly by bcopy even where cma is there */
	{ "PATH-05",
	  "large host messages of one node are copied once",
	  WARNING,
	  NEEDS_CAPTURE,
	  { { SETTING(path_05, size), PARAM_SIZE, MIB } },
	  { "kernel.yama.ptrace_scope", "user namespaces", "xpmem or knem is not loaded" },
	  "set ptrace_scope to 0, or load xpmem",
	  "openucx/ucx#8958, #10317" },
	{ "PATH-06",
	  "small GPU messages go by gdr_copy",
	  CRITICAL,
	  NEEDS_CAPTURE,
	  { { SETTING(path_06, size), PARAM_SIZE, 8 * KIB } },
	  { "libgdrapi is not found by the loader", "gdrdrv is not loaded", "no device node" },
	  "put libgdrapi where the loader looks; load gdrdrv",
	  "NVIDIA/gdrcopy#234" },
	{ "PATH-07",
	  "large GPU messages are not staged through host memory",
	  CRITICAL,
	  NEEDS_CAPTURE,
	  { { SETTING(path_07, size), PARAM_SIZE, 64 * KIB } },
	  { "nvidia_peermem or dma-buf is missing", "BAR1 is too small",
	    "GPU and NIC on different NUMA nodes" },
	  "load nvidia_peermem; place ranks near their NIC",
	  "openucx/ucx#10871, #11121, #3984" },
	{ "PATH-08",
	  "mlx5 devices use the accelerated transports",
	  WARNING,
	  NEEDS_CAPTURE,
	  { { 0 } },
	  { "UCX built without mlx5dv", "a mix of MOFED and rdma-core" },
	  "ucx_info -d: is rc_mlx5 there",
	  "openucx/ucx#4770, #5979" },
	{ "PATH-09",
	  "rc or dc, by the number of endpoints",
	  INFO,
	  NEEDS_CAPTURE,
	  { { SETTING(path_09, endpoints), PARAM_COUNT, 256 } },
	  { "the job grew beyond the limit" },
	  "set UCX_TLS for the scale",
	  "openucx/ucx#3944" },
	{ "PATH-10",
	  "UCX takes memory for what it is",
	  CRITICAL,
	  NEEDS_CAPTURE,
	  { { 0 } },
	  { "memory made before UCX's hooks were in place",
	    "a stale entry of the memory type cache" },
	  "UCX_MEMTYPE_CACHE=n; link the CUDA runtime shared",
	  "openucx/ucx#2755, #3210" },
	{ "PATH-11",
	  "MPI goes through UCX, in every rank",
	  CRITICAL,
	  NEEDS_CAPTURE,
	  { { 0 } },
	  { "another PML won: no device was in its list", "UCX_NET_DEVICES names none" },
	  "--mca pml ucx --mca pml_base_verbose 10",
	  "open-mpi/ompi#11419, #9617" },
	{ "PATH-12",
	  "both directions go the same way",
	  WARNING,
	  NEEDS_CAPTURE,
	  { { SETTING(path_12, size), PARAM_SIZE, MIB } },
	  { "one node lacks a module", "settings differ between nodes" },
	  "compare both nodes' modules and UCX_* variables",
	  "openucx/ucx#3984, #10548" },

	/* rails */
	{ "RAIL-01",
	  "large messages use as many rails as expected",
	  CRITICAL,
	  NEEDS_CAPTURE,
	  { { SETTING(rail_01, size), PARAM_SIZE, MIB } },
	  { "a rail is down", "UCX_MAX_RNDV_RAILS", "a bond that is not recognised" },
	  "UCX_MAX_RNDV_RAILS, UCX_MAX_EAGER_RAILS; state of the ports",
	  "openucx/ucx#10548" },
	{ "RAIL-02",
	  "rails carry the same",
	  WARNING,
	  NEEDS_CAPTURE,
	  { { SETTING(rail_02, max_over_mean), PARAM_NUMBER, 1.10 },
	    { SETTING(rail_02, critical), PARAM_NUMBER, 1.50 },
	    { SETTING(rail_02, size), PARAM_SIZE, 64 * KIB } },
	  { "one of several rails is down", "all ranks are near the same NIC",
	    "one path of a bond is used" },
	  "bytes per NIC beside its rate: which one is idle",
	  "openucx/ucx#11680, #10430" },
	{ "RAIL-03",
	  "fragments divide evenly among rails",
	  WARNING,
	  NEEDS_CAPTURE,
	  { { SETTING(rail_03, max_over_mean), PARAM_NUMBER, 1.10 } },
	  { "as many large fragments as rails, and one" },
	  "smaller fragments, or a multiple of the rails",
	  "multi-rail MPC: 3 NICs as fast as 2" },
	{ "RAIL-04",
	  "rails lie on different adapters",
	  WARNING,
	  NEEDS_INVENTORY,
	  { { 0 } },
	  { "both ports of one adapter were taken" },
	  "name the devices: UCX_NET_DEVICES",
	  "openucx/ucx#9520" },

	/* affinity */
	{ "AFF-01",
	  "a GPU's traffic leaves by the nearest NIC",
	  WARNING,
	  NEEDS_INVENTORY,
	  { { SETTING(aff_01, share), PARAM_SHARE, 0.01 } },
	  { "distances are not seen in a virtual machine or container", "rank bound elsewhere" },
	  "UCX_NET_DEVICES per rank, by the class's map",
	  "openucx/ucx#11259, NVIDIA/nccl#820" },
	{ "AFF-02",
	  "ranks run near their GPU and NIC",
	  WARNING,
	  NEEDS_INVENTORY,
	  { { 0 } },
	  { "--bind-to none", "a cgroup's CPUs", "bound in MPI_Init, later than was looked" },
	  "bind ranks to the NUMA node of their GPU",
	  "ucTrace" },
	{ "AFF-03",
	  "no NIC serves two GPUs while another is idle",
	  CRITICAL,
	  NEEDS_INVENTORY,
	  { { 0 } },
	  { "equally near NICs: all take the first" },
	  "UCX_NET_DEVICES per rank",
	  "openucx/ucx#8401" },
	{ "AFF-04",
	  "both ends of a transfer use the same rail",
	  INFO,
	  NEEDS_INVENTORY,
	  { { 0 } },
	  { "NIC order differs between nodes" },
	  "compare the order of devices",
	  "multi-rail MPC" },

	/* protocol */
	{ "PROTO-01",
	  "a larger message never takes less time",
	  WARNING,
	  NEEDS_TIMES,
	  { { SETTING(proto_01, tolerance), PARAM_NUMBER, 1.15 },
	    { SETTING(proto_01, one_machine), PARAM_BOOL, 0 } },
	  { "a switch between protocols at the wrong size" },
	  "UCX_RNDV_THRESH, UCX_ZCOPY_THRESH",
	  "openucx/ucx#7442" },
	{ "PROTO-02",
	  "protocols switch at the same size on all nodes, rendezvous by one scheme",
	  WARNING,
	  NEEDS_CAPTURE,
	  { { SETTING(proto_02, factor), PARAM_NUMBER, 2 } },
	  { "thresholds are set on some nodes", "versions differ" },
	  "UCX_RNDV_THRESH, UCX_RNDV_SCHEME on the nodes named here",
	  "openucx/ucx#11091, #1832" },
	{ "PROTO-03",
	  "collectives of GPU buffers move GPU memory",
	  WARNING,
	  NEEDS_CAPTURE,
	  { { SETTING(proto_03, share), PARAM_SHARE, 0 } },
	  { "the MPI reduces on the host" },
	  "UCC or another collective component",
	  "pmodels/mpich#5171" },

	/* fabric */
	{ "FAB-01",
	  "data goes on the expected service level",
	  WARNING,
	  NEEDS_CAPTURE,
	  { { 0 } },
	  { "UCX_IB_SL is not set" },
	  "UCX_IB_SL",
	  "GPU-to-GPU communication on Alps, Leonardo and LUMI" },
	{ "FAB-02",
	  "both ends address RoCE alike",
	  CRITICAL,
	  NEEDS_INVENTORY,
	  { { 0 } },
	  { "GID tables differ", "the traffic class is set on one end" },
	  "UCX_IB_GID_INDEX, UCX_IB_TRAFFIC_CLASS",
	  "openucx/ucx#7785, #4512" },
	{ "FAB-03",
	  "the tail of latencies is short",
	  WARNING,
	  NEEDS_TIMES,
	  { { SETTING(fab_03, p99_over_p50), PARAM_NUMBER, 3 },
	    { SETTING(fab_03, spread), PARAM_SHARE, 0.05 },
	    { SETTING(fab_03, one_machine), PARAM_BOOL, 0 } },
	  { "congestion", "noise of the system" },
	  "repeat alone; compare by distance",
	  "GPU-to-GPU communication, Figure 8" },
	{ "FAB-04",
	  "error counters stand still",
	  WARNING,
	  NEEDS_COUNTERS,
	  { { SETTING(fab_04, wait_share), PARAM_SHARE, 0.01 } },
	  { "cable or connector", "a port of a switch" },
	  "change the cable of the port named here",
	  "openucx/ucx#9590" },

	/* performance */
	{ "PERF-01",
	  "no node is slower than its class",
	  WARNING,
	  NEEDS_TIMES,
	  { { SETTING(perf_01, mad), PARAM_NUMBER, 6 },
	    { SETTING(perf_01, floor), PARAM_SHARE, 0.03 },
	    { SETTING(perf_01, confirm), PARAM_BOOL, 1 },
	    { SETTING(perf_01, one_machine), PARAM_BOOL, 0 } },
	  { "PCIe width", "clock or power limit", "another process on the node" },
	  "look for FAB-04 and RAIL-05 of the same node",
	  "ClusterKit, Cluster Checker" },
	{ "PERF-02",
	  "no pair is slower than its nodes explain",
	  WARNING,
	  NEEDS_TIMES,
	  { { SETTING(perf_02, repeats), PARAM_COUNT, 3 },
	    { SETTING(perf_02, confirm), PARAM_BOOL, 1 },
	    { SETTING(perf_02, one_machine), PARAM_BOOL, 0 } },
	  { "a link between their switches" },
	  "repeat with other partners on the same switches",
	  "NVIDIA/nccl-tests#106" },
	{ "PERF-03",
	  "goodput is near the links' rate",
	  WARNING,
	  NEEDS_TIMES,
	  { { SETTING(perf_03, share), PARAM_SHARE, 0.85 },
	    { SETTING(perf_03, gpu_over_host), PARAM_SHARE, 0.9 },
	    { SETTING(perf_03, one_machine), PARAM_BOOL, 0 } },
	  { "PCIe ACS", "PCIe width", "MTU", "NUMA placement" },
	  "host memory first, then the GPU's",
	  "NVIDIA/nccl-tests#112" },
	{ "PERF-04",
	  "alltoall reaches what the topology allows",
	  INFO,
	  NEEDS_TIMES,
	  { { SETTING(perf_04, share), PARAM_SHARE, 0.7 },
	    { SETTING(perf_04, one_machine), PARAM_BOOL, 0 } },
	  { "routing", "congestion" },
	  "compare with the edge forwarding index",
	  "GPU-to-GPU communication, IV-A" },
	{ "PERF-05",
	  "times and ways are those of the baseline",
	  WARNING,
	  NEEDS_TIMES | NEEDS_BASELINE,
	  { { SETTING(perf_05, lower), PARAM_SHARE, 0.05 },
	    { SETTING(perf_05, upper), PARAM_SHARE, 0.10 },
	    { SETTING(perf_05, one_machine), PARAM_BOOL, 0 } },
	  { "a driver, firmware or library was changed" },
	  "compare versions with the baseline's",
	  "openucx/ucx#10868, #11091" },
};

const struct catalogue_rule *catalogue_find(const char *id)
{
	for (size_t i = 0; i < CATALOGUE_RULES; i++)
		if (!strcmp(catalogue[i].id, id))
			return &catalogue[i];
	return NULL;
}

/* ---- as Markdown ---- */

static const char *const families[][2] = {
	{ "COV", "Completeness: these gate all others" },
	{ "CFG", "Configuration" },
	{ "RAIL", "Rails" },
	{ "PATH", "Paths" },
	{ "AFF", "Affinity" },
	{ "PROTO", "Protocols" },
	{ "FAB", "Fabric" },
	{ "PERF", "Performance" },
};

static bool in_family(const struct catalogue_rule *rule, const char *family)
{
	size_t length = strlen(family);

	return !strncmp(rule->id, family, length) && rule->id[length] == '-';
}

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
	      "What `ucxbpf check` asserts, as `ucxbpf policy rules` prints it. Every rule also has the\n"
	      "setting `severity`: info, warning, critical or off.\n",
	      out);
	for (size_t f = 0; f < sizeof(families) / sizeof(*families); f++) {
		fprintf(out, "\n## %s\n", families[f][1]);
		for (size_t i = 0; i < CATALOGUE_RULES; i++)
			if (in_family(&catalogue[i], families[f][0]))
				print_rule(&catalogue[i], out);
	}
	if (!fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
