/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts that inventory_collect() is made of. Private to inventory/. */
#ifndef UCXBPF_INVENTORY_COLLECT_H
#define UCXBPF_INVENTORY_COLLECT_H

#include "site/inventory/look.h"
#include "site/inventory/private.h"

/* Of the device that a folder's link 'device' leads to, or of the folder itself. */
void collect_pci(struct look *look, const char *folder, struct inventory_pci *pci);

/*
 * Makes look->sysfs one of our own network namespace: where /sys shows another one, as in a node
 * made of namespaces, a new one is mounted, to which nobody has a path. The descriptor to close in
 * the end, or -1: there is none.
 */
int collect_own_sysfs(struct look *look);

void collect_net(struct look *look);
void collect_tcp(struct look *look);
void collect_verbs(struct look *look);
void collect_verbs_users(struct look *look);
void collect_addresses(struct look *look); /* after collect_net() */
void collect_gpus(struct look *look);
void collect_numa(struct look *look);
void collect_cpus(struct look *look);
void collect_limits(struct look *look);
void collect_drivers(struct look *look);
void collect_variables(struct look *look);
void collect_software(struct look *look);

struct ldso;

/* The modules of the copy of UCX that a libucp belongs to. */
void collect_ucx_modules(struct inventory_library *to, struct ldso *ld, const char *libucp);

#endif
