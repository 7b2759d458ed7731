// SPDX-License-Identifier: BSD-3-Clause
#include "observe/doctor/doctor.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

/* A capability, and the wider one that includes it. Enforcement: kernel 5.8 and newer. */
static const struct privilege {
	const char *name;
	int bit, wider;
	const char *why;
} privileges[] = {
	{ "CAP_BPF", CAP_BPF, CAP_SYS_ADMIN, "loads the programs and makes the rings" },
	{ "CAP_PERFMON", CAP_PERFMON, CAP_SYS_ADMIN, "attaches programs to probes" },
	{ "CAP_SYS_PTRACE", CAP_SYS_PTRACE, CAP_SYS_PTRACE,
	  "reads the maps and UCX objects of other users' processes" },
};

#define PRIVILEGES (sizeof(privileges) / sizeof(privileges[0]))

static uint64_t effective_capabilities(void)
{
	uint64_t caps = 0;
	char line[256];
	FILE *file = fopen("/proc/self/status", "re");

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
	FILE *file = fopen("/proc/self/uid_map", "re");
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
			doctor_problem(doctor, PROBLEM_CAPABILITY, p->name, p->why);
	}
	if (nested)
		doctor_problem(doctor, PROBLEM_USER_NAMESPACE);
	json_object_set_new(doctor->report, "privileges",
			    json_pack("{s:o, s:b, s:I}", "capabilities", have, "user_namespace",
				      nested, "memlock_bytes", locked_memory_limit()));
}
