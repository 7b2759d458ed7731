// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/gpus.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "observe/process/record.h"

#define MAX_LINES 256

/* Labels of /proc/driver/nvidia/gpus/PCI/information that are recorded. */
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

/* Another kind of file in its place, such as a pipe, must not make us wait. */
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
		for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
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

#define MAX_PROCESSES 4096 /* on one GPU */

/* nvmlPciInfo_t */
struct pci_info {
	char legacy[16];
	unsigned int domain, bus, device, ids[2];
	char id[32];
};

/* nvmlProcessInfo_t, since version 2 of the function */
struct process_info {
	unsigned int pid;
	unsigned long long bytes;
	unsigned int gpu_instance, compute_instance;
};

typedef void *device_handle;

struct nvml {
	void *library;
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned int *count);
	int (*handle)(unsigned int index, device_handle *device);
	int (*pci)(device_handle device, struct pci_info *info);
	int (*processes)(device_handle device, unsigned int *count, struct process_info *infos);
};

static bool find(const struct nvml *nvml, void *function, const char *name)
{
	*(void **)function = dlsym(nvml->library, name);
	return *(void **)function;
}

static bool find_all(struct nvml *nvml)
{
	return find(nvml, &nvml->init, "nvmlInit_v2") &&
	       find(nvml, &nvml->shutdown, "nvmlShutdown") &&
	       find(nvml, &nvml->count, "nvmlDeviceGetCount_v2") &&
	       find(nvml, &nvml->handle, "nvmlDeviceGetHandleByIndex_v2") &&
	       find(nvml, &nvml->pci, "nvmlDeviceGetPciInfo_v3") &&
	       (find(nvml, &nvml->processes, "nvmlDeviceGetComputeRunningProcesses_v3") ||
		find(nvml, &nvml->processes, "nvmlDeviceGetComputeRunningProcesses_v2"));
}

struct nvml *nvml_open(void)
{
	struct nvml *nvml = xcalloc(1, sizeof(*nvml));

	nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (nvml->library && find_all(nvml) && !nvml->init())
		return nvml;
	if (nvml->library)
		dlclose(nvml->library);
	free(nvml);
	return NULL;
}

void nvml_close(struct nvml *nvml)
{
	if (!nvml)
		return;
	nvml->shutdown();
	dlclose(nvml->library);
	free(nvml);
}

/* 1: it has a context there, 0: it has none, -1: unknown. */
static int is_on(const struct nvml *nvml, device_handle device, pid_t pid)
{
	struct process_info *infos = xcalloc(MAX_PROCESSES, sizeof(*infos));
	unsigned int count = MAX_PROCESSES;
	int on = -1;

	if (!nvml->processes(device, &count, infos) && count <= MAX_PROCESSES) {
		on = 0;
		for (unsigned int i = 0; i < count; i++)
			on |= infos[i].pid == (unsigned int)pid;
	}
	free(infos);
	return on;
}

static int add_gpu(const struct nvml *nvml, unsigned int index, pid_t pid, json_t *gpus)
{
	struct pci_info info = { .domain = 0 };
	device_handle device;
	char pci[32];
	int on;

	if (nvml->handle(index, &device) || nvml->pci(device, &info))
		return -1;
	on = is_on(nvml, device, pid);
	snprintf(pci, sizeof(pci), "%04x:%02x:%02x.0", info.domain, info.bus, info.device);
	if (on > 0)
		json_array_append_new(gpus, json_string(pci));
	return on;
}

json_t *nvml_gpus_of(const struct nvml *nvml, pid_t pid)
{
	json_t *gpus = json_array();
	unsigned int count = 0;
	int err = nvml->count(&count);

	for (unsigned int i = 0; !err && i < count; i++)
		err = add_gpu(nvml, i, pid, gpus) < 0;
	if (!err && json_array_size(gpus))
		return gpus;
	json_decref(gpus);
	return NULL;
}
