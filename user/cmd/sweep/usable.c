// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/sweep/usable.h"

#include <errno.h>

#include "base/log.h"

#define INSTEAD "without Slurm: --launcher hosts"

int sweep_usable(const struct sweep_arguments *arguments, const texts *nodes,
		 struct command *usable)
{
	struct command others = { 0 };
	char why[SLURM_WHY];
	int err = 0;

	if (!slurm_usable((char *const *)nodes->data, nodes->len, usable, &others, why)) {
		if (arguments->dry_run)
			log_warn("Slurm does not answer here (%s): whether it can give these nodes "
				 "is not known; " INSTEAD,
				 why);
		else
			log_error("Slurm does not answer here (%s); " INSTEAD, why);
		err = arguments->dry_run ? 0 : -EIO;
	}
	for (size_t i = 0; i < others.words.len; i++)
		log_warn("Slurm cannot give %s", others.words.data[i]);
	if (!err && !usable->words.len) {
		log_error("Slurm can give none of these nodes: see sinfo");
		err = -ENODEV;
	}
	command_release(&others);
	return err;
}
