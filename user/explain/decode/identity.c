// SPDX-License-Identifier: BSD-3-Clause
/*
 * Libraries that call UCP, and the meaning that they give to tags and to ids of active messages.
 * A library is known by names of its functions, or by its file's name where it keeps them to
 * itself. Values alone tell nothing: the same bits mean other things to each of them.
 */
#include <stdio.h>
#include <string.h>

#include "base/library_role.h"
#include "explain/decode/internal.h"

struct bits {
	uint8_t shift, width; /* width 0: the tag has no such field */
};

/* Fields that the tags of a kind have, beside their team. */
#define SENDER 1
#define NUMBER 2 /* of the team's collective operation */

/* Messages whose tag has these bits are of one kind. */
struct tag_kind {
	uint64_t mask, value;
	const char *name; /* NULL: reserved */
	unsigned int fields;
};

#define MAX_KINDS 8
#define MAX_NAMES 18

struct caller_library {
	const char *name, *role;
	const char
		*functions[MAX_NAMES]; /* in C++ without parameters; "ucc_*": all that begin so */
	const char *files[MAX_NAMES]; /* library_stem() */
	struct bits team, scope, scope_id, sender, number;
	struct tag_kind kinds[MAX_KINDS]; /* of tags; the first that fits */
	const char *actives[MAX_KINDS]; /* by id of active messages */
	bool below_mpi; /* an MPI library may call UCP through it */
	bool by_connection; /* each connection has a tag of its own */
};

enum { UCC };

static const struct caller_library libraries[] = {
	[UCC] = {
		/* src/components/tl/ucp/tl_ucp_tag.h, the same in 1.1 to 1.9 */
		.name = "UCC",
		.role = "ucc",
		.functions = { "ucc_tl_ucp_*" },
		.files = { "libucc_tl_ucp" },
		.team = { 0, 16 },
		.sender = { 16, 24 },
		.scope_id = { 40, 3 },
		.scope = { 43, 3 },
		.number = { 46, 15 },
		.kinds = {
			{ 1ull << 61, 1ull << 61, "user's tag", SENDER },
			{ 0x7fffull << 46, 0x7ff8ull << 46, "service", SENDER },
			{ 0x7fffull << 46, 0x7ff9ull << 46, "active set", SENDER },
			{ 0x7ff8ull << 46, 0x7ff8ull << 46 },
			{ 0, 0, "collective", SENDER | NUMBER },
		},
	},
	{
		/*
		 * src/arch/ucx/machine.C of 7.0 to 8.0: host memory's messages name no PE. The
		 * functions that send are part of those of src/arch/util/machine-broadcast.C, too.
		 */
		.name = "Charm++",
		.role = "charm",
		.functions = { "LrtsInit", "LrtsExit", "LrtsSendFunc", "LrtsAdvanceCommunication",
			       "LrtsIssueRget", "LrtsIssueRput", "LrtsSendDevice", "LrtsRecvDevice",
			       "LrtsInvokeRemoteDeregAckHandler", "UcxSendMsg", "UcxRmaOp",
			       "UcxRxReqCompleted", "UcxPrepostRxBuffers", "CmiFreeSendFn",
			       "CmiInterFreeSendFn", "CmiFreeNodeSendFn", "SendSpanningChildren",
			       "SendHyperCube" },
		.sender = { 4, 31 }, /* of 32 bits: PEs are not negative */
		.kinds = {
			{ 0xff, 0x01, "eager" },
			{ 0x0f, 0x02, "large" },
			{ 0x0f, 0x04, "device", SENDER },
			{ 0xff, 0x21, "get" },
			{ 0xff, 0x41, "register and send back" },
			{ 0xff, 0x81, "deregister and acknowledge" },
		},
	},
	{
		/* lib/pscom4ucp/psucp.c: a tag is the receiver's address of the connection */
		.name = "pscom",
		.role = "pscom",
		.functions = { "psucp_*", "pscom_ucp_*" },
		.files = { "libpscom4ucp" },
		.below_mpi = true,
		.by_connection = true,
	},
	{
		/* tags are of the program, or hashes that Python's layer made of its own */
		.name = "ucxx",
		.role = "ucxx",
		.functions = { "ucxx::*" },
		.files = { "libucxx" },
	},
	{
		.name = "UCX-Py",
		.role = "ucx_py",
		.functions = { "__pyx_f_3ucp_*", "__pyx_pw_3ucp_*", "__pyx_pf_3ucp_*" },
		.files = { "ucx_api" },
	},
	{
		.name = "NIXL",
		.role = "nixl",
		.functions = { "nixlUcx*" },
		.files = { "libplugin_UCX" },
	},
	{
		/* runtime/realm/ucx/ucp_internal.h */
		.name = "Realm",
		.role = "realm",
		.functions = { "Realm::UCP::*" },
		.actives = { [1] = "message", [2] = "message with put", [3] = "reply" },
	},
	{
		/* src/modules/transport/ucx/ucx.cpp */
		.name = "NVSHMEM",
		.role = "nvshmem",
		.functions = { "nvshmemt_ucx_*" },
		.files = { "nvshmem_transport_ucx" },
		.actives = { [0] = "atomic", [1] = "answer to an atomic" },
	},
	{
		.name = "OpenSHMEM",
		.role = "shmem",
		.functions = { "mca_spml_ucx_*", "mca_atomic_ucx_*" },
		.files = { "mca_spml_ucx", "mca_atomic_ucx", "liboshmem" },
		.below_mpi = true,
	},
	{
		/* prov/ucx: tags are of its own callers */
		.name = "libfabric",
		.role = "libfabric",
		.files = { "libfabric" },
		.below_mpi = true,
	},
};

