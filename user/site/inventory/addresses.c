// SPDX-License-Identifier: BSD-3-Clause
/* Addresses of network interfaces, getifaddrs(3). */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <string.h>

#include "site/inventory/collect.h"

static void add(struct inventory_nic *nic, const struct sockaddr *address)
{
	bool six = address->sa_family == AF_INET6;
	socklen_t size = six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	struct inventory_address *entry;
	char text[NI_MAXHOST];

	if (getnameinfo(address, size, text, sizeof(text), NULL, 0, NI_NUMERICHOST))
		return;
	text[strcspn(text, "%")] = '\0'; /* the interface of a link's own address */
	entry = vec_add(&nic->addresses);
	entry->address = strdup(text);
	entry->type = strdup(six ? "IPv6" : "IPv4");
	entry->index = INVENTORY_UNKNOWN;
}

void collect_addresses(struct look *look)
{
	struct ifaddrs *all, *at;

	/* they are of this machine, whatever the folder is of */
	if (*look->root || getifaddrs(&all))
		return;
	for (at = all; at; at = at->ifa_next) {
		struct inventory_nic *nic = inventory_find_net(look->inventory, at->ifa_name);

		if (nic && at->ifa_addr &&
		    (at->ifa_addr->sa_family == AF_INET || at->ifa_addr->sa_family == AF_INET6))
			add(nic, at->ifa_addr);
	}
	freeifaddrs(all);
}
