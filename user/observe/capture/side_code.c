// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/side_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "observe/capture/side.h"

static json_t *hex(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%#" PRIx64, value);
	return json_string(text);
}

/* Names in files may hold any bytes, JSON must be UTF-8. */
static void set_text(json_t *record, const char *key, const char *text)
{
	json_t *string = text && *text ? json_string(text) : NULL;

	if (string)
		json_object_set_new(record, key, string);
	else if (text && *text)
		json_object_set_new(record, key, json_string("?"));
}

json_t *side_module(const struct code_file *file)
{
	json_t *record = json_pack("{s:s, s:i}", "t", "module", "id", file->number);

	set_text(record, "path", file->path);
	set_text(record, "build_id", file->elf ? elf_build_id(file->elf) : NULL);
	set_text(record, "unreadable", file->error ? strerror(-file->error) : NULL);
	return record;
}

static json_t *address_record(pid_t tgid, uint64_t address)
{
	return json_pack("{s:s, s:i, s:o, s:I}", "t", "address", "tgid", (int)tgid, "address",
			 hex(address), "ts", (json_int_t)side_now());
}

json_t *side_address(pid_t tgid, uint64_t address, int module, uint64_t offset)
{
	json_t *record = address_record(tgid, address);

	json_object_set_new(record, "module", json_integer(module));
	json_object_set_new(record, "offset", hex(offset));
	return record;
}

json_t *side_unplaced(pid_t tgid, uint64_t address, const char *reason)
{
	json_t *record = address_record(tgid, address);

	set_text(record, "reason", reason);
	return record;
}

json_t *side_symbol(int module, uint64_t offset, const struct symbol *symbol)
{
	json_t *record = json_pack("{s:s, s:i, s:o}", "t", "symbol", "module", module, "offset",
				   hex(offset));

	set_text(record, "symbol", symbol->name);
	if (symbol->name)
		json_object_set_new(record, "symbol_offset", json_integer(symbol->offset));
	set_text(record, "file", symbol->file);
	if (symbol->file)
		json_object_set_new(record, "line", json_integer(symbol->line));
	return record;
}
