// SPDX-License-Identifier: BSD-3-Clause
#include "apply_drains.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "judge/drain.h"

static int run(char *const words[])
{
	int status, err;
	pid_t child;

	err = posix_spawnp(&child, words[0], NULL, NULL, words, environ);
	if (err) {
		log_error("%s: %s: is it in PATH", words[0], strerror(err));
		return -err;
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	log_error("%s %s %s: failed", words[0], words[1], words[2]);
	return -EIO;
}

static int apply(const struct drain *drain)
{
	char *words[DRAIN_WORDS + 1];
	int err;

	drain_command(drain, words);
	err = run(words);
	if (!err)
		log_warn("drained %s: %s", drain->nodes, drain->reason);
	for (char **word = words; *word; word++)
		free(*word);
	return err;
}

int apply_drains(const struct judge *judge)
{
	struct drains drains;
	int err = 0;

	drains_make(&drains, judge);
	if (!drains_allowed(&drains)) {
		log_error("nothing is drained: %zu nodes are more than the %zu of act.max_drain",
			  drains.nodes, drains.most);
		err = -EDQUOT;
	}
	for (size_t i = 0; i < drains.list.len && drains_allowed(&drains); i++) {
		int failed = apply(&drains.list.data[i]);

		err = err ? err : failed;
	}
	drains_release(&drains);
	return err;
}
