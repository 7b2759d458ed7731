// SPDX-License-Identifier: BSD-3-Clause
/* Where a device is plugged in: Documentation/ABI/testing/sysfs-bus-pci of the kernel. */
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "site/inventory/collect.h"

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
	pci->address = strndup(end - length, length);
	pci->path = strndup(bus + 1, (size_t)(end - bus - 1));
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

/* 0 lanes, or 255 of a device behind a virtual machine's bus: it is not told. */
static int64_t width_of(const char *folder, const char *name)
{
	int64_t width = look_number("%s/%s", folder, name);

	return width > 0 && width <= 32 ? width : INVENTORY_UNKNOWN;
}

/* Where a folder really is, as the kernel says: a mount without a path has no other way. */
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
