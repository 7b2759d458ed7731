// SPDX-License-Identifier: BSD-3-Clause
/* CFG-01: whether UCX knows the variables of processes. */
#include <fnmatch.h>
#include <string.h>

#include "base/ucx_names.h"
#include "site/judge/rules/environment.h"

/* Names a scheduler's choice, or where to write: these differ and all is well. */
static const char *const free_names[] = {
	"*VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "*UCX_LOG_*", "*UCX_STATS_*", "*UCX_PROFILE_*",
};

static enum ucx_name known(const struct member *member, const struct variable *variable)
{
	enum ucx_name answer = UCX_NAME_NO_RELEASE;

	for (size_t i = 0; i < member->ucx.len && answer != UCX_NAME_KNOWN; i++) {
		uint32_t release = ucx_release_mask(member->ucx.data[i].version);

		if (release)
			answer = variable->releases & release ? UCX_NAME_KNOWN : UCX_NAME_NOT_KNOWN;
	}
	return answer;
}

static void not_known(const struct trial *trial, const struct resident *resident, const char *name)
{
	const char *version = resident->member->ucx.data[0].version;
	struct finding *finding = found(trial, VERDICT_FAIL, resident->node->name);
	char near[UCX_NAME_MAX], releases[UCX_NAME_MAX];

	finding->expected = ucx_name_nearest(name, version, near)
				    ? say(trial->judge, "%s", near)
				    : say(trial->judge, "a variable of UCX %s", version);
	finding->seen =
		ucx_name_releases(name, releases)
			? say(trial->judge, "%s: UCX %s has no such variable, %s have it", name,
			      version, releases)
			: say(trial->judge, "%s: UCX %s has no such variable", name, version);
}

/* Of a node, a name once. Whether a release was met that the table does not have. */
bool variable_judge_spelling(const struct trial *trial, const struct residents *residents,
			     struct stay stay, const struct variable *variable)
{
	const char *name = variable->name;
	bool newer = false;

	for (size_t i = stay.from; variable->of_ucx && i < stay.to; i++) {
		const struct resident *resident = &residents->list.data[i];
		enum ucx_name answer;

		if (!resident->member->ucx.len ||
		    !strcmp(resident_value(resident->member, name), NOT_SET))
			continue;
		answer = known(resident->member, variable);
		newer = newer || answer == UCX_NAME_NO_RELEASE;
		if (answer != UCX_NAME_NOT_KNOWN)
			continue;
		not_known(trial, resident, name);
		break;
	}
	return newer;
}

/* Some process's UCX has that variable, or may have it: else it is nothing but misspelt. */
bool variable_compared(const struct residents *residents, const struct variable *variable)
{
	for (size_t i = 0; i < sizeof(free_names) / sizeof(*free_names); i++)
		if (!fnmatch(free_names[i], variable->name, 0))
			return false;
	for (size_t i = 0; variable->of_ucx && i < residents->list.len; i++)
		if (known(residents->list.data[i].member, variable) != UCX_NAME_NOT_KNOWN)
			return true;
	return !variable->of_ucx;
}
