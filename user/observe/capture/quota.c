// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/quota.h"

#include <inttypes.h>

#include "base/log.h"
#include "observe/capture/side.h"

void quota_release(struct quota *quota)
{
	map_release(&quota->taken);
}

bool quota_take(struct quota *quota, pid_t tgid)
{
	uint64_t *taken = map_insert(&quota->taken, (uint64_t)tgid, 0, NULL);

	if (*taken < quota->most) {
		++*taken;
		return true;
	}
	if (!quota->left_out++)
		log_warn("process %d has more than %" PRIu64 " %s: others are left out", tgid,
			 quota->most, quota->name);
	return false;
}

void quota_forget(struct quota *quota, pid_t tgid)
{
	map_remove(&quota->taken, (uint64_t)tgid, 0);
}

void quota_note(const struct quota *quota, struct file_writer *writer)
{
	if (!quota->left_out)
		return;
	side_write(writer, side_note("a process had more than %" PRIu64 " %s: others were left "
				     "out, %" PRIu64 " times",
				     quota->most, quota->name, quota->left_out));
}
