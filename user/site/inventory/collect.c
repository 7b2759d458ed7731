// SPDX-License-Identifier: BSD-3-Clause
#include <linux/magic.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "site/inventory/collect.h"
#include "version.h"

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
		inventory->kernel_boot_id = strdup(inventory->boot_id);
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
			     "it could be told",
			     "kernel_boot_id");
}

static void take_names(struct look *look)
{
	struct inventory *inventory = look->inventory;
	struct utsname names;

	uname(&names);
	inventory->version = strdup(UCXBPF_VERSION);
	inventory->host = text_plain(names.nodename);
	inventory->kernel = text_plain(names.release);
	inventory->machine = text_plain(names.machine);
	inventory->boot_id = look_line("%s/sys/kernel/random/boot_id", look->proc);
	if (!inventory->boot_id)
		inventory->boot_id = strdup("");
	take_kernel_boot_id(look);
}

static int by_name(const void *left, const void *right)
{
	const struct inventory_nic *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static void take_nics(struct look *look)
{
	struct inventory *inventory = look->inventory;

	inventory->real_ns = (int64_t)clock_ns(CLOCK_REALTIME);
	inventory->mono_ns = (int64_t)clock_ns(CLOCK_MONOTONIC);
	collect_tcp(look);
	collect_net(look);
	collect_addresses(look);
	collect_verbs(look);
	if (inventory->nics.len)
		qsort(inventory->nics.data, inventory->nics.len, sizeof(*inventory->nics.data),
		      by_name);
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
	/* the last, so that what is traced begins or ends close to it */
	take_nics(&look);
	if (sysfs >= 0)
		close(sysfs);
	look.inventory->took_ns = (int64_t)(clock_ns(CLOCK_MONOTONIC) - begun);
	return look.inventory;
}
