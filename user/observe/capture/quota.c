// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/quota.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "observe/capture/side.h"
#include "observe/process/bounds.h"
#include "observe/process/proc.h"

void quota_release(struct quota *quota)
{
	map_release(&quota->taken);
	map_release(&quota->owners);
	map_release(&quota->users);
}

/* The share of the process's user. All users that cannot be determined any more have one share. */
static uint64_t *of_user(struct quota *quota, pid_t tgid)
{
	bool fresh;
	uint64_t *owner = map_insert(&quota->owners, (uint64_t)tgid, 0, &fresh);

	if (fresh)
		*owner = (uint64_t)proc_status_number(tgid, "Uid:");
	return map_insert(&quota->users, *owner, 0, NULL);
}

static void warn(struct quota *quota, pid_t tgid, bool user)
{
	if (quota->left_out++)
		return;
	if (user)
		log_warn("the user of process %d has more than %" PRIu64 " %s: others are left out",
			 tgid, BOUNDS_USER * quota->most, quota->name);
	else
		log_warn("process %d has more than %" PRIu64 " %s: others are left out", tgid,
			 quota->most, quota->name);
}

bool quota_take(struct quota *quota, pid_t tgid)
{
	uint64_t *taken = map_insert(&quota->taken, (uint64_t)tgid, 0, NULL);
	uint64_t *user = quota->by_user ? of_user(quota, tgid) : NULL;
	const bool room = *taken < quota->most;

	if (!room || (user && *user >= BOUNDS_USER * quota->most)) {
		warn(quota, tgid, room);
		return false;
	}
	++*taken;
	if (user)
		++*user;
	return true;
}

void quota_forget(struct quota *quota, pid_t tgid)
{
	const uint64_t *taken = map_find(&quota->taken, (uint64_t)tgid, 0);

	if (taken && quota->by_user)
		*of_user(quota, tgid) -= *taken;
	map_remove(&quota->taken, (uint64_t)tgid, 0);
	map_remove(&quota->owners, (uint64_t)tgid, 0);
}

void quota_note(const struct quota *quota, struct file_writer *writer)
{
	char user[64] = "";

	if (!quota->left_out)
		return;
	if (quota->by_user)
		snprintf(user, sizeof(user), ", or a user more than %" PRIu64,
			 BOUNDS_USER * quota->most);
	side_write(writer,
		   side_note("a process had more than %" PRIu64 " %s%s: others were left out, "
			     "%" PRIu64 " times",
			     quota->most, quota->name, user, quota->left_out));
}
