// SPDX-License-Identifier: BSD-3-Clause
/* Without libcap and libseccomp: the latter crashes, or never returns, where memory runs out. */
#include "base/confine.h"

#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vec.h"

#define NOBODY 65534
#define BIT(capability) (1ull << (capability))

/* CAP_BPF and CAP_PERFMON are of Linux 5.8. */
#ifndef CAP_BPF
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif

static const uint64_t for_files = BIT(CAP_DAC_OVERRIDE) | /* root replaces reports of others, */
				  BIT(CAP_DAC_READ_SEARCH) | /* and reads their captures */
				  BIT(CAP_CHOWN) | /* what root writes belongs to who called sudo */
				  BIT(CAP_FOWNER);

static const uint64_t for_tracing =
	BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN) | /* probes, and names of containers */
	BIT(CAP_SYS_PTRACE) | /* memory and files of processes */
	BIT(CAP_SYS_RESOURCE) | BIT(CAP_IPC_LOCK) | /* maps, rings */
	BIT(CAP_SYS_NICE) | /* beside busy ranks */
	BIT(CAP_KILL); /* a command gets the signals sent to its tracer */

/* The calls that a tracer works with. */
static const uint32_t tracing[] = {
	SYS_bpf,   SYS_perf_event_open, SYS_process_vm_readv,
	SYS_setns, SYS_socketpair, /* to the process that keeps the links (keeper.h) */
};

static const uint32_t refused[] = {
	/* programs and processes */
	SYS_execve,
	SYS_execveat,
#ifndef __SANITIZE_ADDRESS__ /* finds leaks by it */
	SYS_ptrace,
#endif
	SYS_process_vm_writev,
	SYS_pidfd_getfd,
	SYS_pidfd_send_signal,
	SYS_kcmp,
	/* networks */
	SYS_socket,
	SYS_connect,
	SYS_bind,
	SYS_listen,
	/* the kernel */
	SYS_userfaultfd,
	SYS_io_uring_setup,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_kexec_file_load,
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
	/* the system */
	SYS_mount,
	SYS_umount2,
	SYS_move_mount,
	SYS_open_tree,
	SYS_mount_setattr,
	SYS_fsopen,
	SYS_fspick,
	SYS_fsconfig,
	SYS_fsmount,
	SYS_pivot_root,
	SYS_chroot,
	SYS_unshare,
	SYS_reboot,
	SYS_swapon,
	SYS_swapoff,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_clock_adjtime,
	SYS_adjtimex,
	SYS_quotactl,
	SYS_acct,
	SYS_open_by_handle_at,
};

#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)

/* The calls that a process needs to parse a file which it has mapped. */
static const uint32_t parsing[] = {
	SYS_recvmsg,    SYS_sendto,       SYS_read,
	SYS_write,      SYS_close,        SYS_mmap,
	SYS_munmap,     SYS_mremap,       SYS_brk,
	SYS_mprotect,   SYS_madvise,      SYS_getrandom,
	SYS_futex,      SYS_exit,         SYS_clock_gettime,
	SYS_exit_group, SYS_rt_sigreturn, SYS_restart_syscall,
};

static int drop_capabilities(uint64_t kept)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct now[2], less[2] = { 0 };

	if (syscall(SYS_capget, &head, now))
		return -errno;
	for (int i = 0; i < 2; i++)
		less[i].permitted = less[i].effective =
			now[i].permitted & (uint32_t)(kept >> 32 * i);
	return syscall(SYS_capset, &head, less) ? -errno : 0;
}

#ifdef __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#define OTHER_CALLS 0x40000000 /* numbers from here on are those of x32 */
#else
#define ARCH AUDIT_ARCH_AARCH64
#define OTHER_CALLS UINT32_MAX
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LACK BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)
/* the low half of an argument: both architectures are little-endian */
#define LOAD_ARGUMENT(i) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[i]))

