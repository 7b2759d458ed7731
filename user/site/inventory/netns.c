// SPDX-License-Identifier: BSD-3-Clause
/* A sysfs shows the network namespace of whoever mounted it: we may need one of our own. */
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>

#include "site/inventory/collect.h"

/* Whether sysfs has the interface with that number and that address of its hardware. */
static bool shows(const char *sysfs, const char *name, const struct sockaddr_ll *link)
{
	char *address = look_line("%s/class/net/%s/address", sysfs, name), text[64] = "";
	bool same = look_number("%s/class/net/%s/ifindex", sysfs, name) == link->sll_ifindex;

	for (int i = 0; i < link->sll_halen && i < 8; i++)
		sprintf(text + strlen(text), "%s%02x", i ? ":" : "", link->sll_addr[i]);
	/* those of InfiniBand are longer than what is told here */
	same = same && (!address || !strncmp(address, text, strlen(text)));
	free(address);
	return same;
}

/* Beside interfaces there is a file, bonding_masters. */
static size_t interfaces(const char *sysfs)
{
	look_names shown = look_folder("%s/class/net", sysfs);
	size_t count = 0;

	for (size_t i = 0; i < shown.len; i++)
		count += look_number("%s/class/net/%s/ifindex", sysfs, shown.data[i]) > 0;
	look_release(&shown);
	return count;
}

static bool shows_own(const char *sysfs)
{
	struct ifaddrs *all, *at;
	size_t count = 0;
	bool same = true;

	if (getifaddrs(&all))
		return true;
	for (at = all; at; at = at->ifa_next) {
		if (!at->ifa_addr || at->ifa_addr->sa_family != AF_PACKET)
			continue;
		count++;
		same = same && shows(sysfs, at->ifa_name, (struct sockaddr_ll *)at->ifa_addr);
	}
	freeifaddrs(all);
	return same && count == interfaces(sysfs);
}

int collect_own_sysfs(struct look *look)
{
	int mount;

	if (shows_own(look->sysfs))
		return -1;
	mount = look_mount("sysfs");
	if (mount < 0) {
		look->foreign_net = true;
		look_unknown(look, "/sys shows another network namespace; as root it could be told",
			     "nics");
		return -1;
	}
	snprintf(look->sysfs, sizeof(look->sysfs), "/proc/self/fd/%d", mount);
	return mount;
}
