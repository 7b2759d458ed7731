// SPDX-License-Identifier: BSD-3-Clause
/*
 * UCX_* that a program started here would find: of files ucx.conf, then of the environment, which
 * comes before them (src/ucs/config/parser.c, 1.13.1: ucs_config_parse_config_files()).
 */
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "site/inventory/collect.h"

#define MAX_TEXT (1 << 20)

static void add(struct look *look, const char *text, const char *from)
{
	const char *equals = strchr(text, '=');
	struct inventory_variable *variable;
	char *name;

	if (strncmp(text, "UCX_", 4) || !equals)
		return;
	name = strndup(text, (size_t)(equals - text));
	variable = vec_add(&look->inventory->variables);
	variable->name = text_plain(name);
	variable->value = text_plain(equals + 1);
	variable->from = text_plain(from);
	free(name);
}

static void take_file(struct look *look, const char *path)
{
	size_t size;
	char *text = look_whole(path, MAX_TEXT, &size), *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		line += strspn(line, " \t");
		line[strcspn(line, "\r")] = '\0';
		add(look, line, path);
	}
	free(text);
}

void collect_variables(struct look *look)
{
	const char *home = *look->root ? NULL : getenv("HOME");
	const char *folder = *look->root ? NULL : getenv("UCX_CONFIG_DIR");
	char path[LOOK_PATH];

	look_path(path, "%s/etc/ucx/ucx.conf", look->root);
	take_file(look, path);
	look_path(path, "%s/ucx.conf", folder ? folder : "");
	if (folder)
		take_file(look, path);
	look_path(path, "%s/ucx.conf", home ? home : "");
	if (home)
		take_file(look, path);
	for (char **at = environ; !*look->root && *at; at++)
		add(look, *at, "environment");
}