/*
 * Calls that are refused by their arguments: clone(2) for a new namespace, and TIOCSTI, which types
 * into the user's terminal. The flags of clone3(2) are in memory, where no filter sees them: it is
 * as in a kernel that lacks it, so that the C library takes clone(2).
 */
static const struct sock_filter by_argument[] = {
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
	LACK,
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
	LOAD_ARGUMENT(0),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1),
	REFUSE,
	ALLOW,
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4),
	LOAD_ARGUMENT(1),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 0, 1),
	REFUSE,
	ALLOW,
};

static size_t add_calls(struct sock_filter *code, const uint32_t *calls, size_t count,
			struct sock_filter answer)
{
	for (size_t i = 0; i < count; i++) {
		*code++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
		*code++ = answer;
	}
	return 2 * count;
}

static int set_filter(struct sock_filter *code, size_t length)
{
	const struct sock_fprog filter = { .len = (unsigned short)length, .filter = code };

	/* Linux before 5.16 slows a process down that has a filter, unless it asks not to be */
	if (!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter))
		return 0;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) ? -errno : 0;
}

#define OWN_CALLS                                                                                  \
	LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0), REFUSE, LOAD(nr),             \
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_CALLS, 0, 1), REFUSE
#define OWN_CALLS_LENGTH 6

/* Calls of another architecture, which this program never makes, are refused as well. */
static int refuse_calls(bool traces)
{
	struct sock_filter code[7 + 2 * (ARRAY_SIZE(refused) + ARRAY_SIZE(tracing)) +
				ARRAY_SIZE(by_argument)] = { OWN_CALLS };
	const struct sock_filter refuse = REFUSE;
	size_t n = OWN_CALLS_LENGTH;

	n += add_calls(code + n, refused, ARRAY_SIZE(refused), refuse);
	if (!traces)
		n += add_calls(code + n, tracing, ARRAY_SIZE(tracing), refuse);
	memcpy(code + n, by_argument, sizeof(by_argument));
	n += ARRAY_SIZE(by_argument);
	code[n++] = (struct sock_filter)ALLOW;
	return set_filter(code, n);
}

static int refuse_all_but(const uint32_t *calls, size_t count)
{
	struct sock_filter code[7 + 2 * ARRAY_SIZE(parsing)] = { OWN_CALLS };
	size_t n = OWN_CALLS_LENGTH;

	n += add_calls(code + n, calls, count, (struct sock_filter)ALLOW);
	code[n++] = (struct sock_filter)REFUSE;
	return set_filter(code, n);
}

/* A kernel may be built without one of these; any other refusal leaves more rights than promised.
 */
static bool lacks(int err)
{
	return err == -EINVAL || err == -ENOSYS;
}

static void given_up(const char *what, int err)
{
	if (err)
		log_printf(lacks(err) ? LOG_DEBUG : LOG_WARN, "%s cannot be given up: %s", what,
			   strerror(-err));
}

static void confine(uint64_t kept, bool traces)
{
	given_up("new privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0);
	given_up("capabilities", drop_capabilities(kept));
	given_up("system calls", refuse_calls(traces));
}

void confine_to_files(void)
{
	confine(for_files, false);
}

void confine_to_answers(void)
{
	if (!geteuid())
		given_up("root", setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
						 setresuid(NOBODY, NOBODY, NOBODY)
					 ? -errno
					 : 0);
	confine(0, false);
}

void confine_to_tracing(void)
{
	confine(for_files | for_tracing, true);
}

void confine_to_starting(void)
{
	confine(0, true);
}

bool confine_to_parsing(void)
{
	const int privileges = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
	const int capabilities = drop_capabilities(0);
	const int calls = refuse_all_but(parsing, ARRAY_SIZE(parsing));

	return (!privileges || lacks(privileges)) && (!capabilities || lacks(capabilities)) &&
	       (!calls || lacks(calls));
}

bool confine_has_filters(void)
{
	const uint32_t refusal = SECCOMP_RET_ERRNO;

	return !syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &refusal) || !lacks(-errno);
}
