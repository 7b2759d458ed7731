// SPDX-License-Identifier: BSD-3-Clause
/*
 * CPUs, memory, limits of the process, modules of the kernel. (Not by hwloc: Debian has no static
 * libudev, which its static form needs, and sysfs says the same.)
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/lists.h"
#include "base/text.h"
#include "site/inventory/collect.h"

#define MAX_TEXT (1 << 16) /* of a file with many lines */
#define FIRST_USER_NAMESPACE "4026531837" /* PROC_USER_INIT_INO of the kernel */

/* What follows a label at the begin of a line, without blanks; NULL: no such line. */
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

void collect_cpus(struct look *look)
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

void collect_numa(struct look *look)
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
		number = strndup(open + 1, strcspn(open + 1, "]"));
	free(link);
	return number;
}

void collect_limits(struct look *look)
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
void collect_drivers(struct look *look)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(*drivers); i++) {
		const char *name = drivers[i].name, *device = drivers[i].device;
		struct inventory_driver *driver;
		char path[LOOK_PATH];

		look_path(path, "%s/module/%s", look->sysfs, name);
		if (access(path, F_OK))
			continue;
		driver = vec_add(&look->inventory->drivers);
		driver->name = strdup(name);
		driver->version = look_line("%s/version", path);
		if (!device)
			continue;
		look_path(path, "%s%s", look->root, device);
		if (!access(path, R_OK | W_OK))
			driver->device = strdup(device);
		else
			look_unknown(look, strerror(errno), "drivers/%s/device", name);
	}
}
