// SPDX-License-Identifier: BSD-3-Clause
#include <elf.h>
#include <errno.h>

#include "observe/probe/place_arch.h"

#define ALL_ARGUMENTS (~0u)

struct placement place_probe(int machine, const uint8_t *code, size_t size, int needs_return)
{
	return place_probe_reading(machine, code, size, needs_return, ALL_ARGUMENTS);
}

struct placement place_probe_reading(int machine, const uint8_t *code, size_t size,
				     int needs_return, unsigned int arguments)
{
	static const struct placement refused = { .class = PLACE_REFUSED };

	switch (machine) {
	case EM_X86_64:
		return place_x86_64(code, size, needs_return, arguments);
	case EM_AARCH64:
		return place_arm64(code, size, needs_return);
	}
	return refused;
}

int place_body(struct body *body, int machine, const uint8_t *code, size_t size,
	       unsigned int arguments)
{
	return machine == EM_X86_64 ? place_body_x86_64(body, code, size, arguments) : -EOPNOTSUPP;
}
