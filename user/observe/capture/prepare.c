// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/prepare.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "observe/process/library.h"

/* Where distributions and sites put libraries that the loader finds without being told. */
static const char *const system_directories[] = {
	"/usr/lib/x86_64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/usr/lib64",
	"/usr/lib",
	"/usr/local/lib",
	"/usr/local/lib64",
};

/* UCP first: the others take their layout from it. */
static const char *const patterns[] = {
	"libucp*.so*",
	"libuct*.so*",
	"ucx/libuct_*.so*",
	"libmpi*.so*",
	"openmpi/mca_pml_ucx.so",
	"openmpi/lib/openmpi*/mca_pml_ucx.so",
	"libcuda.so.1",
};

static void prepare_file(struct library_set *set, mapped_libraries *found, const char *path)
{
	char *real = realpath(path, NULL);
	struct library *library = NULL;
	struct stat st;
	int err = 0;

	if (real && !stat(real, &st) && S_ISREG(st.st_mode))
		library = library_set_get(set, st.st_dev, st.st_ino, real, real, &err);
	free(real);
	for (size_t i = 0; library && i < found->len; i++)
		if (found->data[i].library == library)
			return;
	if (library)
		vec_push(found, ((struct mapped_library){ library, 0 }));
}

static void prepare_directory(struct library_set *set, mapped_libraries *found,
			      const char *directory)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		char pattern[4096];
		glob_t matches;

		snprintf(pattern, sizeof(pattern), "%s/%s", directory, patterns[i]);
		if (glob(pattern, 0, NULL, &matches))
			continue;
		for (size_t k = 0; k < matches.gl_pathc; k++)
			prepare_file(set, found, matches.gl_pathv[k]);
		globfree(&matches);
	}
}

static const char *variable(char *const *environment, const char *name)
{
	size_t n = strlen(name);

	for (; environment && *environment; environment++)
		if (!strncmp(*environment, name, n) && (*environment)[n] == '=')
			return *environment + n + 1;
	return "";
}

static void prepare_list(struct library_set *set, mapped_libraries *found, const char *list)
{
	char *copy = strdup(list), *rest = copy;
	const char *directory;

	while (copy && (directory = strsep(&rest, ":")))
		if (*directory)
			prepare_directory(set, found, directory);
	free(copy);
}

void prepare_libraries(struct library_set *set, struct probes *probes, char *const *environment,
		       const char *directories)
{
	mapped_libraries found = { 0 };

	prepare_list(set, &found, variable(environment, "LD_LIBRARY_PATH"));
	if (directories)
		prepare_list(set, &found, directories);
	for (size_t i = 0; i < sizeof(system_directories) / sizeof(system_directories[0]); i++)
		prepare_directory(set, &found, system_directories[i]);
	for (size_t i = 0; i < found.len; i++) {
		const struct library *library = found.data[i].library;
		const struct library *ucp = library_owner_ucp(&found, library);

		/* without its libucp it waits until a process shows which one it is */
		if (!ucp && library->roles & (LIB_UCT | LIB_UCT_MODULE | LIB_MPI_PLUGIN))
			continue;
		if (probes_attach(probes, library, ucp))
			log_debug("%s: not probed ahead of time", library->path);
	}
	vec_release(&found);
}
