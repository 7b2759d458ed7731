// SPDX-License-Identifier: BSD-3-Clause
#include "site/inventory/inventory.h"

#include <errno.h>
#include <string.h>

#include "site/inventory/private.h"

#define TEXT(type, field)                                                                          \
	{                                                                                          \
#field, SHAPE_TEXT, offsetof(struct type, field), NULL, 0, SHAPE_NULL              \
	}
#define NUMBER(type, field)                                                                        \
	{                                                                                          \
#field, SHAPE_NUMBER, offsetof(struct type, field), NULL, 0, SHAPE_NULL            \
	}
#define STRUCT(type, field, shape)                                                                 \
	{                                                                                          \
#field, SHAPE_STRUCT, offsetof(struct type, field), shape, 0, SHAPE_NULL           \
	}
#define LIST(type, field, item)                                                                    \
	{                                                                                          \
#field, SHAPE_LIST, offsetof(struct type, field), item##_shape,                    \
			sizeof(struct inventory_##item), SHAPE_NULL                                \
	}
#define NEEDED(type, field, kind)                                                                  \
	{                                                                                          \
#field, kind, offsetof(struct type, field), NULL, 0, SHAPE_NEEDED                  \
	}
#define LATER(type, field)                                                                         \
	{                                                                                          \
#field, SHAPE_TEXT, offsetof(struct type, field), NULL, 0, SHAPE_LATER             \
	}
#define END                                                                                        \
	{                                                                                          \
		NULL, SHAPE_END, 0, NULL, 0, SHAPE_NULL                                            \
	}

static const struct shape pci_shape[] = {
	TEXT(inventory_pci, address), TEXT(inventory_pci, path),
	NUMBER(inventory_pci, width), NUMBER(inventory_pci, max_width),
	NUMBER(inventory_pci, speed), NUMBER(inventory_pci, max_speed),
	NUMBER(inventory_pci, numa),  END,
};

static const struct shape gpu_shape[] = {
	TEXT(inventory_gpu, vendor),
	TEXT(inventory_gpu, model),
	TEXT(inventory_gpu, uuid),
	TEXT(inventory_gpu, driver),
	STRUCT(inventory_gpu, pci, pci_shape),
	END,
};

static const struct shape address_shape[] = {
	NEEDED(inventory_address, address, SHAPE_TEXT),
	TEXT(inventory_address, type),
	NUMBER(inventory_address, index),
	TEXT(inventory_address, netdev),
	END,
};

static const struct shape counter_shape[] = {
	NEEDED(inventory_counter, name, SHAPE_TEXT),
	NUMBER(inventory_counter, value),
	END,
};

static const struct shape nic_shape[] = {
	NEEDED(inventory_nic, name, SHAPE_TEXT),
	NEEDED(inventory_nic, kind, SHAPE_TEXT),
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
	END,
};

static const struct shape numa_shape[] = {
	NEEDED(inventory_numa, node, SHAPE_NUMBER),
	TEXT(inventory_numa, cpus),
	NUMBER(inventory_numa, memory),
	TEXT(inventory_numa, distances),
	END,
};

static const struct shape module_shape[] = {
	NEEDED(inventory_module, path, SHAPE_TEXT),
	TEXT(inventory_module, build_id),
	TEXT(inventory_module, missing),
	END,
};

static const struct shape library_shape[] = {
	NEEDED(inventory_library, path, SHAPE_TEXT),
	TEXT(inventory_library, build_id),
	TEXT(inventory_library, version),
	TEXT(inventory_library, found_by),
	TEXT(inventory_library, missing),
	LIST(inventory_library, modules, module),
	END,
};

static const struct shape variable_shape[] = {
	NEEDED(inventory_variable, name, SHAPE_TEXT),
	NEEDED(inventory_variable, value, SHAPE_TEXT),
	NEEDED(inventory_variable, from, SHAPE_TEXT),
	END,
};

static const struct shape driver_shape[] = {
	NEEDED(inventory_driver, name, SHAPE_TEXT),
	TEXT(inventory_driver, version),
	TEXT(inventory_driver, device),
	END,
};

static const struct shape user_shape[] = {
	NEEDED(inventory_user, pid, SHAPE_NUMBER),
	TEXT(inventory_user, comm),
	TEXT(inventory_user, device),
	END,
};

static const struct shape reason_shape[] = {
	NEEDED(inventory_reason, what, SHAPE_TEXT),
	NEEDED(inventory_reason, why, SHAPE_TEXT),
	END,
};

static const struct shape cpus_shape[] = {
	TEXT(inventory_cpus, model),
	TEXT(inventory_cpus, online),
	TEXT(inventory_cpus, allowed),
	NUMBER(inventory_cpus, count),
	END,
};

static const struct shape limits_shape[] = {
	NUMBER(inventory_limits, memlock),      NUMBER(inventory_limits, max_memlock),
	NUMBER(inventory_limits, open_files),   NUMBER(inventory_limits, max_open_files),
	NUMBER(inventory_limits, ptrace_scope), TEXT(inventory_limits, user_namespace),
	TEXT(inventory_limits, pid_namespace),  TEXT(inventory_limits, ipc_namespace),
	TEXT(inventory_limits, net_namespace),  NUMBER(inventory_limits, initial_user_namespace),
	NUMBER(inventory_limits, shm_bytes),    END,
};

const struct shape inventory_shape[] = {
	TEXT(inventory, version),
	NEEDED(inventory, host, SHAPE_TEXT),
	NEEDED(inventory, boot_id, SHAPE_TEXT),
	LATER(inventory, kernel_boot_id),
	TEXT(inventory, kernel),
	TEXT(inventory, machine),
	NEEDED(inventory, real_ns, SHAPE_NUMBER),
	NEEDED(inventory, mono_ns, SHAPE_NUMBER),
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
	END,
};

struct inventory *inventory_new(void)
{
	struct inventory *inventory = malloc(sizeof(*inventory));

	if (!inventory)
		abort();
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
	json_t *members = shape_write(inventory_shape, inventory);
	int err;

	json_object_update(object, members);
	json_decref(members);
	errno = 0;
	err = json_dumpf(object, out, JSON_INDENT(1));
	json_decref(object);
	fputc('\n', out);
	if (!err && !fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
