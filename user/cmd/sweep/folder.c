// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/sweep/folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"

static int copy_policy(const char *from, const char *folder)
{
	char path[PATH_MAX * 2 + 16], block[4096];
	FILE *in = fopen(from, "re"), *out;
	size_t got;
	int err = in ? 0 : -errno;

	snprintf(path, sizeof(path), "%s/policy.yaml", folder);
	out = in ? fopen(path, "wxe") : NULL;
	if (in && !out)
		err = -errno;
	while (!err && (got = fread(block, 1, sizeof(block), in)))
		if (fwrite(block, 1, got, out) != got)
			err = -errno;
	if (in)
		fclose(in);
	if (out && fclose(out) && !err)
		err = -errno;
	if (err)
		log_error("%s: %s", path, strerror(-err));
	return err;
}

int sweep_folder(const char *folder, const char *policy_path)
{
	if (mkdir(folder, 0755)) {
		log_error("%s: %s%s", folder, strerror(errno),
			  errno == EEXIST ? "; give another folder by -o" : "");
		return -errno;
	}
	return policy_path ? copy_policy(policy_path, folder) : 0;
}
