// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/otf2.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/vec.h"

/* Memory per location before it is flushed to its file: the minimum that OTF2 accepts. */
#define EVENT_BYTES OTF2_CHUNK_SIZE_MIN

/* The error is printed once, by the caller of the export. */
static OTF2_ErrorCode on_error(void *arg, const char *file, uint64_t line, const char *function,
			       OTF2_ErrorCode code, const char *format, va_list args)
{
	struct otf2_out *out = arg;

	(void)file;
	(void)line;
	(void)function;
	if (!out->err)
		vsnprintf(out->why, sizeof(out->why), format, args);
	otf2_check(out, code);
	return code;
}

static OTF2_FlushType flush(void *arg, OTF2_FileType type, OTF2_LocationRef location, void *caller,
			    bool final)
{
	(void)arg;
	(void)type;
	(void)location;
	(void)caller;
	(void) final;
	return OTF2_FLUSH;
}

static const OTF2_FlushCallbacks flushing = { flush, NULL };

/* OTF2 uses the names of errno with its own numbers. */
static int errno_of(OTF2_ErrorCode code)
{
	static const struct {
		OTF2_ErrorCode code;
		int err;
	} codes[] = {
		{ OTF2_ERROR_ENOSPC, ENOSPC }, { OTF2_ERROR_EDQUOT, EDQUOT },
		{ OTF2_ERROR_EFBIG, EFBIG },   { OTF2_ERROR_EMFILE, EMFILE },
		{ OTF2_ERROR_EACCES, EACCES }, { OTF2_ERROR_ENOMEM, ENOMEM },
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i].code == code)
			return codes[i].err;
	return EIO;
}

void otf2_check(struct otf2_out *out, OTF2_ErrorCode code)
{
	if (code == OTF2_SUCCESS || out->err)
		return;
	out->err = -errno_of(code);
	if (!*out->why)
		snprintf(out->why, sizeof(out->why), "%s", OTF2_Error_GetDescription(code));
}

int otf2_open(struct otf2_out *out, const char *directory)
{
	out->before = OTF2_Error_RegisterCallback(on_error, out);
	out->archive = OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, EVENT_BYTES,
					 OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX,
					 OTF2_COMPRESSION_NONE);
	if (!out->archive)
		return out->err ? out->err : -EIO;
	otf2_check(out, OTF2_Archive_SetFlushCallbacks(out->archive, &flushing, NULL));
	otf2_check(out, OTF2_Archive_SetSerialCollectiveCallbacks(out->archive));
	otf2_check(out, OTF2_Archive_SetCreator(out->archive, "ucxbpf"));
	otf2_check(out, OTF2_Archive_OpenEvtFiles(out->archive));
	out->defs = OTF2_Archive_GetGlobalDefWriter(out->archive);
	out->attributes = OTF2_AttributeList_New();
	if (!out->err && (!out->defs || !out->attributes))
		out->err = -ENOMEM;
	return out->err;
}

int otf2_close(struct otf2_out *out)
{
	OTF2_AttributeList_Delete(out->attributes);
	out->attributes = NULL;
	otf2_check(out, OTF2_Archive_Close(out->archive));
	out->archive = NULL;
	return out->err;
}

void otf2_release(struct otf2_out *out)
{
	if (out->attributes)
		OTF2_AttributeList_Delete(out->attributes);
	if (out->archive)
		OTF2_Archive_Close(out->archive);
	if (out->before)
		OTF2_Error_RegisterCallback(out->before, NULL);
	map_release(&out->strings);
	map_release(&out->regions);
	vec_release(&out->locations);
	vec_release(&out->groups);
	for (size_t i = 0; i < out->texts.len; i++)
		free(out->texts.data[i]);
	vec_release(&out->texts);
}

OTF2_StringRef otf2_word(struct otf2_out *out, const char *word)
{
	bool fresh;
	uint64_t *number = map_insert(&out->strings, (uintptr_t)word, 0, &fresh);
	char *harmless;

	if (!fresh)
		return (OTF2_StringRef)*number;
	*number = out->strings.used - 1;
	harmless = text_plain(word);
	otf2_check(out,
		   OTF2_GlobalDefWriter_WriteString(out->defs, (OTF2_StringRef)*number, harmless));
	free(harmless);
	return (OTF2_StringRef)*number;
}

static const char *keep(struct otf2_out *out, const char *format, va_list args)
{
	char *text = xvasprintf(format, args);

	vec_push(&out->texts, text);
	return text;
}

const char *otf2_keep(struct otf2_out *out, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = keep(out, format, args);
	va_end(args);
	return text;
}

OTF2_StringRef otf2_text(struct otf2_out *out, const char *format, ...)
{
	OTF2_StringRef word;
	va_list args;

	va_start(args, format);
	word = otf2_word(out, keep(out, format, args));
	va_end(args);
	return word;
}