/* A compiler appends ".part.0" and its like to functions that it makes of one. */
static size_t name_length(const char *function)
{
	return strcspn(function, ".");
}

static bool is_one_of(const char *function, const char *const *names)
{
	for (size_t i = 0; i < MAX_NAMES && names[i]; i++) {
		const size_t length = strcspn(names[i], "*");

		if (!strncmp(function, names[i], length) &&
		    (names[i][length] || name_length(function) == length))
			return true;
	}
	return false;
}

static bool is_file(const char *path, const char *const *stems)
{
	const char *file = basename(path);
	const size_t length = library_stem(file);

	for (size_t i = 0; i < MAX_NAMES && stems[i]; i++)
		if (!strncmp(file, stems[i], length) && !stems[i][length])
			return true;
	return false;
}

static const struct caller_library *calling_library(const struct place *place)
{
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		if (place->symbol && is_one_of(place->frame, libraries[i].functions))
			return &libraries[i];
		if (place->module && is_file(place->module, libraries[i].files))
			return &libraries[i];
	}
	return NULL;
}

/* The name in the process's description may be older than its last exec. */
static bool in_program(const struct process *process, const struct place *place)
{
	return place->sort == FILE_PROGRAM || decoder_is_program(process, place->module);
}

static const char *role_of(const struct process *process, const struct place *place)
{
	const char *role = decoder_role(process, place->module);

	if (in_program(process, place))
		return "program";
	return role || (place->sort == FILE_UNKNOWN && !process->exe) ? role : "other";
}

/* One linked into the program is itself, as Charm++ is; an MPI in there is not told apart. */
void name_caller(const struct process *process, struct place *place)
{
	const struct caller_library *library = calling_library(place);

	if (library) {
		place->library = library->name;
		place->role = library->role;
	} else if (place->module) {
		place->role = role_of(process, place);
	}
}

static const struct caller_library *library_of(const struct place *caller)
{
	const struct caller_library *library = libraries;

	if (!caller || !caller->library)
		return NULL;
	while (library->name != caller->library)
		library++;
	return library;
}

bool decoder_beyond_mpi(const struct process *process, const struct place *caller)
{
	const struct caller_library *library = library_of(caller);

	if (!caller || decoder_in_mpi(process, caller->address))
		return false;
	if (library == &libraries[UCC])
		return !process->mpi_calls_ucc;
	if (library)
		return !library->below_mpi;
	return in_program(process, caller);
}

static uint64_t field(uint64_t tag, struct bits bits)
{
	return tag >> bits.shift & ((1ull << bits.width) - 1);
}

/* The ranks of a scope are counted apart. */
static const char *team_name(struct decoder *decoder, const struct caller_library *library,
			     uint64_t tag)
{
	const uint64_t team = field(tag, library->team);
	const uint64_t scope = field(tag, library->scope), id = field(tag, library->scope_id);
	uint64_t *name = map_insert(&decoder->teams, (uintptr_t)library,
				    team | scope << 32 | id << 40, NULL);
	char text[64];

	if (!*name) {
		snprintf(text, sizeof(text), scope || id ? "%s team %u, scope %u.%u" : "%s team %u",
			 library->name, (unsigned)team, (unsigned)scope, (unsigned)id);
		*name = (uintptr_t)strings_intern(&decoder->strings, text);
	}
	return (const char *)(uintptr_t)*name;
}

