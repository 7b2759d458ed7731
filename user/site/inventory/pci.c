// SPDX-License-Identifier: BSD-3-Clause
/*
 * PCI devices: where one is plugged in (Documentation/ABI/testing/sysfs-bus-pci of the kernel), and
 * which of them are GPUs.
 */
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "observe/process/gpus.h"
#include "site/inventory/internal.h"

/* "0000:18:00.0", the domain of four digits or more */
static bool is_address(const char *text, size_t length)
{
	static const char form[] = "x:xx:xx.x";
	size_t tail = sizeof(form) - 1;

	if (length < tail + 3)
		return false;
	for (size_t i = 0; i < length; i++) {
		char wanted = i + tail < length ? 'x' : form[i + tail - length];

		if (wanted == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != wanted)
			return false;
	}
	return true;
}

/* The last PCI address of a path, and the path down to it from where the bus begins. */
static void take_path(struct inventory_pci *pci, const char *real)
{
	const char *bus = strstr(real, "/pci"), *end = NULL;
	size_t length = 0;

	for (const char *at = bus; at; at = strchr(at + 1, '/')) {
		size_t part = strcspn(at + 1, "/");

		if (is_address(at + 1, part)) {
			end = at + 1 + part;
			length = part;
		}
	}
	if (!end)
		return;
	pci->address = xstrndup(end - length, length);
	pci->path = xstrndup(bus + 1, (size_t)(end - bus - 1));
}

/* "16.0 GT/s PCIe"; a device that cannot tell has "Unknown" */
static int64_t speed_of(const char *folder, const char *name)
{
	char *line = look_line("%s/%s", folder, name), *end;
	int64_t speed = INVENTORY_UNKNOWN;
	double number;

	if (!line)
		return speed;
	number = strtod(line, &end);
	if (end != line && !strncmp(end, " GT/s", 5) && number > 0 && number < 1000)
		speed = (int64_t)(number * 1000 + 0.5);
	free(line);
	return speed;
}

/* 0 lanes, or 255 of a device behind a virtual machine's bus: unknown. */
static int64_t width_of(const char *folder, const char *name)
{
	int64_t width = look_number("%s/%s", folder, name);

	return width > 0 && width <= 32 ? width : INVENTORY_UNKNOWN;
}

/* The real path of a folder, from the kernel: nothing else gives one in a mount without a path. */
static bool real_path(const char *path, char real[PATH_MAX])
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char link[64];
	ssize_t length;

	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, real, PATH_MAX - 1);
	close(fd);
	real[length < 0 ? 0 : length] = '\0';
	return length > 0;
}

void collect_pci(struct look *look, const char *folder, struct inventory_pci *pci)
{
	char link[LOOK_PATH], real[PATH_MAX], device[LOOK_PATH];

	look_path(link, "%s/device", folder);
	if (!real_path(link, real) && !real_path(folder, real))
		return;
	take_path(pci, real);
	if (!pci->address)
		return;
	look_path(device, "%s/bus/pci/devices/%s", look->sysfs, pci->address);
	pci->width = width_of(device, "current_link_width");
	pci->max_width = width_of(device, "max_link_width");
	pci->speed = speed_of(device, "current_link_speed");
	pci->max_speed = speed_of(device, "max_link_speed");
	pci->numa = look_number("%s/numa_node", device);
}

/* ---- GPUs ---- */

/*
 * GPUs: PCI devices of the classes "display" and "processing accelerator" of the vendors that make
 * some for computing. Model and UUID are of NVIDIA's driver; its management library would have to
 * be started for more, which takes seconds.
 */

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

/* The GPU's names from NVIDIA's driver. */
static void take_gpu_names(struct inventory_gpu *gpu, const json_t *records)
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
	gpu->vendor = xstrdup(vendor);
	gpu->driver = look_link("%s/driver", device);
	collect_pci(look, device, &gpu->pci);
	if (!gpu->pci.address)
		gpu->pci.address = text_plain(address);
	take_gpu_names(gpu, records);
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
