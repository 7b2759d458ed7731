/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder with sys/ and proc/ in it, as inventory_collect() takes one. */
#ifndef UCXBPF_FAKE_SYSFS_H
#define UCXBPF_FAKE_SYSFS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "site/inventory/inventory.h"

struct fake {
	char root[64];
};

static inline void fake_begin(struct fake *fake)
{
	strcpy(fake->root, "/tmp/ucxbpf-sysfs-XXXXXX");
	assert_non_null(mkdtemp(fake->root));
}

static inline void fake_end(struct fake *fake)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", fake->root);
	assert_int_equal(system(command), 0);
}

/* The folders above a path below the root, which is returned. */
static inline char *fake_path(const struct fake *fake, const char *path)
{
	static char whole[512];

	snprintf(whole, sizeof(whole), "%s/%s", fake->root, path);
	for (char *at = whole + strlen(fake->root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(whole, 0755);
		*at = '/';
	}
	return whole;
}

static inline void fake_file(const struct fake *fake, const char *path, const char *text)
{
	FILE *file = fopen(fake_path(fake, path), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static inline void fake_link(const struct fake *fake, const char *path, const char *target)
{
	assert_int_equal(symlink(target, fake_path(fake, path)), 0);
}

/* An adapter of two RoCE ports at PCIe x8 of 16, and a GPU under the same bridge. */
static inline void fake_adapter(const struct fake *fake)
{
	static const char *const files[][2] = {
		{ "sys/devices/pci0000:16/0000:16:02.0/0000:18:00.0/numa_node", "1\n" },
		{ "sys/bus/pci/devices/0000:18:00.0/current_link_width", "8\n" },
		{ "sys/bus/pci/devices/0000:18:00.0/max_link_width", "16\n" },
		{ "sys/bus/pci/devices/0000:18:00.0/current_link_speed", "16.0 GT/s PCIe\n" },
		{ "sys/bus/pci/devices/0000:18:00.0/max_link_speed", "32.0 GT/s PCIe\n" },
		{ "sys/bus/pci/devices/0000:18:00.0/numa_node", "1\n" },
		{ "sys/class/infiniband/mlx5_0/fw_ver", "28.39.1002\n" },
		{ "sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n" },
		{ "sys/class/infiniband/mlx5_0/ports/1/phys_state", "5: LinkUp\n" },
		{ "sys/class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)\n" },
		{ "sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n" },
		{ "sys/class/infiniband/mlx5_0/ports/1/gids/0",
		  "fe80:0000:0000:0000:0000:0000:0000:0001\n" },
		{ "sys/class/infiniband/mlx5_0/ports/1/gids/1",
		  "0000:0000:0000:0000:0000:0000:0000:0000\n" },
		{ "sys/class/infiniband/mlx5_0/ports/1/gids/3",
		  "0000:0000:0000:0000:0000:ffff:0a4d:000a\n" },
		{ "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0", "IB/RoCE v1\n" },
		{ "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/3", "RoCE v2\n" },
		{ "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/3", "ens1\n" },
		{ "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data",
		  "9223372036854775807\n" },
		{ "sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "65535\n" },
		{ "sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence", "3\n" },
		{ "sys/class/infiniband/mlx5_0/ports/1/hw_counters/lifespan", "10\n" },
		{ "sys/class/infiniband/mlx5_0/ports/2/state", "1: DOWN\n" },
		{ "sys/class/infiniband/mlx5_0/tc/1/traffic_class", "Global tclass=106\n" },
		{ "sys/devices/pci0000:16/0000:16:02.0/0000:19:00.0/class", "0x030200\n" },
		{ "sys/devices/pci0000:16/0000:16:02.0/0000:19:00.0/vendor", "0x10de\n" },
		{ "sys/devices/pci0000:16/0000:16:02.0/0000:19:00.0/numa_node", "1\n" },
		{ "proc/driver/nvidia/gpus/0000:19:00.0/information",
		  "Model: \t\t NVIDIA H100\nGPU UUID: \t GPU-1234\n" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		fake_file(fake, files[i][0], files[i][1]);
	fake_link(fake, "sys/class/infiniband/mlx5_0/device",
		  "../../../devices/pci0000:16/0000:16:02.0/0000:18:00.0");
	fake_link(fake, "sys/bus/pci/devices/0000:19:00.0",
		  "../../../devices/pci0000:16/0000:16:02.0/0000:19:00.0");
}

#endif
