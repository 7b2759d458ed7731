// SPDX-License-Identifier: BSD-3-Clause
/*
 * Ports of RDMA devices: /sys/class/infiniband, Documentation/ABI/stable/sysfs-class-infiniband of
 * the kernel; traffic_class is of NVIDIA's driver (MOFED).
 */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "site/inventory/collect.h"

static void take_counters(struct inventory_nic *nic, const char *port, const char *group)
{
	look_names names = look_folder("%s/%s", port, group);

	for (size_t i = 0; i < names.len; i++) {
		struct inventory_counter *counter;

		if (!strcmp(names.data[i],
			    "lifespan")) /* a setting: for how long values are kept */
			continue;
		counter = vec_add(&nic->counters);
		counter->name = text_plain(names.data[i]);
		counter->value = look_number("%s/%s/%s", port, group, names.data[i]);
	}
	look_release(&names);
}

/* "4: ACTIVE", "5: LinkUp" */
static char *behind_colon(const char *port, const char *name)
{
	char *line = look_line("%s/%s", port, name), *colon, *word;

	if (!line)
		return NULL;
	colon = strchr(line, ':');
	word = strdup(colon ? colon + 1 + strspn(colon + 1, " ") : line);
	free(line);
	return word;
}

static char *state_of(const char *port)
{
	char *state = behind_colon(port, "state");

	for (char *at = state; at && *at; at++)
		*at = (char)tolower((unsigned char)*at);
	if (state && !strcmp(state, "active"))
		strcpy(state, "up");
	return state;
}

/* "100 Gb/sec (4X EDR)" */
static void take_rate(struct inventory_nic *nic, const char *port)
{
	char *line = look_line("%s/rate", port), *end, *open, *close;
	double rate;

	if (!line)
		return;
	rate = strtod(line, &end);
	if (end != line && !strncmp(end, " Gb/sec", 7) && rate > 0 && rate < 100000)
		nic->rate = (int64_t)(rate * 1e9 + 0.5);
	open = strchr(line, '(');
	close = open ? strchr(open, ')') : NULL;
	if (close)
		nic->width_text = strndup(open + 1, (size_t)(close - open - 1));
	free(line);
}

/* An entry that is not in use is all zeros. */
static bool is_empty(const char *gid)
{
	return !gid[strspn(gid, "0:")];
}

static void take_gids(struct inventory_nic *nic, const char *port)
{
	look_names names = look_folder("%s/gids", port);

	for (size_t i = 0; i < names.len; i++) {
		char *gid = look_line("%s/gids/%s", port, names.data[i]);
		struct inventory_address *address;

		if (!gid || is_empty(gid)) {
			free(gid);
			continue;
		}
		address = vec_add(&nic->addresses);
		address->address = gid;
		address->index = atoi(names.data[i]);
		address->type = look_line("%s/gid_attrs/types/%s", port, names.data[i]);
		address->netdev = look_line("%s/gid_attrs/ndevs/%s", port, names.data[i]);
		if (!nic->netdev && address->netdev)
			nic->netdev = strdup(address->netdev);
	}
	look_release(&names);
}

/* "Global tclass=106" */
static int64_t traffic_class(const char *device, const char *port)
{
	char *line = look_line("%s/tc/%s/traffic_class", device, port), *at;
	int64_t class = INVENTORY_UNKNOWN;

	at = line ? strstr(line, "tclass=") : NULL;
	if (at && isdigit((unsigned char)at[7]))
		class = atoi(at + 7);
	free(line);
	return class;
}

static void say_unknown(struct look *look, const struct inventory_nic *nic)
{
	look_unknown(look, "sysfs does not tell it of verbs ports", "nics/%s/mtu", nic->name);
	if (!nic->pci.address)
		look_unknown(look, "it has no PCI device", "nics/%s/pci", nic->name);
	if (nic->rate < 0)
		look_unknown(look, "the driver does not tell it", "nics/%s/rate", nic->name);
	if (nic->traffic_class < 0 && nic->link_layer && !strcmp(nic->link_layer, "Ethernet"))
		look_unknown(look, "the driver has no file traffic_class", "nics/%s/traffic_class",
			     nic->name);
}

static void take_port(struct look *look, const char *device, const char *number)
{
	struct inventory_nic *nic = inventory_add_nic(look->inventory);
	char folder[LOOK_PATH], port[LOOK_PATH], name[LOOK_PATH];

	look_path(folder, "%s/class/infiniband/%s", look->sysfs, device);
	look_path(port, "%s/ports/%s", folder, number);
	look_path(name, "%s:%s", device, number);
	nic->name = text_plain(name);
	nic->kind = strdup("verbs");
	nic->link_layer = look_line("%s/link_layer", port);
	nic->driver = look_link("%s/device/driver", folder);
	nic->state = state_of(port);
	nic->physical = behind_colon(port, "phys_state");
	nic->firmware = look_line("%s/fw_ver", folder);
	nic->model = look_line("%s/hca_type", folder);
	nic->mac = look_line("%s/node_guid", folder);
	nic->traffic_class = traffic_class(folder, number);
	take_rate(nic, port);
	take_gids(nic, port);
	collect_pci(look, folder, &nic->pci);
	take_counters(nic, port, "counters");
	take_counters(nic, port, "hw_counters");
	say_unknown(look, nic);
}

void collect_verbs(struct look *look)
{
	look_names devices = look_folder("%s/class/infiniband", look->sysfs);

	for (size_t i = 0; i < devices.len; i++) {
		look_names ports =
			look_folder("%s/class/infiniband/%s/ports", look->sysfs, devices.data[i]);

		for (size_t k = 0; k < ports.len; k++)
			take_port(look, devices.data[i], ports.data[k]);
		look_release(&ports);
	}
	look_release(&devices);
}
