// SPDX-License-Identifier: BSD-3-Clause
/* NICs with their addresses and counters: network interfaces, and ports of RDMA devices. */
#include <arpa/inet.h>
#include <ctype.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "site/inventory/internal.h"

/* ---- network interfaces ---- */

/*
 * Network interfaces: /sys/class/net, Documentation/ABI/testing/sysfs-class-net and
 * sysfs-class-net-statistics of the kernel.
 */

enum { ARPHRD_ETHER = 1, ARPHRD_INFINIBAND = 32, ARPHRD_LOOPBACK = 772 };

static const char *layer_of(int64_t type)
{
	return type == ARPHRD_ETHER        ? "Ethernet"
	       : type == ARPHRD_INFINIBAND ? "InfiniBand"
	       : type == ARPHRD_LOOPBACK   ? "loopback"
					   : NULL;
}

static void take_net_counters(struct inventory_nic *nic, const char *folder)
{
	look_names names = look_folder("%s/statistics", folder);
	struct inventory_counter *downs = vec_add(&nic->counters);

	/* how often the link went down */
	downs->name = xstrdup("carrier_down_count");
	downs->value = look_number("%s/carrier_down_count", folder);

	for (size_t i = 0; i < names.len; i++) {
		struct inventory_counter *counter = vec_add(&nic->counters);

		counter->name = text_plain(names.data[i]);
		counter->value = look_number("%s/statistics/%s", folder, names.data[i]);
	}
	look_release(&names);
}

/* The kernel gives lo and tun devices the state "unknown", though they carry traffic. */
static char *net_state(const char *folder)
{
	char *state = look_line("%s/operstate", folder);

	if (state && !strcmp(state, "unknown")) {
		int64_t carrier = look_number("%s/carrier", folder);

		free(state);
		state = carrier < 0 ? NULL : xstrdup(carrier ? "up" : "down");
	}
	return state;
}

static void take_link(struct inventory_nic *nic, const char *folder)
{
	const char *layer = layer_of(look_number("%s/type", folder));
	int64_t speed = look_number("%s/speed", folder); /* Mbit/s */

	nic->kind = xstrdup("net");
	nic->link_layer = layer ? xstrdup(layer) : NULL;
	nic->state = net_state(folder);
	nic->rate = speed > 0 && speed < 100000000 ? speed * 1000000 : INVENTORY_UNKNOWN;
	nic->mtu = look_number("%s/mtu", folder);
	nic->mac = look_line("%s/address", folder);
	nic->master = look_link("%s/master", folder);
	nic->driver = look_link("%s/device/driver", folder);
}

static void say_net_unknown(struct look *look, const struct inventory_nic *nic)
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
	take_net_counters(nic, folder);
	say_net_unknown(look, nic);
}

/* Beside them there is a file, bonding_masters. */
static bool is_interface(const struct look *look, const char *name)
{
	char path[LOOK_PATH];

	look_path(path, "%s/class/net/%s/ifindex", look->sysfs, name);
	return !access(path, F_OK);
}

static void collect_net(struct look *look)
{
	look_names names = { 0 };

	if (!look->foreign_net)
		names = look_folder("%s/class/net", look->sysfs);
	for (size_t i = 0; i < names.len; i++)
		if (is_interface(look, names.data[i]))
			take_interface(look, names.data[i]);
	look_release(&names);
}

/* ---- addresses ---- */

/* Addresses of network interfaces, getifaddrs(3). */

static void add_address(struct inventory_nic *nic, const struct sockaddr *address)
{
	bool six = address->sa_family == AF_INET6;
	socklen_t size = six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	struct inventory_address *entry;
	char text[NI_MAXHOST];

	if (getnameinfo(address, size, text, sizeof(text), NULL, 0, NI_NUMERICHOST))
		return;
	text[strcspn(text, "%")] = '\0'; /* the interface of a link's own address */
	entry = vec_add(&nic->addresses);
	entry->address = xstrdup(text);
	entry->type = xstrdup(six ? "IPv6" : "IPv4");
	entry->index = INVENTORY_UNKNOWN;
}

static void collect_addresses(struct look *look)
{
	struct ifaddrs *all, *at;

	/* they are this machine's, even if the folder is another's */
	if (*look->root || getifaddrs(&all))
		return;
	for (at = all; at; at = at->ifa_next) {
		struct inventory_nic *nic = inventory_find_net(look->inventory, at->ifa_name);

		if (nic && at->ifa_addr &&
		    (at->ifa_addr->sa_family == AF_INET || at->ifa_addr->sa_family == AF_INET6))
			add_address(nic, at->ifa_addr);
	}
	freeifaddrs(all);
}

/* ---- TCP ---- */

/*
 * What TCP did in this network namespace, RFC 4022 (retransmitted segments above all): two lines of
 * /proc/self/net/snmp, one of names and one of numbers.
 */

#define MAX_TEXT (1 << 16)

/* The next line from *rest that begins so, behind that; NULL: none. */
static char *line_with(char **rest, const char *label)
{
	size_t length = strlen(label);
	char *line;

	while ((line = strsep(rest, "\n")))
		if (!strncmp(line, label, length))
			return line + length;
	return NULL;
}

