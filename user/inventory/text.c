// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "inventory/inventory.h"

static const char *or_dash(const char *text)
{
	return text ? text : "-";
}

static void print_rate(int64_t rate, FILE *out)
{
	if (rate < 0)
		fprintf(out, "%10s", "-");
	else
		fprintf(out, "%5.4g Gb/s", (double)rate / 1e9);
}

static void print_link(const struct inventory_pci *pci, FILE *out)
{
	fprintf(out, "  %-12s", or_dash(pci->address));
	if (pci->width > 0)
		fprintf(out, " x%" PRId64 " gen%d", pci->width, inventory_pcie_gen(pci->speed));
	if (pci->numa >= 0)
		fprintf(out, " numa%" PRId64, pci->numa);
	fputc('\n', out);
}

static void print_nics(const struct inventory *inventory, FILE *out)
{
	for (size_t i = 0; i < inventory->nics.len; i++) {
		const struct inventory_nic *nic = &inventory->nics.data[i];

		fprintf(out, "nic  %-12s %-10s %-6s ", nic->name, or_dash(nic->link_layer),
			or_dash(nic->state));
		print_rate(nic->rate, out);
		print_link(&nic->pci, out);
	}
}

int inventory_text(const struct inventory *inventory, FILE *out)
{
	errno = 0;
	fprintf(out, "node %s  boot %s  kernel %s\n", inventory->host, inventory->boot_id,
		or_dash(inventory->kernel));
	print_nics(inventory, out);
	if (!fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
