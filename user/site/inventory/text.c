// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "site/inventory/inventory.h"

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

static void print_gpus(const struct inventory *inventory, FILE *out)
{
	for (size_t i = 0; i < inventory->gpus.len; i++) {
		const struct inventory_gpu *gpu = &inventory->gpus.data[i];

		fprintf(out, "gpu  %-12s %-26s", or_dash(gpu->vendor), or_dash(gpu->model));
		print_link(&gpu->pci, out);
	}
}

static void print_module(const struct inventory_module *module, FILE *out)
{
	const char *slash = strrchr(module->path, '/');

	if (module->missing)
		fprintf(out, "       %s does not load: %s\n", slash ? slash + 1 : module->path,
			module->missing);
}

static void print_library(const char *what, const struct inventory_library *library, FILE *out)
{
	fprintf(out, "%-4s %-14s %s  (%s)\n", what, or_dash(library->version), library->path,
		or_dash(library->found_by));
	if (library->missing)
		fprintf(out, "       does not load: %s\n", library->missing);
	for (size_t i = 0; i < library->modules.len; i++)
		print_module(&library->modules.data[i], out);
}

static void print_libraries(const struct inventory *inventory, FILE *out)
{
	for (size_t i = 0; i < inventory->ucx.len; i++)
		print_library("ucx", &inventory->ucx.data[i], out);
	for (size_t i = 0; i < inventory->mpi.len; i++)
		print_library("mpi", &inventory->mpi.data[i], out);
}

static void print_limit(const char *name, int64_t limit, FILE *out)
{
	if (limit == INT64_MAX)
		fprintf(out, "  %s unlimited", name);
	else if (limit >= 0)
		fprintf(out, "  %s %" PRId64, name, limit);
}

static void print_settings(const struct inventory *inventory, FILE *out)
{
	fprintf(out, "cpus %s of %s, %zu NUMA nodes", or_dash(inventory->cpus.allowed),
		or_dash(inventory->cpus.online), inventory->numa.len);
	print_limit("memlock", inventory->limits.memlock, out);
	print_limit("ptrace_scope", inventory->limits.ptrace_scope, out);
	fputc('\n', out);
	for (size_t i = 0; i < inventory->drivers.len; i++)
		fprintf(out, "kernel module %s %s\n", inventory->drivers.data[i].name,
			or_dash(inventory->drivers.data[i].version));
	for (size_t i = 0; i < inventory->variables.len; i++)
		fprintf(out, "%s=%s  (%s)\n", inventory->variables.data[i].name,
			inventory->variables.data[i].value, inventory->variables.data[i].from);
}

int inventory_text(const struct inventory *inventory, FILE *out)
{
	errno = 0;
	fprintf(out, "node %s  boot %s  kernel %s\n", inventory->host, inventory->boot_id,
		or_dash(inventory->kernel));
	print_gpus(inventory, out);
	print_nics(inventory, out);
	print_libraries(inventory, out);
	print_settings(inventory, out);
	if (!fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
