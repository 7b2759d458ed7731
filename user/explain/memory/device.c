// SPDX-License-Identifier: BSD-3-Clause
/* Devices behind the handles of GPU libraries. */
#include "explain/memory/internal.h"

/* In one word of a map: the number above, the reason below. */
void device_learn(struct map *map, uint64_t handle, struct known_device device)
{
	*map_insert(map, handle, 0, NULL) = (uint64_t)(uint32_t)device.number << 32 | device.why;
}

struct known_device device_of(const struct map *map, uint64_t handle, enum why missing)
{
	const uint64_t *packed = map_find(map, handle, 0);

	if (!packed)
		return (struct known_device){ -1, missing };
	return (struct known_device){ (int32_t)(*packed >> 32), (enum why)(uint32_t)*packed };
}

struct known_device device_told(const struct ub_mem *record, enum why missing)
{
	return record->device == UB_DEVICE_NOT_TOLD
		       ? (struct known_device){ -1, missing }
		       : (struct known_device){ record->device, WHY_KNOWN };
}
