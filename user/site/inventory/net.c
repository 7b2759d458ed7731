// SPDX-License-Identifier: BSD-3-Clause
/*
 * Network interfaces: /sys/class/net, Documentation/ABI/testing/sysfs-class-net and
 * sysfs-class-net-statistics of the kernel.
 */
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "site/inventory/collect.h"

enum { ARPHRD_ETHER = 1, ARPHRD_INFINIBAND = 32, ARPHRD_LOOPBACK = 772 };

static const char *layer_of(int64_t type)
{
	return type == ARPHRD_ETHER        ? "Ethernet"
	       : type == ARPHRD_INFINIBAND ? "InfiniBand"
	       : type == ARPHRD_LOOPBACK   ? "loopback"
					   : NULL;
}

static void take_counters(struct inventory_nic *nic, const char *folder)
{
	look_names names = look_folder("%s/statistics", folder);
	struct inventory_counter *downs = vec_add(&nic->counters);

	/* how often the link went down */
	downs->name = strdup("carrier_down_count");
	downs->value = look_number("%s/carrier_down_count", folder);

	for (size_t i = 0; i < names.len; i++) {
		struct inventory_counter *counter = vec_add(&nic->counters);

		counter->name = text_plain(names.data[i]);
		counter->value = look_number("%s/statistics/%s", folder, names.data[i]);
	}
	look_release(&names);
}

/* The kernel gives lo and tun devices the state "unknown", though they carry traffic. */
static char *state_of(const char *folder)
{
	char *state = look_line("%s/operstate", folder);

	if (state && !strcmp(state, "unknown")) {
		int64_t carrier = look_number("%s/carrier", folder);

		free(state);
		state = carrier < 0 ? NULL : strdup(carrier ? "up" : "down");
	}
	return state;
}

static void take_link(struct inventory_nic *nic, const char *folder)
{
	const char *layer = layer_of(look_number("%s/type", folder));
	int64_t speed = look_number("%s/speed", folder); /* Mbit/s */

	nic->kind = strdup("net");
	nic->link_layer = layer ? strdup(layer) : NULL;
	nic->state = state_of(folder);
	nic->rate = speed > 0 && speed < 100000000 ? speed * 1000000 : INVENTORY_UNKNOWN;
	nic->mtu = look_number("%s/mtu", folder);
	nic->mac = look_line("%s/address", folder);
	nic->master = look_link("%s/master", folder);
	nic->driver = look_link("%s/device/driver", folder);
}

static void say_unknown(struct look *look, const struct inventory_nic *nic)
{
	if (!nic->pci.address)
		look_unknown(look, "it has no PCI device: virtual, or of another bus",
			     "nics/%s/pci", nic->name);
	if (nic->rate < 0)
		look_unknown(look, "the driver does not tell it, or the link is down",
			     "nics/%s/rate", nic->name);
	if (!nic->state)
		look_unknown(look, "the driver does not tell it", "nics/%s/state", nic->name);
}

static void take_interface(struct look *look, const char *name)
{
	struct inventory_nic *nic = inventory_add_nic(look->inventory);
	char folder[LOOK_PATH];

	look_path(folder, "%s/class/net/%s", look->sysfs, name);
	nic->name = text_plain(name);
	take_link(nic, folder);
	collect_pci(look, folder, &nic->pci);
	take_counters(nic, folder);
	say_unknown(look, nic);
}

/* Beside them there is a file, bonding_masters. */
static bool is_interface(const struct look *look, const char *name)
{
	char path[LOOK_PATH];

	look_path(path, "%s/class/net/%s/ifindex", look->sysfs, name);
	return !access(path, F_OK);
}

void collect_net(struct look *look)
{
	look_names names = { 0 };

	if (!look->foreign_net)
		names = look_folder("%s/class/net", look->sysfs);
	for (size_t i = 0; i < names.len; i++)
		if (is_interface(look, names.data[i]))
			take_interface(look, names.data[i]);
	look_release(&names);
}
