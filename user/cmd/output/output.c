// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/output/output.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/output/abandon.h"

/* Where the file is made: beside its place, unless that is a device or a pipe. */
static char *part_of(const char *path)
{
	struct stat place;
	char *part = NULL;

	if (!stat(path, &place) && !S_ISREG(place.st_mode))
		return NULL;
	if (asprintf(&part, "%s.%d.part", path, getpid()) < 0)
		abort();
	return part;
}

static int fill(FILE *out, int (*write)(void *arg, FILE *out), void *arg)
{
	int err = write(arg, out);

	if (fflush(out) && !err)
		err = -errno;
	return err || !ferror(out) ? err : -EIO;
}

static int write_part(const char *part, const char *path, int (*write)(void *arg, FILE *out),
		      void *arg)
{
	FILE *out = fopen(part ? part : path, "we");
	int err;

	if (!out)
		return -errno;
	err = fill(out, write, arg);
	if (fclose(out) && !err)
		err = -errno;
	if (part && !err && rename(part, path))
		err = -errno;
	if (part && err)
		unlink(part);
	return err;
}

int output_write(const char *path, int (*write)(void *arg, FILE *out), void *arg)
{
	struct abandon abandon;
	char *real, *part;
	int err;

	if (!path)
		return fill(stdout, write, arg);
	/* what a link leads to is replaced, not the link */
	real = realpath(path, NULL);
	part = part_of(real ? real : path);
	abandon_start(&abandon, part);
	err = write_part(part, real ? real : path, write, arg);
	abandon_end(&abandon);
	free(part);
	free(real);
	return err;
}

const char *output_name(const char *path)
{
	return path ? path : "standard output";
}
