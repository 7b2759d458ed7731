// SPDX-License-Identifier: BSD-3-Clause
/*
 * A node: its names, CPUs, memory, limits of the process, modules of the kernel, and what the other
 * files here find. (Not by hwloc: Debian has no static libudev, which its static form needs, and
 * sysfs says the same.)
 */
#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lists.h"
#include "base/text.h"
#include "site/inventory/internal.h"
#include "version.h"

#define MAX_TEXT (1 << 16) /* of a file with many lines */
#define FIRST_USER_NAMESPACE "4026531837" /* PROC_USER_INIT_INO of the kernel */

/* The text after a label at the begin of a line, without blanks; NULL: no such line. */
static char *labelled(const char *path, const char *label)
{
	size_t size, length = strlen(label);
	char *text = look_whole(path, MAX_TEXT, &size), *value = NULL;

	for (char *line = text; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
		char *found;

		if (strncmp(line, label, length))
			continue;
		found = line + length;
		found += strspn(found, " \t:");
		found[strcspn(found, "\n")] = '\0';
		value = text_plain(found);
		break;
	}
	free(text);
	return value;
}

static void collect_cpus(struct look *look)
{
	struct inventory_cpus *cpus = &look->inventory->cpus;
	char path[LOOK_PATH];

	look_path(path, "%s/cpuinfo", look->proc);
	cpus->model = labelled(path, "model name");
	look_path(path, "%s/self/status", look->proc);
	cpus->allowed = labelled(path, "Cpus_allowed_list");
	cpus->online = look_line("%s/devices/system/cpu/online", look->sysfs);
	cpus->count = cpus_count(cpus->online);
}

/* "Node 0 MemTotal:       11757800 kB" */
static int64_t memory_of(const char *folder, int64_t node)
{
	char path[LOOK_PATH], label[64], *value;
	int64_t memory = INVENTORY_UNKNOWN;

	look_path(path, "%s/meminfo", folder);
	snprintf(label, sizeof(label), "Node %ld MemTotal:", (long)node);
	value = labelled(path, label);
	if (value && strtoll(value, NULL, 10) > 0 && strtoll(value, NULL, 10) < INT64_MAX >> 10)
		memory = strtoll(value, NULL, 10) << 10;
	free(value);
	return memory;
}

static int by_node(const void *left, const void *right)
{
	const struct inventory_numa *a = left, *b = right;

	return (a->node > b->node) - (a->node < b->node);
}

static void collect_numa(struct look *look)
{
	look_names names = look_folder("%s/devices/system/node", look->sysfs);
	struct inventory *inventory = look->inventory;

	for (size_t i = 0; i < names.len; i++) {
		struct inventory_numa *numa;
		char folder[LOOK_PATH];
		int number, end = 0;

		if (sscanf(names.data[i], "node%5d%n", &number, &end) != 1 || names.data[i][end])
			continue;
		look_path(folder, "%s/devices/system/node/%s", look->sysfs, names.data[i]);
		numa = vec_add(&inventory->numa);
		numa->node = number;
		numa->cpus = look_line("%s/cpulist", folder);
		numa->memory = memory_of(folder, number);
		numa->distances = look_line("%s/distance", folder);
	}
	if (inventory->numa.len)
		qsort(inventory->numa.data, inventory->numa.len, sizeof(*inventory->numa.data),
		      by_node);
	look_release(&names);
}

static void take_limit(int resource, int64_t *now, int64_t *most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return;
	*now = limit.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_cur;
	*most = limit.rlim_max > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_max;
}

/* "user:[4026531837]" */
static char *namespace_of(const char *proc, const char *name)
{
	char *link = look_link("%s/self/ns/%s", proc, name), *open;
	char *number = NULL;

	open = link ? strchr(link, '[') : NULL;
	if (open)
		number = xstrndup(open + 1, strcspn(open + 1, "]"));
	free(link);
	return number;
}

