// SPDX-License-Identifier: BSD-3-Clause
/*
 * Stands in for NVIDIA's management library: two GPUs; the processes in $NVML_PIDS, commas between,
 * have a context on the second one.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define INSUFFICIENT_SIZE 7

struct pci_info {
	char legacy[16];
	unsigned int domain, bus, device, ids[2];
	char id[32];
};

struct process_info {
	unsigned int pid;
	unsigned long long bytes;
	unsigned int gpu_instance, compute_instance;
};

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
	return 0;
}

int nvmlShutdown(void);
int nvmlShutdown(void)
{
	return 0;
}

int nvmlDeviceGetCount_v2(unsigned int *count);
int nvmlDeviceGetCount_v2(unsigned int *count)
{
	*count = 2;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device);
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device)
{
	*device = (char *)NULL + 1 + index;
	return index > 1;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *info);
int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *info)
{
	memset(info, 0, sizeof(*info));
	info->bus = (char *)device - (char *)NULL == 1 ? 0x18 : 0x5e;
	return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned int *count,
					    struct process_info *infos);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned int *count,
					    struct process_info *infos)
{
	const char *pids = getenv("NVML_PIDS");
	unsigned int room = *count;
	char *end;

	*count = 0;
	if ((char *)device - (char *)NULL == 1)
		return 0;
	for (; pids && *pids; pids = *end ? end + 1 : end) {
		unsigned long pid = strtoul(pids, &end, 10);

		if (*count == room)
			return INSUFFICIENT_SIZE;
		infos[(*count)++] = (struct process_info){ .pid = (unsigned int)pid };
	}
	return 0;
}
