// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/input/hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/readable.h"
#include "site/policy/values.h"

int hosts_from_list(const char *list, struct policy *names, texts *nodes)
{
	if (value_nodes(list, names, nodes))
		return 0;
	log_error("'%s' is no list of nodes such as n[0-3],m7", list);
	return -EINVAL;
}

int hosts_from_file(const char *path, struct policy *names, texts *nodes)
{
	FILE *in = readable_open(path);
	char line[512];
	int err = in ? 0 : -errno;

	while (in && !err && fgets(line, sizeof(line), in)) {
		char *word = line + strspn(line, " \t");

		word[strcspn(word, " \t\r\n#")] = '\0';
		if (*word && !value_nodes(word, names, nodes)) {
			log_error("%s: '%s' is no node", path, word);
			err = -EINVAL;
		}
	}
	if (in)
		fclose(in);
	else
		log_error("%s: %s", path, readable_why(err));
	return err;
}

static bool is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

int hosts_from_slots(const char *list, struct policy *names, texts *nodes)
{
	char *copy = xstrdup(list), *rest = copy, *node, *slots;
	int err = 0;

	while (!err && (node = strtok_r(rest, " \t\n", &rest))) {
		slots = strtok_r(rest, " \t\n", &rest);
		if (!slots || !is_number(slots) || !value_nodes(node, names, nodes)) {
			log_error("'%s' is no list of hosts with their slots such as n0 4 n1 4",
				  list);
			err = -EINVAL;
		}
	}
	free(copy);
	return err;
}
