// SPDX-License-Identifier: BSD-3-Clause
/* Who has verbs devices open: those that may cause traffic beside the traced job. */
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "site/inventory/collect.h"

#define LONGEST 1000000000u /* ns; there may be many processes */

/* "uverbs0", the caller's; NULL: it has none open. */
static char *device_of(const char *proc, const char *pid)
{
	look_names fds = look_folder("%s/%s/fd", proc, pid);
	char *device = NULL;

	for (size_t i = 0; i < fds.len && !device; i++) {
		device = look_link("%s/%s/fd/%s", proc, pid, fds.data[i]);
		if (device && strncmp(device, "uverbs", 6)) {
			free(device);
			device = NULL;
		}
	}
	look_release(&fds);
	return device;
}

static void take_process(struct look *look, const char *pid)
{
	char *device = device_of(look->proc, pid);
	struct inventory_user *user;

	if (!device)
		return;
	user = vec_add(&look->inventory->verbs_users);
	user->pid = atoll(pid);
	user->comm = look_line("%s/%s/comm", look->proc, pid);
	user->device = device;
}

void collect_verbs_users(struct look *look)
{
	look_names verbs = look_folder("%s/class/infiniband_verbs", look->sysfs);
	look_names processes = { 0 };
	uint64_t begun = clock_ns(CLOCK_MONOTONIC);

	if (verbs.len)
		processes = look_folder("%s", look->proc);
	for (size_t i = 0; i < processes.len; i++) {
		if (clock_ns(CLOCK_MONOTONIC) - begun > LONGEST) {
			look_unknown(look, "too many processes to look at", "verbs_users");
			break;
		}
		if (isdigit((unsigned char)*processes.data[i]))
			take_process(look, processes.data[i]);
	}
	if (verbs.len && geteuid())
		look_unknown(look, "those of other users are hidden from who is not root",
			     "verbs_users");
	look_release(&processes);
	look_release(&verbs);
}
