// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory of Intel's GPUs, at Level Zero's loader (ze_api.h 1.0 to 1.15). Arguments as in
 * sites_cuda.c, but: arg_aux = the device's handle, and where devices are listed, the driver's;
 * arg_count = where their number is stored. A device's number is its place in that list.
 */
#include "observe/probe/sites_tables.h"

#define MEM SITE_MEM

static const struct site rows[] = {
	/* (context, description, size, alignment, device, out address) */
	MEM("zeMemAllocDevice", "zeMemAllocDevice", UB_MEM_ALLOC_ON, .arg_obj = 6, .arg_count = 3,
	    .arg_aux = 5),
	/* (context, description, size, alignment, out address) */
	MEM("zeMemAllocHost", "zeMemAllocHost", UB_MEM_ALLOC_HOST, .arg_obj = 5, .arg_count = 3),
	/* (context, description, description, size, alignment, device, out address) */
	MEM("zeMemAllocShared", "zeMemAllocShared", UB_MEM_ALLOC_MANAGED, .arg_obj = 7,
	    .arg_count = 4),
	/* (context, address) */
	MEM("zeMemFree", "zeMemFree", UB_MEM_FREE, .arg_obj = 2),
	/* (context, description, address) */
	MEM("zeMemFreeExt", "zeMemFreeExt", UB_MEM_FREE, .arg_obj = 3),
	/* (driver, out count, out handles) */
	MEM("zeDeviceGet", "zeDeviceGet", UB_MEM_DEVICES, .arg_obj = 3, .arg_count = 2,
	    .arg_aux = 1),
};

const struct site_table sites_ze = {
	rows,
	ARRAY_SIZE(rows),
	.marker = "zeInit",
};
