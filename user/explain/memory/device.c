// SPDX-License-Identifier: BSD-3-Clause
#include "explain/memory/internal.h"

const char *why_text(enum why why)
{
	static const char *const texts[WHYS] = {
		[WHY_NO_CURRENT] = "the thread's current context was not seen",
		[WHY_NO_CONTEXT] = "the current context was not seen made",
		[WHY_NO_STREAM] = "the stream was not seen made",
		[WHY_NO_POOL] = "the pool was not seen made",
		[WHY_NO_PHYSICAL] = "the physical memory was not seen made",
		[WHY_NO_DEVICE] = "the device's number was not seen",
		[WHY_TWO_DRIVERS] = "several drivers have a device of this number",
		[WHY_NOT_TOLD] = "the call did not tell the device",
		[WHY_IMPORTED] = "memory of another process",
		[WHY_NO_EXPORT] = "imported: export not seen",
		[WHY_EXPORTER] = "imported: where its own process has it is not known",
	};

	return texts[why];
}

/* In one word of a map: the number above, the reason below. */
void device_learn(struct map *map, uint64_t handle, struct device device)
{
	*map_insert(map, handle, 0, NULL) = (uint64_t)(uint32_t)device.number << 32 | device.why;
}

struct device device_of(const struct map *map, uint64_t handle, enum why missing)
{
	const uint64_t *packed = map_find(map, handle, 0);

	if (!packed)
		return (struct device){ -1, missing };
	return (struct device){ (int32_t)(*packed >> 32), (enum why)(uint32_t)*packed };
}

struct device device_told(const struct ub_mem *record, enum why missing)
{
	return record->device == UB_DEVICE_NOT_TOLD ? (struct device){ -1, missing }
						    : (struct device){ record->device, WHY_KNOWN };
}
