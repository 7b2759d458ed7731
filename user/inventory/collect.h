/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts that inventory_collect() is made of. Private to inventory/. */
#ifndef UCXBPF_INVENTORY_COLLECT_H
#define UCXBPF_INVENTORY_COLLECT_H

#include "inventory/look.h"
#include "inventory/private.h"

/* Of the device that a folder's link 'device' leads to, or of the folder itself. */
void collect_pci(struct look *look, const char *folder, struct inventory_pci *pci);

void collect_net(struct look *look);
void collect_verbs(struct look *look);

#endif
