// SPDX-License-Identifier: BSD-3-Clause
/* By number: the C library has functions for them since glibc 2.36 only, and we run on older ones.
 */
#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "site/inventory/look.h"

int look_mount(const char *kind)
{
	int context = (int)syscall(SYS_fsopen, kind, FSOPEN_CLOEXEC), mount = -1;

	if (context < 0)
		return -1;
	if (!syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
				     MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSUID |
					     MOUNT_ATTR_NODEV);
	close(context);
	return mount;
}
