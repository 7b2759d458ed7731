// SPDX-License-Identifier: BSD-3-Clause
/* UCX's table of system devices. */
#include <Zydis/Zydis.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "observe/process/proc_file.h"
#include "observe/process/ucx_memory_private.h"

#define CODE_MAX 256

/* Of the first instruction that reads 32 bits at a place given from its own address; 0: none. */
static uint64_t first_read(const uint8_t *code, size_t size, uint64_t vaddr)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;
	uint64_t target;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < size; at += insn.length) {
		if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code + at, size - at, &insn,
						       operands)))
			return 0;
		for (int i = 0; i < insn.operand_count_visible; i++)
			if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			    operands[i].mem.type == ZYDIS_MEMOP_TYPE_MEM &&
			    operands[i].mem.base == ZYDIS_REGISTER_RIP && operands[i].size == 32 &&
			    ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&insn, &operands[i], vaddr + at,
								  &target)))
				return target;
	}
	return 0;
}

int ucx_devices_find(const struct elf *elf, uint64_t *vaddr)
{
	uint8_t code[CODE_MAX];
	uint64_t offset, size, function;
	long got;

	*vaddr = 0;
	if (elf_machine(elf) != EM_X86_64 ||
	    elf_function(elf, "ucs_topo_get_device_bus_id", &offset, &size) ||
	    elf_offset_to_vaddr(elf, offset, &function))
		return -ENOENT;
	got = elf_read(elf, offset, code, size && size < sizeof(code) ? size : sizeof(code));
	if (got > 0)
		*vaddr = first_read(code, (size_t)got, function);
	return *vaddr ? 0 : -ENOENT;
}

/* ucs_topo_sys_device_info_t: { ucs_sys_bus_id_t bus_id; char *name; ... } */
#define TABLE 256 /* UCS_TOPO_MAX_SYS_DEVICES */
#define NAME 8
#define STRIDE_MIN 16 /* UCX 1.13; 24 from 1.14, more from 1.19 on */
#define STRIDE_MAX 64
#define STRIDE_STEP 8

/* ucs_sys_bus_id_t */
struct bus_id {
	uint16_t domain;
	uint8_t bus, slot, function;
};

static bool read_name(pid_t pid, uint64_t address, char *name, size_t size)
{
	long got = proc_read_memory(pid, address, name, size - 1);
	size_t length;

	if (got <= 0)
		return false;
	name[got] = '\0';
	length = strlen(name);
	for (size_t i = 0; i < length; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	return length && length < (size_t)got;
}

static bool read_device(pid_t pid, const uint8_t *entry, struct ucx_device *device)
{
	struct bus_id bus;
	uint64_t name;

	memcpy(&bus, entry, sizeof(bus));
	memcpy(&name, entry + NAME, sizeof(name));
	if (bus.slot > 31 || bus.function > 7 || !name ||
	    !read_name(pid, name, device->name, sizeof(device->name)))
		return false;
	snprintf(device->pci, sizeof(device->pci), "%04x:%02x:%02x.%x", bus.domain, bus.bus,
		 bus.slot, bus.function & 7);
	return true;
}

static bool read_table(struct ucx_memory *memory, const struct ucx_place *place, uint32_t count,
		       size_t stride)
{
	uint8_t table[TABLE * STRIDE_MAX];
	size_t size = count * stride;

	memory->devices.len = 0;
	if (proc_read_memory(place->pid, place->devices - TABLE * stride, table, size) !=
	    (long)size)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!read_device(place->pid, table + i * stride, vec_add(&memory->devices))) {
			memory->devices.len = 0;
			return false;
		}
	return true;
}

void ucx_devices_read(struct ucx_memory *memory, const struct ucx_place *place)
{
	uint32_t count = 0;

	if (!place->devices ||
	    proc_read_memory(place->pid, place->devices, &count, sizeof(count)) != sizeof(count)) {
		memory->reason = "UCX's table of devices was not found";
		return;
	}
	if (!count)
		return;
	for (size_t stride = STRIDE_MIN; count <= TABLE && stride <= STRIDE_MAX;
	     stride += STRIDE_STEP)
		if (read_table(memory, place, count, stride))
			return;
	memory->reason = "UCX's table of devices is not as expected";
}