static void add_tcp_counter(struct look *look, const char *name, const char *number)
{
	struct inventory_counter *counter = vec_add(&look->inventory->tcp);
	char *end;

	counter->name = text_plain(name);
	counter->value = strtoll(number, &end, 10);
	if (*end || end == number || counter->value < 0)
		counter->value = INVENTORY_UNKNOWN;
}

static void collect_tcp(struct look *look)
{
	char path[LOOK_PATH], *text, *rest, *names, *numbers, *name, *number;
	size_t size;

	look_path(path, "%s/self/net/snmp", look->proc);
	text = rest = look_whole(path, MAX_TEXT, &size);
	names = line_with(&rest, "Tcp: ");
	numbers = line_with(&rest, "Tcp: ");
	while ((name = strsep(&names, " ")) && (number = strsep(&numbers, " ")))
		add_tcp_counter(look, name, number);
	free(text);
}

/* ---- ports of RDMA devices ---- */

/*
 * Ports of RDMA devices: /sys/class/infiniband, Documentation/ABI/stable/sysfs-class-infiniband of
 * the kernel; traffic_class is of NVIDIA's driver (MOFED).
 */

static void take_port_counters(struct inventory_nic *nic, const char *port, const char *group)
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
	word = xstrdup(colon ? colon + 1 + strspn(colon + 1, " ") : line);
	free(line);
	return word;
}

static char *port_state(const char *port)
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
		nic->width_text = xstrndup(open + 1, (size_t)(close - open - 1));
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
			nic->netdev = xstrdup(address->netdev);
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

static void say_port_unknown(struct look *look, const struct inventory_nic *nic)
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
	nic->kind = xstrdup("verbs");
	nic->link_layer = look_line("%s/link_layer", port);
	nic->driver = look_link("%s/device/driver", folder);
	nic->state = port_state(port);
	nic->physical = behind_colon(port, "phys_state");
	nic->firmware = look_line("%s/fw_ver", folder);
	nic->model = look_line("%s/hca_type", folder);
	nic->mac = look_line("%s/node_guid", folder);
	nic->traffic_class = traffic_class(folder, number);
	take_rate(nic, port);
	take_gids(nic, port);
	collect_pci(look, folder, &nic->pci);
	take_port_counters(nic, port, "counters");
	take_port_counters(nic, port, "hw_counters");
	say_port_unknown(look, nic);
}

static void collect_verbs(struct look *look)
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

/* ---- all of them, by name ---- */

static int by_name(const void *left, const void *right)
{
	const struct inventory_nic *a = left, *b = right;

	return strcmp(a->name, b->name);
}

void collect_nics(struct look *look)
{
	struct inventory *inventory = look->inventory;

	inventory->real_ns = (int64_t)clock_ns(CLOCK_REALTIME);
	inventory->mono_ns = (int64_t)clock_ns(CLOCK_MONOTONIC);
	collect_tcp(look);
	collect_net(look);
	collect_addresses(look);
	collect_verbs(look);
	if (inventory->nics.len)
		qsort(inventory->nics.data, inventory->nics.len, sizeof(*inventory->nics.data),
		      by_name);
}

/* ---- processes ---- */

/* Processes with open verbs devices: they may cause traffic beside the traced job. */

#define LONGEST 1000000000u /* ns; there may be many processes */

/* "uverbs0", the caller's; NULL: it has none open. */
static char *device_open_in(const char *proc, const char *pid)
{
	look_names fds = look_folder("%s/%s/fd", proc, pid);
	char *device = NULL;

	for (size_t i = 0; i < fds.len && !device; i++) {
		device = look_link("%s/%s/fd/%s", proc, pid, fds.data[i]);
		if (device && strncmp(device, "uverbs", 6)) {
			free(device);
			device = NULL;
		}
	}
	look_release(&fds);
	return device;
}

static void take_process(struct look *look, const char *pid)
{
	char *device = device_open_in(look->proc, pid);
	struct inventory_user *user;

	if (!device)
		return;
	user = vec_add(&look->inventory->verbs_users);
	user->pid = atoll(pid);
	user->comm = look_line("%s/%s/comm", look->proc, pid);
	user->device = device;
}

void collect_verbs_users(struct look *look)
{
	look_names verbs = look_folder("%s/class/infiniband_verbs", look->sysfs);
	look_names processes = { 0 };
	uint64_t begun = clock_ns(CLOCK_MONOTONIC);

	if (verbs.len)
		processes = look_folder("%s", look->proc);
	for (size_t i = 0; i < processes.len; i++) {
		if (clock_ns(CLOCK_MONOTONIC) - begun > LONGEST) {
			look_unknown(look, "too many processes to look at", "verbs_users");
			break;
		}
		if (isdigit((unsigned char)*processes.data[i]))
			take_process(look, processes.data[i]);
	}
	if (verbs.len && geteuid())
		look_unknown(look, "those of other users are hidden from who is not root",
			     "verbs_users");
	look_release(&processes);
	look_release(&verbs);
}
