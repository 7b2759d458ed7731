// SPDX-License-Identifier: BSD-3-Clause
#include "base/confine.h"

#include <errno.h>
#include <seccomp.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>

#include "base/log.h"
#include "base/vec.h"

static const cap_value_t kept[] = {
	CAP_DAC_OVERRIDE, /* root reads captures of others, and replaces reports */
	CAP_DAC_READ_SEARCH,
	CAP_CHOWN, /* what root writes belongs to who called sudo */
	CAP_FOWNER,
};

static const char *const refused[] = {
	/* programs and processes */
	"execve",
	"execveat",
#ifndef __SANITIZE_ADDRESS__ /* finds leaks by it */
	"ptrace",
#endif
	"process_vm_readv",
	"process_vm_writev",
	"pidfd_getfd",
	"kcmp",
	/* networks */
	"socket",
	"socketpair",
	"connect",
	"bind",
	"listen",
	/* the kernel */
	"bpf",
	"perf_event_open",
	"userfaultfd",
	"io_uring_setup",
	"init_module",
	"finit_module",
	"delete_module",
	"kexec_load",
	"kexec_file_load",
	"add_key",
	"request_key",
	"keyctl",
	/* the system */
	"mount",
	"umount2",
	"move_mount",
	"open_tree",
	"fsopen",
	"pivot_root",
	"chroot",
	"setns",
	"unshare",
	"reboot",
	"swapon",
	"swapoff",
	"sethostname",
	"settimeofday",
	"clock_settime",
	"open_by_handle_at",
};

static int drop_capabilities(void)
{
	cap_t now = cap_get_proc(), less = cap_init();
	int err = now && less ? 0 : -errno;

	for (size_t i = 0; !err && i < ARRAY_SIZE(kept); i++) {
		cap_flag_value_t has = CAP_CLEAR;

		cap_get_flag(now, kept[i], CAP_PERMITTED, &has);
		cap_set_flag(less, CAP_PERMITTED, 1, &kept[i], has);
		cap_set_flag(less, CAP_EFFECTIVE, 1, &kept[i], has);
	}
	if (!err && cap_set_proc(less))
		err = -errno;
	cap_free(now);
	cap_free(less);
	return err;
}

/* Names that this architecture or this library does not know are no way to do it either. */
static int refuse_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int err = filter ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < ARRAY_SIZE(refused); i++) {
		int number = seccomp_syscall_resolve_name(refused[i]);

		if (number != __NR_SCMP_ERROR)
			err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
	}
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}

void confine_to_files(void)
{
	int err;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		log_debug("new privileges cannot be given up: %s", strerror(errno));
	err = drop_capabilities();
	if (err)
		log_debug("capabilities cannot be given up: %s", strerror(-err));
	err = refuse_calls();
	if (err)
		log_debug("system calls cannot be given up: %s", strerror(-err));
}
