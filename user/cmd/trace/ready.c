// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/trace/ready.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

static int not_ready(const char *path, int err)
{
	if (err)
		log_error("%s: %s", path, strerror(-err));
	return err;
}

int ready_check(const char *path)
{
	char *folder;
	int err;

	if (!path)
		return 0;
	if (!access(path, F_OK))
		return not_ready(path, access(path, W_OK) ? -errno : 0);
	folder = xstrdup(path);
	err = access(dirname(folder), W_OK | X_OK) ? -errno : 0;
	free(folder);
	return not_ready(path, err);
}

int ready_write(const char *path)
{
	FILE *file = path ? fopen(path, "we") : NULL;
	int err = 0;

	if (!path)
		return 0;
	if (!file || fputs("ready\n", file) < 0)
		err = -errno;
	if (file && fclose(file) && !err)
		err = -errno;
	return not_ready(path, err);
}
