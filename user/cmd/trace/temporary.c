// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/trace/temporary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/newfile.h"

int temporary_make(struct temporary *temporary)
{
	int err;

	*temporary = (struct temporary){ .directory = newfile_scratch("ucxbpf", &err) };
	if (!temporary->directory) {
		log_error("cannot make a temporary folder: %s; TMPDIR names another place for it",
			  err == -EUSERS ? "other users may replace it there" : strerror(-err));
		return err;
	}
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