static const struct tag_kind *kind_of(const struct caller_library *library, uint64_t tag)
{
	const struct tag_kind *kind = library->kinds;

	for (; kind < library->kinds + MAX_KINDS && (kind->name || kind->mask); kind++)
		if ((tag & kind->mask) == kind->value)
			return kind;
	return NULL;
}

/* Only if MPI itself called UCP: libfabric changes the tags. */
static bool is_mpi(const struct process *process, const struct place *caller)
{
	return (process->open_mpi || process->mpich) && caller->role &&
	       (library_role_by_name(caller->role) & (LIB_MPI | LIB_MPI_PLUGIN));
}

enum tag_senders decoder_tag_senders(const struct process *process, const struct place *caller,
				     uint64_t tag)
{
	const struct caller_library *library = library_of(caller);
	const struct tag_kind *kind = library ? kind_of(library, tag) : NULL;

	if (library)
		return library->by_connection || (kind && kind->fields & SENDER)
			       ? TAG_OF_ONE_AT_A_TIME
			       : TAG_OF_ANY;
	if (!caller || !is_mpi(process, caller))
		return TAG_OF_ANY;
	/* MPI_COMM_WORLD exists from start to end */
	return decoder_tag(process, tag, UINT64_MAX).of_world ? TAG_OF_ONE : TAG_OF_ONE_AT_A_TIME;
}

static void name_tag(struct decoder *decoder, const struct caller_library *library, uint64_t tag,
		     struct identity *identity)
{
	const struct tag_kind *kind = kind_of(library, tag);

	if (!kind)
		return;
	identity->kind = kind->name;
	if (library->team.width)
		identity->team = team_name(decoder, library, tag);
	if (kind->fields & SENDER)
		identity->sender = (int)field(tag, library->sender);
	if (kind->fields & NUMBER)
		identity->number = (int)field(tag, library->number);
}

struct identity decoder_identity(struct decoder *decoder, const struct place *caller,
				 const char *op, uint64_t tag)
{
	struct identity identity = { .sender = -1, .number = -1 };
	const struct caller_library *library = library_of(caller);

	if (!library)
		return identity;
	identity.library = library->name;
	if (!strncmp(op, "tag_", 4))
		name_tag(decoder, library, tag, &identity);
	else if (!strncmp(op, "am_", 3) && tag < MAX_KINDS)
		identity.kind = library->actives[tag];
	return identity;
}

/* A name comes before any shorter one that it begins with. */
static const char *const ucc_collectives[] = {
	"allgatherv",     "allgather", "allreduce", "alltoallv", "alltoall", "barrier",
	"bcast",          "fanin",     "fanout",    "gatherv",   "gather",   "reduce_scatterv",
	"reduce_scatter", "reduce",    "scatterv",  "scatter",
};

/* "knomial_progress" and "knomial_start" -> "knomial"; "sra_knomial" -> "sra knomial". */
static const char *algorithm_of(struct decoder *decoder, const char *rest)
{
	char text[64];
	const char *const ends[] = { "_progress", "_start" };
	size_t length = name_length(rest);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const size_t end = strlen(ends[i]);

		if (length > end && !strncmp(rest + length - end, ends[i], end))
			length -= end;
	}
	if (!length || length >= sizeof(text))
		return NULL;
	for (size_t i = 0; i < length; i++)
		text[i] = rest[i] == '_' ? ' ' : rest[i];
	text[length] = '\0';
	return strings_intern(&decoder->strings, text);
}

struct named_collective decoder_collective(struct decoder *decoder, const struct place *caller)
{
	static const char prefix[] = "ucc_tl_ucp_";
	struct named_collective named = { 0 };
	const char *name;
	char text[64];

	if (!caller->symbol || strncmp(caller->symbol, prefix, sizeof(prefix) - 1))
		return named;
	name = caller->symbol + sizeof(prefix) - 1;
	for (size_t i = 0; i < ARRAY_SIZE(ucc_collectives); i++) {
		const size_t length = strlen(ucc_collectives[i]);

		if (strncmp(name, ucc_collectives[i], length) || name[length] != '_')
			continue;
		snprintf(text, sizeof(text), "UCC %s", ucc_collectives[i]);
		named.function = strings_intern(&decoder->strings, text);
		named.algorithm = algorithm_of(decoder, name + length + 1);
		named.sized = ucc_collectives[i][length - 1] == 'v';
		break;
	}
	return named;
}
