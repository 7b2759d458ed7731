// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/gpus.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe/process/record.h"

#define MAX_LINES 256

/* Labels of /proc/driver/nvidia/gpus/PCI/information that are told. */
static const struct {
	const char *label, *name;
} lines[] = {
	{ "Model:", "model" },
	{ "GPU UUID:", "uuid" },
};

static const char *behind(char *line, const char *label)
{
	size_t length = strlen(label);

	if (strncmp(line, label, length))
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	line += length;
	return line + strspn(line, " \t");
}

/* What is in its place elsewhere, a pipe, must not make us wait. */
static FILE *open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

static void read_information(json_t *record, const char *root, const char *pci)
{
	char path[512], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/driver/nvidia/gpus/%s/information", root, pci);
	file = open_file(path);
	for (int n = 0; file && n < MAX_LINES && fgets(line, sizeof(line), file); n++) {
		for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
			const char *value = behind(line, lines[i].label);

			/* before the GPU is first used, its UUID is one of question marks */
			if (value && !strchr(value, '?'))
				record_text(record, lines[i].name, value);
		}
	}
	if (file)
		fclose(file);
}

/* -1: the machine has no nodes. */
static void read_node(json_t *record, const char *root, const char *pci)
{
	char path[512];
	int node = -1;
	FILE *file;

	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/numa_node", root, pci);
	file = open_file(path);
	if (file && fscanf(file, "%d", &node) == 1 && node >= 0)
		record_integer(record, "numa_node", node);
	if (file)
		fclose(file);
}

static int is_device(const struct dirent *entry)
{
	unsigned int domain, bus, slot, function;

	return sscanf(entry->d_name, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4;
}

json_t *gpus_side_records(const char *root, uint64_t ts)
{
	json_t *records = json_array();
	struct dirent **entries;
	char path[512];
	int count;

	snprintf(path, sizeof(path), "%s/proc/driver/nvidia/gpus", root);
	count = scandir(path, &entries, is_device, alphasort);
	for (int i = 0; i < count; i++) {
		json_t *record = json_pack("{s:s, s:s, s:I}", "t", "gpu", "pci", entries[i]->d_name,
					   "ts", (json_int_t)ts);

		read_information(record, root, entries[i]->d_name);
		read_node(record, root, entries[i]->d_name);
		json_array_append_new(records, record);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return records;
}