static void collect_limits(struct look *look)
{
	struct inventory_limits *limits = &look->inventory->limits;
	struct statvfs shm;

	take_limit(RLIMIT_MEMLOCK, &limits->memlock, &limits->max_memlock);
	take_limit(RLIMIT_NOFILE, &limits->open_files, &limits->max_open_files);
	limits->user_namespace = namespace_of(look->proc, "user");
	limits->pid_namespace = namespace_of(look->proc, "pid");
	limits->ipc_namespace = namespace_of(look->proc, "ipc");
	limits->net_namespace = namespace_of(look->proc, "net");
	if (limits->user_namespace)
		limits->initial_user_namespace =
			!strcmp(limits->user_namespace, FIRST_USER_NAMESPACE);
	if (!statvfs("/dev/shm", &shm))
		limits->shm_bytes = (int64_t)(shm.f_blocks * shm.f_frsize);
	limits->ptrace_scope = look_number("%s/sys/kernel/yama/ptrace_scope", look->proc);
	if (limits->ptrace_scope < 0)
		look_unknown(look, "this kernel has no Yama: no restriction of its",
			     "limits/ptrace_scope");
}

/* Modules, and the device node that a transport opens. */
static const struct {
	const char *name, *device;
} drivers[] = {
	{ "amdgpu", "/dev/kfd" },
	{ "bnxt_re", NULL },
	{ "cxi_core", NULL },
	{ "efa", NULL },
	{ "gdrdrv", "/dev/gdrdrv" },
	{ "hfi1", NULL },
	{ "ib_core", NULL },
	{ "ib_uverbs", NULL },
	{ "i915", NULL },
	{ "irdma", NULL },
	{ "knem", "/dev/knem" },
	{ "mlx5_core", NULL },
	{ "mlx5_ib", NULL },
	{ "nvidia", "/dev/nvidiactl" },
	{ "nvidia_peermem", NULL },
	{ "nvidia_uvm", "/dev/nvidia-uvm" },
	{ "nv_peer_mem", NULL },
	{ "rdma_cm", NULL },
	{ "rdma_rxe", NULL },
	{ "rdma_ucm", "/dev/infiniband/rdma_cm" },
	{ "xe", NULL },
	{ "xpmem", "/dev/xpmem" },
};

/* Modules that are built in show only where they have parameters. */
static void collect_drivers(struct look *look)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(*drivers); i++) {
		const char *name = drivers[i].name, *device = drivers[i].device;
		struct inventory_driver *driver;
		char path[LOOK_PATH];

		look_path(path, "%s/module/%s", look->sysfs, name);
		if (access(path, F_OK))
			continue;
		driver = vec_add(&look->inventory->drivers);
		driver->name = xstrdup(name);
		driver->version = look_line("%s/version", path);
		if (!device)
			continue;
		look_path(path, "%s%s", look->root, device);
		if (!access(path, R_OK | W_OK))
			driver->device = xstrdup(device);
		else
			look_unknown(look, strerror(errno), "drivers/%s/device", name);
	}
}

/* ---- variables of UCX ---- */

/*
 * UCX_* that a program started here would find: of files ucx.conf, then of the environment, which
 * comes before them (src/ucs/config/parser.c, 1.13.1: ucs_config_parse_config_files()).
 */

#define MAX_CONFIG (1 << 20)

static void add_variable(struct look *look, const char *text, const char *from)
{
	const char *equals = strchr(text, '=');
	struct inventory_variable *variable;
	char *name;

	if (strncmp(text, "UCX_", 4) || !equals)
		return;
	name = xstrndup(text, (size_t)(equals - text));
	variable = vec_add(&look->inventory->variables);
	variable->name = text_plain(name);
	variable->value = text_plain(equals + 1);
	variable->from = text_plain(from);
	free(name);
}

