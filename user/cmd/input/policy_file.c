// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/input/policy_file.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "site/policy/policy.h"

struct policy *policy_of(const char *path)
{
	struct policy_errors errors = { 0 };
	struct policy *policy;
	int err;

	if (!path)
		return policy_default();
	err = policy_read(path, &policy, &errors);
	if (err && !errors.list.len)
		log_error("%s: %s", path, strerror(-err));
	for (size_t i = 0; i < errors.list.len; i++) {
		const struct policy_error *error = &errors.list.data[i];

		if (error->line)
			log_error("%s:%d: %s", path, error->line, error->text);
		else
			log_error("%s: %s", path, error->text);
	}
	policy_errors_release(&errors);
	return policy;
}
