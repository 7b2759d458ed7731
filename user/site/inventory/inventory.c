// SPDX-License-Identifier: BSD-3-Clause
#include "site/inventory/inventory.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/readable.h"
#include "base/text.h"
#include "site/inventory/internal.h"

#define TEXT(type, member, ...) SHAPE_OF(struct type, member, ##__VA_ARGS__)
#define NUMBER(type, member, ...)                                                                  \
	SHAPE_OF(struct type, member, .null = SHAPE_NEGATIVE, .exact = true, ##__VA_ARGS__)
#define STRUCT(type, member, shape) SHAPE_STRUCT(#member, struct type, member, shape)
#define LIST(type, member, item) SHAPE_LIST(#member, struct type, member, item##_shape)
#define NEEDED .need = SHAPE_NEEDED

static const struct shape pci_shape[] = {
	TEXT(inventory_pci, address), TEXT(inventory_pci, path),
	NUMBER(inventory_pci, width), NUMBER(inventory_pci, max_width),
	NUMBER(inventory_pci, speed), NUMBER(inventory_pci, max_speed),
	NUMBER(inventory_pci, numa),  { 0 },
};

static const struct shape gpu_shape[] = {
	TEXT(inventory_gpu, vendor),
	TEXT(inventory_gpu, model),
	TEXT(inventory_gpu, uuid),
	TEXT(inventory_gpu, driver),
	STRUCT(inventory_gpu, pci, pci_shape),
	{ 0 },
};

static const struct shape address_shape[] = {
	TEXT(inventory_address, address, NEEDED),
	TEXT(inventory_address, type),
	NUMBER(inventory_address, index),
	TEXT(inventory_address, netdev),
	{ 0 },
};

static const struct shape counter_shape[] = {
	TEXT(inventory_counter, name, NEEDED),
	NUMBER(inventory_counter, value),
	{ 0 },
};

static const struct shape nic_shape[] = {
	TEXT(inventory_nic, name, NEEDED),
	TEXT(inventory_nic, kind, NEEDED),
	TEXT(inventory_nic, link_layer),
	TEXT(inventory_nic, driver),
	TEXT(inventory_nic, state),
	TEXT(inventory_nic, physical),
	TEXT(inventory_nic, width_text),
	TEXT(inventory_nic, netdev),
	TEXT(inventory_nic, master),
	TEXT(inventory_nic, firmware),
	TEXT(inventory_nic, model),
	TEXT(inventory_nic, mac),
	NUMBER(inventory_nic, rate),
	NUMBER(inventory_nic, mtu),
	NUMBER(inventory_nic, traffic_class),
	STRUCT(inventory_nic, pci, pci_shape),
	LIST(inventory_nic, addresses, address),
	LIST(inventory_nic, counters, counter),
	{ 0 },
};

static const struct shape numa_shape[] = {
	NUMBER(inventory_numa, node, NEEDED),
	TEXT(inventory_numa, cpus),
	NUMBER(inventory_numa, memory),
	TEXT(inventory_numa, distances),
	{ 0 },
};

static const struct shape module_shape[] = {
	TEXT(inventory_module, path, NEEDED),
	TEXT(inventory_module, build_id),
	TEXT(inventory_module, missing),
	{ 0 },
};

static const struct shape library_shape[] = {
	TEXT(inventory_library, path, NEEDED),
	TEXT(inventory_library, build_id),
	TEXT(inventory_library, version),
	TEXT(inventory_library, found_by),
	TEXT(inventory_library, missing),
	LIST(inventory_library, modules, module),
	{ 0 },
};

static const struct shape variable_shape[] = {
	TEXT(inventory_variable, name, NEEDED),
	TEXT(inventory_variable, value, NEEDED),
	TEXT(inventory_variable, from, NEEDED),
	{ 0 },
};

static const struct shape driver_shape[] = {
	TEXT(inventory_driver, name, NEEDED),
	TEXT(inventory_driver, version),
	TEXT(inventory_driver, device),
	{ 0 },
};

static const struct shape user_shape[] = {
	NUMBER(inventory_user, pid, NEEDED),
	TEXT(inventory_user, comm),
	TEXT(inventory_user, device),
	{ 0 },
};

static const struct shape reason_shape[] = {
	TEXT(inventory_reason, what, NEEDED),
	TEXT(inventory_reason, why, NEEDED),
	{ 0 },
};

static const struct shape cpus_shape[] = {
	TEXT(inventory_cpus, model),
	TEXT(inventory_cpus, online),
	TEXT(inventory_cpus, allowed),
	NUMBER(inventory_cpus, count),
	{ 0 },
};

static const struct shape limits_shape[] = {
	NUMBER(inventory_limits, memlock),      NUMBER(inventory_limits, max_memlock),
	NUMBER(inventory_limits, open_files),   NUMBER(inventory_limits, max_open_files),
	NUMBER(inventory_limits, ptrace_scope), TEXT(inventory_limits, user_namespace),
	TEXT(inventory_limits, pid_namespace),  TEXT(inventory_limits, ipc_namespace),
	TEXT(inventory_limits, net_namespace),  NUMBER(inventory_limits, initial_user_namespace),
	NUMBER(inventory_limits, shm_bytes),    { 0 },
};

static const struct shape inventory_shape[] = {
	TEXT(inventory, version),
	TEXT(inventory, host, NEEDED),
	TEXT(inventory, boot_id, NEEDED),
	TEXT(inventory, kernel_boot_id, .need = SHAPE_LATER),
	TEXT(inventory, kernel),
	TEXT(inventory, machine),
	NUMBER(inventory, real_ns, NEEDED),
	NUMBER(inventory, mono_ns, NEEDED),
	NUMBER(inventory, took_ns),
	STRUCT(inventory, cpus, cpus_shape),
	STRUCT(inventory, limits, limits_shape),
	LIST(inventory, numa, numa),
	LIST(inventory, gpus, gpu),
	LIST(inventory, nics, nic),
	LIST(inventory, tcp, counter),
	LIST(inventory, verbs_users, user),
	LIST(inventory, ucx, library),
	LIST(inventory, mpi, library),
	LIST(inventory, drivers, driver),
	LIST(inventory, variables, variable),
	LIST(inventory, unknown, reason),
	{ 0 },
};

struct inventory *inventory_new(void)
{
	struct inventory *inventory = xmalloc(sizeof(*inventory));

	shape_init(inventory_shape, inventory);
	return inventory;
}

struct inventory_nic *inventory_add_nic(struct inventory *inventory)
{
	struct inventory_nic *nic = vec_add(&inventory->nics);

	shape_init(nic_shape, nic);
	return nic;
}

struct inventory_library *inventory_add_library(struct inventory *inventory, const char *list)
{
	struct inventory_library *library =
		strcmp(list, "ucx") ? vec_add(&inventory->mpi) : vec_add(&inventory->ucx);

	shape_init(library_shape, library);
	return library;
}

struct inventory_nic *inventory_find_net(struct inventory *inventory, const char *name)
{
	for (size_t i = 0; i < inventory->nics.len; i++)
		if (!strcmp(inventory->nics.data[i].name, name) &&
		    !strcmp(inventory->nics.data[i].kind, "net"))
			return &inventory->nics.data[i];
	return NULL;
}

struct inventory_gpu *inventory_add_gpu(struct inventory *inventory)
{
	struct inventory_gpu *gpu = vec_add(&inventory->gpus);

	shape_init(gpu_shape, gpu);
	return gpu;
}

void inventory_free(struct inventory *inventory)
{
	if (inventory)
		shape_release(inventory_shape, inventory);
	free(inventory);
}

int inventory_write(const struct inventory *inventory, FILE *out)
{
	json_t *object = json_pack("{s:s}", "schema", INVENTORY_SCHEMA);

	shape_put(object, inventory_shape, inventory, NULL);
	errno = 0;
	text_put_json(object, JSON_INDENT(1), out);
	json_decref(object);
	fputc('\n', out);
	return text_finish(out);
}

/* ---- from JSON ---- */

#define MAX_BYTES (64 << 20)

static int open_regular(const char *path, FILE **file)
{
	struct stat stat;

	*file = readable_open(path);
	if (!*file)
		return -errno;
	if (fstat(fileno(*file), &stat) || !S_ISREG(stat.st_mode) || stat.st_size > MAX_BYTES) {
		fclose(*file);
		return S_ISDIR(stat.st_mode) ? -EISDIR : -EFBIG;
	}
	return 0;
}

static int refuse(char why[INVENTORY_WHY], const char *where, const char *what)
{
	snprintf(why, INVENTORY_WHY, "%s%s%s", where, *where ? ": " : "", what);
	return -EINVAL;
}

static bool is_schema(json_t *object)
{
	const char *schema = json_string_value(json_object_get(object, "schema"));

	return schema && !strcmp(schema, INVENTORY_SCHEMA);
}

/* The object is changed. */
static int take(json_t *object, struct inventory **inventory, char why[INVENTORY_WHY])
{
	struct shape_error error = { .where = "" };
	struct inventory *made;

	if (!is_schema(object))
		return refuse(why, "schema", "is not " INVENTORY_SCHEMA);
	json_object_del(object, "schema");
	made = inventory_new();
	if (shape_read(inventory_shape, object, made, &error)) {
		*inventory = made;
		return 0;
	}
	inventory_free(made);
	return refuse(why, error.where, error.what);
}

/* object: NULL where it is no JSON. */
static int take_loaded(json_t *object, const json_error_t *error, struct inventory **inventory,
		       char why[INVENTORY_WHY])
{
	int err;

	if (!object) {
		snprintf(why, INVENTORY_WHY, "line %d: %s", error->line, error->text);
		return -EINVAL;
	}
	err = take(object, inventory, why);
	json_decref(object);
	return err;
}

int inventory_parse(const char *text, struct inventory **inventory, char why[INVENTORY_WHY])
{
	json_error_t error;
	json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	return take_loaded(object, &error, inventory, why);
}

int inventory_read(const char *path, struct inventory **inventory, char why[INVENTORY_WHY])
{
	json_error_t error;
	json_t *object;
	FILE *file;
	int err = open_regular(path, &file);

	if (err) {
		snprintf(why, INVENTORY_WHY, "%s", readable_why(err));
		return err;
	}
	object = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
	fclose(file);
	return take_loaded(object, &error, inventory, why);
}

/* ---- queries ---- */ static bool is_named(const char *nic, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(nic, name, length) && (!nic[length] || !strcmp(nic + length, ":1"));
}

bool inventory_nic_up(const struct inventory_nic *nic)
{
	return nic->state && !strcmp(nic->state, "up");
}

const struct inventory_nic *inventory_nic(const struct inventory *inventory, const char *name)
{
	for (size_t i = 0; i < inventory->nics.len; i++)
		if (is_named(inventory->nics.data[i].name, name))
			return &inventory->nics.data[i];
	return NULL;
}

int64_t inventory_tcp_counter(const struct inventory *inventory, const char *name)
{
	for (size_t i = 0; i < inventory->tcp.len; i++)
		if (!strcmp(inventory->tcp.data[i].name, name))
			return inventory->tcp.data[i].value;
	return INVENTORY_UNKNOWN;
}

int64_t inventory_counter(const struct inventory_nic *nic, const char *name)
{
	for (size_t i = 0; i < nic->counters.len; i++)
		if (!strcmp(nic->counters.data[i].name, name))
			return nic->counters.data[i].value;
	return INVENTORY_UNKNOWN;
}

const char *inventory_why(const struct inventory *inventory, const char *what)
{
	for (size_t i = 0; i < inventory->unknown.len; i++)
		if (!strcmp(inventory->unknown.data[i].what, what))
			return inventory->unknown.data[i].why;
	return NULL;
}

int inventory_pcie_gen(int64_t speed)
{
	static const int64_t speeds[] = { 2500, 5000, 8000, 16000, 32000, 64000 };

	for (int i = 0; i < (int)(sizeof(speeds) / sizeof(*speeds)); i++)
		if (speeds[i] == speed)
			return i + 1;
	return 0;
}

/* ---- as text ---- */

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
	if (module->missing)
		fprintf(out, "       %s does not load: %s\n", basename(module->path),
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
	return text_finish(out);
}