static void take_config(struct look *look, const char *path)
{
	size_t size;
	char *text = look_whole(path, MAX_CONFIG, &size), *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		line += strspn(line, " \t");
		line[strcspn(line, "\r")] = '\0';
		add_variable(look, line, path);
	}
	free(text);
}

static void collect_variables(struct look *look)
{
	const char *home = *look->root ? NULL : getenv("HOME");
	const char *folder = *look->root ? NULL : getenv("UCX_CONFIG_DIR");
	char path[LOOK_PATH];

	look_path(path, "%s/etc/ucx/ucx.conf", look->root);
	take_config(look, path);
	look_path(path, "%s/ucx.conf", folder ? folder : "");
	if (folder)
		take_config(look, path);
	look_path(path, "%s/ucx.conf", home ? home : "");
	if (home)
		take_config(look, path);
	for (char **at = environ; !*look->root && *at; at++)
		add_variable(look, *at, "environment");
}

/* ---- all of it ---- */

/*
 * Nodes made of one machine have a file each over the kernel's boot id, so that they pass for
 * several; a proc of our own has the kernel's.
 */
static void take_kernel_boot_id(struct look *look)
{
	struct inventory *inventory = look->inventory;
	struct statfs over;
	char path[LOOK_PATH];
	int mount;

	look_path(path, "%s/sys/kernel/random/boot_id", look->proc);
	if (*look->root || (!statfs(path, &over) && over.f_type == PROC_SUPER_MAGIC)) {
		inventory->kernel_boot_id = xstrdup(inventory->boot_id);
		return;
	}
	mount = look_mount("proc");
	if (mount >= 0) {
		inventory->kernel_boot_id =
			look_line("/proc/self/fd/%d/sys/kernel/random/boot_id", mount);
		close(mount);
	}
	if (!inventory->kernel_boot_id)
		look_unknown(look,
			     "something else lies over /proc/sys/kernel/random/boot_id; as root "
			     "it could be read",
			     "kernel_boot_id");
}

static void take_names(struct look *look)
{
	struct inventory *inventory = look->inventory;
	struct utsname names;

	uname(&names);
	inventory->version = xstrdup(UCXBPF_VERSION);
	inventory->host = text_plain(names.nodename);
	inventory->kernel = text_plain(names.release);
	inventory->machine = text_plain(names.machine);
	inventory->boot_id = look_line("%s/sys/kernel/random/boot_id", look->proc);
	if (!inventory->boot_id)
		inventory->boot_id = xstrdup("");
	take_kernel_boot_id(look);
}

struct inventory *inventory_collect_nics(const char *root)
{
	struct look look = { .root = root, .inventory = inventory_new() };
	uint64_t begun = clock_ns(CLOCK_MONOTONIC);

	snprintf(look.sysfs, sizeof(look.sysfs), "%s/sys", root);
	snprintf(look.proc, sizeof(look.proc), "%s/proc", root);
	collect_numa(&look);
	collect_nics(&look);
	look.inventory->mono_ns = (int64_t)begun;
	return look.inventory;
}

struct inventory *inventory_collect(const char *root)
{
	struct look look = { .root = root, .inventory = inventory_new() };
	uint64_t begun = clock_ns(CLOCK_MONOTONIC);
	int sysfs;

	snprintf(look.sysfs, sizeof(look.sysfs), "%s/sys", root);
	snprintf(look.proc, sizeof(look.proc), "%s/proc", root);
	sysfs = *root ? -1 : collect_own_sysfs(&look);
	take_names(&look);
	collect_cpus(&look);
	collect_numa(&look);
	collect_limits(&look);
	collect_drivers(&look);
	collect_variables(&look);
	collect_gpus(&look);
	collect_software(&look);
	collect_verbs_users(&look);
	/* last, so that counters are read close to the trace */
	collect_nics(&look);
	if (sysfs >= 0)
		close(sysfs);
	look.inventory->took_ns = (int64_t)(clock_ns(CLOCK_MONOTONIC) - begun);
	return look.inventory;
}
