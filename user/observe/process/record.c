// SPDX-License-Identifier: BSD-3-Clause
#include "base/shape.h"
#include "observe/process/layout.h"
#include "observe/process/process.h"
#include "observe/process/record.h"

void record_text(json_t *record, const char *name, const char *text)
{
	if (text && *text)
		json_object_set_new(record, name, shape_text(text));
}

void record_cut(json_t *words)
{
	while (json_array_size(words) > 1)
		json_array_remove(words, json_array_size(words) - 1);
}

void record_hex(json_t *record, const char *name, uint64_t value)
{
	json_object_set_new(record, name, json_hex(value));
}

void record_integer(json_t *record, const char *name, int64_t value)
{
	json_object_set_new(record, name, json_integer(value));
}

json_t *record_new(const char *type, pid_t tgid, uint64_t ts)
{
	json_t *record = json_object();

	record_text(record, "t", type);
	record_integer(record, "tgid", tgid);
	record_integer(record, "ts", (int64_t)ts);
	return record;
}

static void record_known(json_t *record, const char *name, int value)
{
	if (value >= 0)
		record_integer(record, name, value);
}

json_t *process_side_record(const struct os_process *process, const char *mpi,
			    const char *seen_from, uint64_t ts)
{
	json_t *record = record_new("process", process->pid, ts);

	record_integer(record, "start_time", (int64_t)process->start_time);
	record_integer(record, "ns_pid", process->ns_pid);
	record_integer(record, "pid_ns", (int64_t)process->pid_ns);
	if (process->uid >= 0)
		record_integer(record, "uid", process->uid);
	record_text(record, "comm", process->comm);
	record_text(record, "exe", process->exe);
	json_object_set(record, "cmdline", process->cmdline);
	if (process->environment)
		json_object_set(record, "environment", process->environment);
	if (process->environment_cut)
		record_integer(record, "environment_cut", process->environment_cut);
	record_text(record, "cpus", process->cpus);
	record_text(record, "uts", process->uts);
	record_known(record, "rank", process->rank);
	record_known(record, "size", process->size);
	record_known(record, "local_rank", process->local_rank);
	record_text(record, "rank_from", process->rank_from);
	record_text(record, "job", process->job);
	record_text(record, "batch_job", process->batch_job);
	record_text(record, "step", process->step);
	record_text(record, "mpi", mpi);
	record_text(record, "seen_from", seen_from);
	return record;
}

json_t *library_roles_json(unsigned int roles)
{
	json_t *list = json_array();

	for (size_t i = 0; library_role_names[i].name; i++)
		if (roles & library_role_names[i].role)
			json_array_append_new(list, json_string(library_role_names[i].name));
	return list;
}

static void record_version(json_t *record, const struct library *library)
{
	const unsigned int *version = library->version;
	char text[40];

	if (library->roles & LIB_UCP && (version[0] || version[1] || version[2])) {
		snprintf(text, sizeof(text), "%u.%u.%u", version[0], version[1], version[2]);
		record_text(record, "version", text);
	} else {
		record_text(record, "version", library->mpi_version);
	}
}

json_t *library_side_record(pid_t tgid, const struct mapped_library *mapped,
			    const struct library_probes *probes, uint64_t ts)
{
	const struct library *library = mapped->library;
	const uint64_t comm_world = process_comm_world(tgid, mapped);
	json_t *record = record_new("library", tgid, ts);

	record_text(record, "path", library->path);
	record_text(record, "build_id", elf_build_id(library->elf));
	json_object_set_new(record, "roles", library_roles_json(library->roles));
	record_version(record, library);
	if (library->layout)
		record_text(record, "layout", library->layout->name);
	record_integer(record, "slot", library->layout_slot);
	record_hex(record, "base", mapped->base);
	if (comm_world)
		record_hex(record, "comm_world", comm_world);
	json_object_set_new(record, "size", json_integer(elf_reach(mapped->library->elf)));
	record_integer(record, "probes", probes->probes);
	record_integer(record, "missing", probes->missing);
	record_integer(record, "stepped", probes->stepped);
	record_integer(record, "refused", probes->refused);
	return record;
}