/* The first path component. */
static OTF2_RegionRole mpi_role(const char *name)
{
	static const struct {
		const char *part;
		OTF2_RegionRole role;
	} roles[] = {
		{ "arrier", OTF2_REGION_ROLE_BARRIER },
		{ "llreduce", OTF2_REGION_ROLE_COLL_ALL2ALL },
		{ "llgather", OTF2_REGION_ROLE_COLL_ALL2ALL },
		{ "lltoall", OTF2_REGION_ROLE_COLL_ALL2ALL },
		{ "educe_scatter", OTF2_REGION_ROLE_COLL_ALL2ALL },
		{ "educe", OTF2_REGION_ROLE_COLL_ALL2ONE },
		{ "ather", OTF2_REGION_ROLE_COLL_ALL2ONE },
		{ "cast", OTF2_REGION_ROLE_COLL_ONE2ALL },
		{ "catter", OTF2_REGION_ROLE_COLL_ONE2ALL },
		{ "send", OTF2_REGION_ROLE_POINT2POINT },
		{ "Send", OTF2_REGION_ROLE_POINT2POINT },
		{ "recv", OTF2_REGION_ROLE_POINT2POINT },
		{ "Recv", OTF2_REGION_ROLE_POINT2POINT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (strstr(name, roles[i].part))
			return roles[i].role;
	return OTF2_REGION_ROLE_FUNCTION;
}

static OTF2_RegionRef define_region(struct otf2_out *out, OTF2_StringRef name, const char *kind,
				    OTF2_RegionRole role, OTF2_Paradigm paradigm)
{
	OTF2_RegionRef region = out->last_region++;

	otf2_check(out, OTF2_GlobalDefWriter_WriteRegion(
				out->defs, region, name, name, otf2_word(out, kind), role, paradigm,
				OTF2_REGION_FLAG_NONE, otf2_word(out, ""), 0, 0));
	return region;
}

OTF2_RegionRef otf2_own_region(struct otf2_out *out, OTF2_StringRef name)
{
	return define_region(out, name, "ucxbpf", OTF2_REGION_ROLE_ARTIFICIAL,
			     OTF2_PARADIGM_MEASUREMENT_SYSTEM);
}

OTF2_RegionRef otf2_region(struct otf2_out *out, const char *name, enum level layer, bool sums)
{
	bool fresh;
	uint64_t *number =
		map_insert(&out->regions, (uintptr_t)name, (uint64_t)layer << 1 | sums, &fresh);
	const char *kind = level_titles[layer];
	OTF2_RegionRole role = OTF2_REGION_ROLE_DATA_TRANSFER;
	OTF2_Paradigm paradigm = OTF2_PARADIGM_UNKNOWN;

	if (!fresh)
		return (OTF2_RegionRef)*number;
	if (!name)
		name = "unknown";
	if (layer == LEVEL_MPI) {
		role = mpi_role(name);
		paradigm = OTF2_PARADIGM_MPI;
	}
	if (sums)
		*number = define_region(out, otf2_text(out, "%s (sums)", name), kind,
					OTF2_REGION_ROLE_ARTIFICIAL, paradigm);
	else
		*number = define_region(out, otf2_word(out, name), kind, role, paradigm);
	return (OTF2_RegionRef)*number;
}

OTF2_RegionRef otf2_program(struct otf2_out *out, const char *name)
{
	bool fresh;
	uint64_t *number = map_insert(&out->regions, (uintptr_t)name, LEVELS << 1, &fresh);

	if (fresh)
		*number = define_region(out, otf2_word(out, name ? name : "unknown"), "program",
					OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER);
	return (OTF2_RegionRef)*number;
}

OTF2_LocationGroupRef otf2_host_group(struct otf2 *otf2, OTF2_StringRef name, int host)
{
	struct otf2_out *out = &otf2->out;
	OTF2_LocationGroupRef group = (OTF2_LocationGroupRef)out->groups.len;
	OTF2_SystemTreeNodeRef node =
		host < 0 ? 0 : otf2->placing.host_turns.data[host] + 1; /* 0: all hosts */

	vec_push(&out->groups, 0);
	otf2_check(out, OTF2_GlobalDefWriter_WriteLocationGroup(
				out->defs, group, name, OTF2_LOCATION_GROUP_TYPE_PROCESS, node,
				OTF2_UNDEFINED_LOCATION_GROUP));
	return group;
}

OTF2_LocationGroupRef otf2_group(struct otf2 *otf2, int process)
{
	if (process >= 0)
		return (OTF2_LocationGroupRef)otf2->placing.process_turns.data[process];
	if (!otf2->nobody)
		otf2->nobody =
			otf2_host_group(otf2, otf2_word(&otf2->out, "process not known"), -1) + 1;
	return otf2->nobody - 1;
}

OTF2_LocationRef otf2_next_location(struct otf2_out *out, OTF2_LocationGroupRef group)
{
	return (OTF2_LocationRef)++out->groups.data[group] << 32 | group;
}

static int by_group(const void *left, const void *right)
{
	const struct otf2_location *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

void otf2_define_locations(struct otf2_out *out)
{
	if (out->locations.len)
		qsort(out->locations.data, out->locations.len, sizeof(*out->locations.data),
		      by_group);
	for (size_t i = 0; i < out->locations.len; i++) {
		const struct otf2_location *location = &out->locations.data[i];

		otf2_check(out, OTF2_GlobalDefWriter_WriteLocation(
					out->defs, location->id, location->name,
					OTF2_LOCATION_TYPE_CPU_THREAD, location->events,
					location->group));
	}
}
