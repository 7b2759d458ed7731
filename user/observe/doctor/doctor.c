// SPDX-License-Identifier: BSD-3-Clause
/* The report, and the problems that may stand in it. */
#include "observe/doctor/doctor.h"

#include <stdarg.h>

#include "base/exit_codes.h"

#define USE_UCX                                                                                    \
	"start it with OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any "    \
	"(all three), and OMPI_MCA_osc=ucx for one-sided calls"

/* Severities: fatal = a trace would show nothing, so the exit status is not 0. */
struct problem {
	const char *id;
	int status; /* enum ucxbpf_exit; 0 = a warning only */
	const char *text; /* with %s for what differs */
	const char *fix; /* what to do, NULL = nothing to advise */
};

static const struct problem problems[] = {
	[PROBLEM_NO_BTF] = { "no_btf", UCXBPF_EXIT_KERNEL,
			     "the kernel describes no types: /sys/kernel/btf/vmlinux is missing",
			     "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y" },
	[PROBLEM_NO_UPROBES] = { "no_uprobes", UCXBPF_EXIT_KERNEL,
				 "the kernel has no uprobes: no uprobe event source in sysfs",
				 "boot a kernel built with CONFIG_UPROBE_EVENTS=y, and mount sysfs" },
	[PROBLEM_NO_BPF] = { "no_bpf", UCXBPF_EXIT_KERNEL,
			     "the kernel refuses BPF programs on probes: %s",
			     "boot a kernel built with CONFIG_BPF_EVENTS=y; in a container, allow "
			     "the bpf and perf_event_open system calls" },
	[PROBLEM_NO_MAP] = { "no_map", UCXBPF_EXIT_KERNEL, "the kernel has no BPF %s maps",
			     "boot kernel 5.15 or newer" },
	[PROBLEM_NO_LINKS] = { "no_links", UCXBPF_EXIT_KERNEL,
			       "a probe on a function of this program itself failed: %s",
			       "boot a kernel built with CONFIG_UPROBE_EVENTS=y and CONFIG_BPF_EVENTS=y" },
	[PROBLEM_LOCKDOWN] = { "lockdown", UCXBPF_EXIT_KERNEL,
			       "kernel lockdown is in confidentiality mode, which forbids BPF "
			       "programs to read memory",
			       "boot with lockdown=integrity or none" },
	[PROBLEM_CAPABILITY] = { "capability", UCXBPF_EXIT_PERMISSION, "%s is missing: %s",
				 "run as root of the host, or give this capability" },
	[PROBLEM_LESS] = { "capability_less", 0, "%s is missing: %s",
			   "run as root of the host, or give this capability "
			   "(docs/privileges.md)" },
	[PROBLEM_USER_NAMESPACE] = { "user_namespace", UCXBPF_EXIT_PERMISSION,
				     "this runs in a user namespace, whose root may not trace",
				     "run as root of the machine itself" },
	[PROBLEM_HIDDEN] = { "hidden", 0, "processes that could not be inspected: %s",
			     "run as root to see all of them" },
	[PROBLEM_NOT_READABLE] = { "not_readable", UCXBPF_EXIT_PERMISSION,
				   "the process may not be inspected: %s",
				   "run as root, or give CAP_SYS_PTRACE" },
	[PROBLEM_NO_PROCESS] = { "no_process", UCXBPF_EXIT_NO_TARGET, "there is no process %s",
				 NULL },
	[PROBLEM_NOT_64BIT] = { "not_64bit", UCXBPF_EXIT_UNSUPPORTED,
				"the program is a 32-bit one, which is not supported", NULL },
	[PROBLEM_STATIC] = { "static", UCXBPF_EXIT_UNSUPPORTED,
			     "the program is linked statically and shows no UCX symbols",
			     "link it with shared libraries, or do not strip it" },
	[PROBLEM_NOTHING_MAPPED] = { "nothing_mapped", UCXBPF_EXIT_UNSUPPORTED,
				     "the process maps neither UCX nor an MPI library",
				     "is it a launcher (mpirun, srun, podman, a shell)? then "
				     "name the rank's own process; 'ucxbpf doctor' lists them" },
	[PROBLEM_OB1_CONFIGURED] = { "ob1_configured", UCXBPF_EXIT_UNSUPPORTED,
				     "Open MPI does not use UCX here, it uses %s: '%s' in %s "
				     "rules UCX out",
				     USE_UCX },
	[PROBLEM_OTHER_PML] = { "other_pml", UCXBPF_EXIT_UNSUPPORTED,
				"Open MPI does not use UCX here, it uses %s", USE_UCX },
	[PROBLEM_MPI_WITHOUT_UCX] = { "mpi_without_ucx", UCXBPF_EXIT_UNSUPPORTED,
				      "%s is mapped, but no UCX: this MPI was built or "
				      "configured for another network layer",
				      "use an MPI built over UCX (MPICH: --with-device=ch4:ucx)" },
	[PROBLEM_MPI_NOT_STARTED] = { "mpi_not_started", 0,
				      "%s is mapped, but has not chosen a network layer yet: "
				      "MPI_Init has not run, or is running",
				      "attach all the same: UCX is probed as soon as it is loaded" },
	[PROBLEM_UCX_UNUSED] = { "ucx_unused", 0,
				 "UCX is mapped, but Open MPI's messages go through %s; only "
				 "other users of UCX will be seen",
				 USE_UCX },
	[PROBLEM_UNKNOWN_BUILD] = { "unknown_build", 0,
				    "%s is a UCX build without a known layout: operations and "
				    "bytes are seen, requests and peers are not",
				    "install this UCX's debug symbols, or report its build id" },
	[PROBLEM_NO_SITES] = { "no_sites", UCXBPF_EXIT_UNSUPPORTED,
			       "no probe could be placed in %s",
			       "is its file damaged, or stripped of its dynamic symbols?" },
	[PROBLEM_LEFT_OUT] = { "left_out", UCXBPF_EXIT_PARTIAL,
			       "functions of %s that are hot and would have to be single-stepped, "
			       "and so get no probe: %s",
			       "'ucxbpf doctor -p PID' names them (left out); their traffic is not "
			       "in a trace" },
	[PROBLEM_NO_MODULES] = { "no_modules", 0,
				 "libucp is mapped without libuct: transfers are not seen", NULL },
	[PROBLEM_AVOIDS_UCX] = { "avoids_ucx", 0, "processes that use MPI, but not over UCX: %s",
				 "'ucxbpf doctor -p PID' says why, and what to set" },
	[PROBLEM_NOBODY] = { "nobody", 0, "no process here maps UCX or an MPI library",
			     "start the job, or trace it from its start with 'ucxbpf run'" },
};

void doctor_init(struct doctor *doctor)
{
	doctor->report = json_pack("{s:s, s:[], s:[]}", "schema", "ucxbpf.doctor/1", "processes",
				   "problems");
	doctor->status = 0;
}

void doctor_release(struct doctor *doctor)
{
	json_decref(doctor->report);
}

void doctor_problem(struct doctor *doctor, enum problem_id id, ...)
{
	const struct problem *row = &problems[id];
	char text[512];
	va_list args;

	va_start(args, id);
	vsnprintf(text, sizeof(text), row->text, args);
	va_end(args);
	json_array_append_new(json_object_get(doctor->report, "problems"),
			      json_pack("{s:s, s:b, s:s, s:s?}", "id", row->id, "fatal",
					row->status != 0, "text", text, "fix", row->fix));
	if (!doctor->status || doctor->status == UCXBPF_EXIT_PARTIAL)
		doctor->status = row->status ? row->status : doctor->status;
}
