// SPDX-License-Identifier: BSD-3-Clause
/*
 * GPUs: PCI devices of the classes "display" and "processing accelerator" of the vendors that make
 * some for computing. Model and UUID are of NVIDIA's driver; its management library would have to
 * be started for more, which takes seconds.
 */
#include <string.h>

#include "base/text.h"
#include "site/inventory/collect.h"
#include "observe/process/gpus.h"

static const struct {
	int64_t id;
	const char *name;
} vendors[] = {
	{ 0x10de, "nvidia" },
	{ 0x1002, "amd" },
	{ 0x8086, "intel" },
};

static const char *vendor_of(const char *device)
{
	char *line = look_line("%s/vendor", device);
	int64_t id = line ? strtol(line, NULL, 16) : 0;

	free(line);
	for (size_t i = 0; i < sizeof(vendors) / sizeof(*vendors); i++)
		if (vendors[i].id == id)
			return vendors[i].name;
	return NULL;
}

/* 0x03xxxx, 0x12xxxx: include/linux/pci_ids.h of the kernel */
static bool is_gpu_class(const char *device)
{
	char *line = look_line("%s/class", device);
	long class = line ? strtol(line, NULL, 16) >> 16 : 0;

	free(line);
	return class == 0x03 || class == 0x12;
}

static void set(char **text, const json_t *record, const char *name)
{
	const char *value = json_string_value(json_object_get(record, name));

	if (value)
		*text = text_plain(value);
}

/* What NVIDIA's driver says of it. */
static void take_names(struct inventory_gpu *gpu, const json_t *records)
{
	size_t i;
	json_t *record;

	json_array_foreach(records, i, record)
	{
		const char *pci = json_string_value(json_object_get(record, "pci"));

		if (!pci || strcasecmp(pci, gpu->pci.address))
			continue;
		set(&gpu->model, record, "model");
		set(&gpu->uuid, record, "uuid");
	}
}

static void take_gpu(struct look *look, const char *address, const json_t *records)
{
	struct inventory_gpu *gpu;
	char device[LOOK_PATH];
	const char *vendor;

	look_path(device, "%s/bus/pci/devices/%s", look->sysfs, address);
	vendor = is_gpu_class(device) ? vendor_of(device) : NULL;
	if (!vendor)
		return;
	gpu = inventory_add_gpu(look->inventory);
	gpu->vendor = strdup(vendor);
	gpu->driver = look_link("%s/driver", device);
	collect_pci(look, device, &gpu->pci);
	if (!gpu->pci.address)
		gpu->pci.address = text_plain(address);
	take_names(gpu, records);
	if (!gpu->uuid)
		look_unknown(look, "no driver of NVIDIA's tells it", "gpus/%s/uuid",
			     gpu->pci.address);
}

void collect_gpus(struct look *look)
{
	look_names names = look_folder("%s/bus/pci/devices", look->sysfs);
	json_t *records = gpus_side_records(look->root, 0);

	for (size_t i = 0; i < names.len; i++)
		take_gpu(look, names.data[i], records);
	json_decref(records);
	look_release(&names);
}
