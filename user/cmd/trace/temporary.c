// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/trace/temporary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/newfile.h"

char *temporary_folder(const char *name, int *err)
{
	char *folder = newfile_scratch(name, err);

	if (!folder)
		log_error("cannot make a temporary folder: %s; TMPDIR names another place for it",
			  *err == -EUSERS ? "other users may replace it there" : strerror(-*err));
	return folder;
}

int temporary_make(struct temporary *temporary)
{
	int err;

	*temporary = (struct temporary){ .directory = temporary_folder("ucxbpf", &err) };
	if (!temporary->directory)
		return err;
	temporary->file = xasprintf("%s/capture.ucxb", temporary->directory);
	return 0;
}

void temporary_remove(struct temporary *temporary)
{
	if (!temporary->directory)
		return;
	unlink(temporary->file);
	rmdir(temporary->directory);
	free(temporary->file);
	free(temporary->directory);
	*temporary = (struct temporary){ 0 };
}
