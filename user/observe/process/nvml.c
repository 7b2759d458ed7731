// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/nvml.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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
	struct nvml *nvml = calloc(1, sizeof(*nvml));

	if (!nvml)
		return NULL;
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

/* 1: it has a context there, 0: it has none, -1: not told. */
static int is_on(const struct nvml *nvml, device_handle device, pid_t pid)
{
	struct process_info *infos = calloc(MAX_PROCESSES, sizeof(*infos));
	unsigned int count = MAX_PROCESSES;
	int on = -1;

	if (infos && !nvml->processes(device, &count, infos) && count <= MAX_PROCESSES) {
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
