// SPDX-License-Identifier: BSD-3-Clause
/* Capabilities of this process and features of the kernel. */
#include "observe/doctor/doctor.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/readable.h"
#include "base/vec.h"
#include "observe/probe/links.h"

/*
 * A capability, and the wider one that includes it. Enforcement: kernel 5.8 and newer.
 * docs/privileges.md has the same table.
 */
static const struct privilege {
	const char *name;
	int bit, wider;
	enum problem_id without; /* PROBLEM_CAPABILITY: no trace */
	const char *why; /* its purpose, else the loss without it */
} privileges[] = {
	{ "CAP_BPF", CAP_BPF, CAP_SYS_ADMIN, PROBLEM_CAPABILITY,
	  "loads the programs and makes the rings" },
	{ "CAP_PERFMON", CAP_PERFMON, CAP_SYS_ADMIN, PROBLEM_CAPABILITY,
	  "attaches programs to probes" },
	{ "CAP_SYS_PTRACE", CAP_SYS_PTRACE, CAP_SYS_PTRACE, PROBLEM_CAPABILITY,
	  "reads the maps and UCX objects of other users' processes" },
	{ "CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE, PROBLEM_LESS,
	  "of other users' processes, the environment cannot be read: no --job, no UCX_ variables, "
	  "rank and job may be unknown" },
	{ "CAP_SYS_ADMIN", CAP_SYS_ADMIN, CAP_SYS_ADMIN, PROBLEM_LESS,
	  "the kernel does not tell the time spent in BPF programs, nor host names inside of "
	  "containers" },
};

#define PRIVILEGES ARRAY_SIZE(privileges)

static uint64_t effective_capabilities(void)
{
	uint64_t caps = 0;
	char line[256];
	FILE *file = readable_open("/proc/self/status");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "CapEff: %" SCNx64, &caps) == 1)
			break;
	if (file)
		fclose(file);
	return caps;
}

/* The initial user namespace maps all ids to themselves, and no other does so in practice. */
static bool in_user_namespace(void)
{
	unsigned int inside = 0, outside = 0, count = 0;
	FILE *file = readable_open("/proc/self/uid_map");
	int n = file ? fscanf(file, "%u %u %u", &inside, &outside, &count) : 0;

	if (file)
		fclose(file);
	return n == 3 && (inside || outside || count != UINT32_MAX);
}

static json_int_t locked_memory_limit(void)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_MEMLOCK, &limit);
	return limit.rlim_cur == RLIM_INFINITY ? -1 : (json_int_t)limit.rlim_cur;
}

void doctor_privileges(struct doctor *doctor)
{
	uint64_t caps = effective_capabilities();
	json_t *have = json_object();
	bool nested = in_user_namespace();

	for (size_t i = 0; i < PRIVILEGES; i++) {
		const struct privilege *p = &privileges[i];
		bool ok = caps >> p->bit & 1 || caps >> p->wider & 1;

		json_object_set_new(have, p->name, json_boolean(ok));
		if (!ok)
			doctor_problem(doctor, p->without, p->name, p->why);
	}
	if (nested)
		doctor_problem(doctor, PROBLEM_USER_NAMESPACE);
	json_object_set_new(doctor->report, "privileges",
			    json_pack("{s:o, s:b, s:I}", "capabilities", have, "user_namespace",
				      nested, "memlock_bytes", locked_memory_limit()));
}

static const struct {
	const char *name;
	enum bpf_map_type type;
} maps[] = {
	{ "ring buffer", BPF_MAP_TYPE_RINGBUF },
	{ "task storage", BPF_MAP_TYPE_TASK_STORAGE },
	{ "array-of-maps", BPF_MAP_TYPE_ARRAY_OF_MAPS },
};

/* The first line of a small file without its end, "" where it cannot be read. */
static void read_line(const char *path, char *line, int size)
{
	FILE *file = readable_open(path);

	line[0] = '\0';
	if (!file)
		return;
	if (!fgets(line, size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(file);
}

/* "none [integrity] confidentiality" -> the one in brackets; no file: the kernel has no lockdown.
 */
static void read_lockdown(char *mode, int size)
{
	char line[128], *open, *close;

	read_line("/sys/kernel/security/lockdown", line, sizeof(line));
	open = strchr(line, '[');
	close = strchr(line, ']');
	if (open && close)
		*close = '\0';
	snprintf(mode, size, "%s", open ? open + 1 : "none");
}

static void check_bpf(struct doctor *doctor, json_t *kernel)
{
	int err;

	err = libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_KPROBE, NULL);
	json_object_set_new(kernel, "bpf", json_boolean(err > 0));
	if (err <= 0)
		doctor_problem(doctor, PROBLEM_NO_BPF,
			       err ? strerror(-err) : "this type of program is not supported");
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		if (libbpf_probe_bpf_map_type(maps[i].type, NULL) == 0)
			doctor_problem(doctor, PROBLEM_NO_MAP, maps[i].name);
}

/* Attaches to a function of our own, and takes it off again. */
static void check_links(struct doctor *doctor, json_t *kernel)
{
	enum link_mechanism best = LINK_NONE;
	int err = links_detect(&best);

	json_object_set_new(kernel, "links", json_string(link_mechanism_name(best)));
	if (best == LINK_NONE)
		doctor_problem(doctor, PROBLEM_NO_LINKS, strerror(-err));
}

void doctor_kernel(struct doctor *doctor)
{
	bool btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0;
	bool uprobes = access("/sys/bus/event_source/devices/uprobe/type", F_OK) == 0;
	char lockdown[64], paranoid[16], scope[16];
	struct utsname name;
	json_t *kernel;

	uname(&name);
	read_lockdown(lockdown, sizeof(lockdown));
	read_line("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
	read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
	kernel = json_pack("{s:s, s:s, s:b, s:b, s:s, s:s, s:s}", "release", name.release,
			   "machine", name.machine, "btf", btf, "uprobes", uprobes, "lockdown",
			   lockdown, "perf_event_paranoid", paranoid, "ptrace_scope", scope);
	json_object_set_new(doctor->report, "kernel", kernel);
	if (!btf)
		doctor_problem(doctor, PROBLEM_NO_BTF);
	if (!uprobes)
		doctor_problem(doctor, PROBLEM_NO_UPROBES);
	if (!strcmp(lockdown, "confidentiality"))
		doctor_problem(doctor, PROBLEM_LOCKDOWN);
	/* without the capabilities these fail on any kernel */
	if (doctor->status == UCXBPF_EXIT_PERMISSION)
		return;
	check_bpf(doctor, kernel);
	check_links(doctor, kernel);
}
