// SPDX-License-Identifier: BSD-3-Clause
#include "observe/doctor/openmpi.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPONENT "/mca_pml_"
#define VARIABLE "OMPI_MCA_pml="

/* Where Open MPI's builds keep the site's parameters, as the process sees it. */
static const char *const parameter_files[] = {
	"/etc/openmpi/openmpi-mca-params.conf",
	"/etc/openmpi-x86_64/openmpi-mca-params.conf",
	"/opt/openmpi/etc/openmpi-mca-params.conf",
};

static FILE *open_of(pid_t pid, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return fopen(path, "re");
}

void openmpi_pml(pid_t pid, char *pml, size_t size)
{
	FILE *maps = open_of(pid, "maps");
	char *line = NULL, *name;
	size_t capacity = 0;

	pml[0] = '\0';
	while (maps && getline(&line, &capacity, maps) > 0) {
		name = strstr(line, COMPONENT);
		if (!name)
			continue;
		name += strlen(COMPONENT);
		name[strcspn(name, ".\n")] = '\0';
		snprintf(pml, size, "%s", name);
		/* several: MPI_Init is still choosing, or UCX won and another was kept */
		if (!strcmp(name, "ucx"))
			break;
	}
	free(line);
	if (maps)
		fclose(maps);
}

static bool from_environment(pid_t pid, char *setting, size_t size)
{
	FILE *file = open_of(pid, "environ");
	char *entry = NULL;
	size_t capacity = 0;
	bool found = false;

	while (file && !found && getdelim(&entry, &capacity, '\0', file) > 0) {
		found = !strncmp(entry, VARIABLE, strlen(VARIABLE));
		if (found)
			snprintf(setting, size, "%s", entry);
	}
	free(entry);
	if (file)
		fclose(file);
	return found;
}

static bool is_pml_line(char *line)
{
	size_t length = strlen(line);

	while (length && isspace((unsigned char)line[length - 1]))
		line[--length] = '\0';
	return !strncmp(line, "pml", 3) && line[3 + strspn(line + 3, " \t")] == '=';
}

static bool from_file(pid_t pid, const char *path, char *setting, size_t size)
{
	char name[256], *line = NULL;
	size_t capacity = 0;
	bool found = false;
	FILE *file;

	snprintf(name, sizeof(name), "root%s", path);
	file = open_of(pid, name);
	while (file && getline(&line, &capacity, file) > 0) {
		char *start = line + strspn(line, " \t");

		if (!is_pml_line(start))
			continue;
		found = true;
		snprintf(setting, size, "%s", start);
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

bool openmpi_pml_setting(pid_t pid, char *setting, size_t size, const char **where)
{
	*where = "the environment";
	if (from_environment(pid, setting, size))
		return true;
	for (size_t i = 0; i < sizeof(parameter_files) / sizeof(parameter_files[0]); i++) {
		*where = parameter_files[i];
		if (from_file(pid, *where, setting, size))
			return true;
	}
	return false;
}
