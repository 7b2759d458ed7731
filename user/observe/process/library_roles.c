// SPDX-License-Identifier: BSD-3-Clause
/* The roles of a library, by its symbols, and the runtimes of user-level threads. */
#include "observe/process/library.h"

#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "observe/process/elf_private.h"

/* libmpi needs libopen-rte, which needs libopen-pal, which needs the runtime. */
#define MAX_DEPTH 3

static const struct {
	const char *name;
	const char *symbol; /* public functions that every program on it calls */
	const char *file; /* how the name of its library begins */
} runtimes[] = {
	{ "Argobots", "ABT_init", "libabt.so" },
	{ "Qthreads", "qthread_initialize", "libqthread.so" },
	{ "MassiveThreads", "myth_yield", "libmyth.so" },
	{ "Charm++", "CthYield", "libconv-core" },
};

/* Whether a function of this name belongs to such a runtime; it is asked for every symbol. */
static bool user_threads_symbol(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (runtimes[i].symbol[0] == name[0] && !strcmp(runtimes[i].symbol, name))
			return true;
	return false;
}

static int find_symbol(void *arg, const struct elf_symbol *symbol)
{
	uint32_t *found = arg;

	for (uint32_t i = 0; i < ARRAY_SIZE(runtimes) && symbol->defined; i++)
		if (!strcmp(runtimes[i].symbol, symbol->name))
			*found = i;
	return *found < ARRAY_SIZE(runtimes);
}

/* Linked in statically, it is seldom exported. */
static long find_runtime(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	uint32_t found = UINT32_MAX;

	(void)arguments;
	(void)size;
	if (!elf_each_symbol(elf, true, find_symbol, &found))
		elf_each_symbol(elf, false, find_symbol, &found);
	answer_add(answer, &found, sizeof(found));
	return 0;
}

static const char *contained(const struct elf *elf)
{
	uint32_t found;

	if (elf_ask_for(elf, find_runtime, NULL, 0, &found, sizeof(found)) ||
	    found >= ARRAY_SIZE(runtimes))
		return NULL;
	return runtimes[found].name;
}

static const char *by_file(const char *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (!strncmp(file, runtimes[i].file, strlen(runtimes[i].file)))
			return runtimes[i].name;
	return NULL;
}

static const char *needed(const struct elf *elf, const char *folder, int length, int depth)
{
	const char *file, *found = NULL;

	for (unsigned int i = 0; !found && (file = elf_needed(elf, i)); i++)
		found = by_file(file);
	for (unsigned int i = 0; !found && depth && (file = elf_needed(elf, i)); i++) {
		char path[4096];
		struct elf *other;

		snprintf(path, sizeof(path), "%.*s/%s", length, folder, file);
		if (elf_load(&other, path))
			continue;
		found = needed(other, folder, length, depth - 1);
		elf_free(other);
	}
	return found;
}

const char *user_threads_of(const struct library *library)
{
	const char *slash = strrchr(library->path, '/');
	const char *found = contained(library->elf);

	return found ? found
		     : needed(library->elf, library->path, slash ? (int)(slash - library->path) : 0,
			      slash ? MAX_DEPTH : 0);
}

const char *user_threads_mapped(const mapped_libraries *mapped)
{
	for (size_t i = 0; i < mapped->len; i++)
		if (mapped->data[i].library->roles & LIB_USER_THREADS)
			return contained(mapped->data[i].library->elf);
	return NULL;
}

/* The findings about a symbol table. */
enum sign {
	DEFINES_PMPI = 1 << 0,
	DEFINES_MPI = 1 << 1,
	IMPORTS_PMPI = 1 << 2,
	DEFINES_UCP = 1 << 3,
	DEFINES_UCT = 1 << 4,
	DEFINES_UCT_EP = 1 << 5,
	IMPORTS_UCT = 1 << 6,
	DEFINES_PML = 1 << 7,
	DEFINES_CUDA = 1 << 8,
	DEFINES_USER_THREADS = 1 << 9,
	DEFINES_ROCM = 1 << 10,
	DEFINES_ZE = 1 << 11,
	DEFINES_UCS = 1 << 12,
	DEFINES_SHMEM = 1 << 13,
	DEFINES_SPML = 1 << 14,
	DEFINES_COLL_UCC = 1 << 15,
	IMPORTS_UCC = 1 << 16,
};

enum match { MATCH_WHOLE, MATCH_PREFIX };

static const struct {
	const char *name;
	enum match match;
	bool defined;
	enum sign sign;
} signs[] = {
	{ "PMPI_Init", MATCH_WHOLE, true, DEFINES_PMPI },
	{ "MPI_Init", MATCH_WHOLE, true, DEFINES_MPI },
	{ "PMPI_Init", MATCH_WHOLE, false, IMPORTS_PMPI },
	{ "ucp_worker_create", MATCH_WHOLE, true, DEFINES_UCP },
	{ "uct_iface_open", MATCH_WHOLE, true, DEFINES_UCT },
	{ "ucs_socket_recv_nb", MATCH_WHOLE, true, DEFINES_UCS },
	{ "uct_component_register", MATCH_WHOLE, false, IMPORTS_UCT },
	{ "uct_base_", MATCH_PREFIX, false, IMPORTS_UCT },
	{ "mca_pml_ucx_", MATCH_PREFIX, true, DEFINES_PML },
	{ "ompi_osc_ucx_", MATCH_PREFIX, true, DEFINES_PML },
	{ "pshmem_init", MATCH_WHOLE, true, DEFINES_SHMEM },
	{ "mca_spml_ucx_", MATCH_PREFIX, true, DEFINES_SPML },
	{ "mca_atomic_ucx_", MATCH_PREFIX, true, DEFINES_SPML },
	{ "mca_scoll_basic_", MATCH_PREFIX, true, DEFINES_SPML },
	{ "mca_scoll_mpi_", MATCH_PREFIX, true, DEFINES_SPML },
	{ "mca_scoll_hcoll_", MATCH_PREFIX, true, DEFINES_SPML },
	{ "mca_coll_ucc_", MATCH_PREFIX, true, DEFINES_COLL_UCC },
	{ "ucc_collective_post", MATCH_WHOLE, false, IMPORTS_UCC },
	{ "cuMemAlloc_v2", MATCH_WHOLE, true, DEFINES_CUDA },
	{ "cudaMalloc", MATCH_WHOLE, true, DEFINES_CUDA },
	{ "hipMalloc", MATCH_WHOLE, true, DEFINES_ROCM },
	{ "hsa_amd_memory_pool_allocate", MATCH_WHOLE, true, DEFINES_ROCM },
	{ "zeMemAllocDevice", MATCH_WHOLE, true, DEFINES_ZE },
};

static bool matches(const char *name, const char *wanted, enum match match)
{
	return match == MATCH_WHOLE ? !strcmp(name, wanted)
				    : !strncmp(name, wanted, strlen(wanted));
}

static int note_signs(void *arg, const struct elf_symbol *symbol)
{
	unsigned int *seen = arg;

	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (signs[i].name[0] == symbol->name[0] && signs[i].defined == symbol->defined &&
		    matches(symbol->name, signs[i].name, signs[i].match))
			*seen |= signs[i].sign;
	if (symbol->defined && symbol->function && !strncmp(symbol->name, "uct_", 4) &&
	    strstr(symbol->name, "_ep_"))
		*seen |= DEFINES_UCT_EP;
	if (symbol->defined && user_threads_symbol(symbol->name))
		*seen |= DEFINES_USER_THREADS;
	return 0;
}

static bool is_module(const struct elf *elf, unsigned int seen)
{
	struct elf_ops_table table;

	if (seen & (DEFINES_UCT | DEFINES_UCP) || !(seen & IMPORTS_UCT))
		return false;
	return seen & DEFINES_UCT_EP || elf_ops_tables(elf, &table, 1) > 0;
}

static const struct {
	enum sign sign;
	enum library_role role;
} role_of[] = {
	{ DEFINES_UCP, LIB_UCP },     { DEFINES_UCT, LIB_UCT },
	{ DEFINES_CUDA, LIB_CUDA },   { DEFINES_PML, LIB_MPI_PLUGIN },
	{ DEFINES_ROCM, LIB_ROCM },   { DEFINES_USER_THREADS, LIB_USER_THREADS },
	{ DEFINES_ZE, LIB_ZE },       { DEFINES_UCS, LIB_UCS },
	{ DEFINES_SHMEM, LIB_SHMEM }, { DEFINES_SPML, LIB_SHMEM_PLUGIN },
};

static uint32_t roles_here(const struct elf *elf)
{
	unsigned int seen = 0;
	uint32_t roles = 0;

	elf_each_symbol(elf, true, note_signs, &seen);
	/* an executable seldom exports the symbols linked into it */
	if (elf_is_executable(elf))
		elf_each_symbol(elf, false, note_signs, &seen);
	/* a profiling tool defines MPI_Init, and calls the MPI library's PMPI_Init */
	if (seen & DEFINES_PMPI || (seen & DEFINES_MPI && !(seen & IMPORTS_PMPI)))
		roles |= LIB_MPI;
	if (seen & IMPORTS_UCC && seen & (DEFINES_PMPI | DEFINES_MPI | DEFINES_COLL_UCC))
		roles |= LIB_MPI_UCC;
	if (is_module(elf, seen))
		roles |= LIB_UCT_MODULE;
	for (size_t i = 0; i < ARRAY_SIZE(role_of); i++)
		if (seen & role_of[i].sign)
			roles |= role_of[i].role;
	return roles;
}

static long find_roles(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	const uint32_t roles = roles_here(elf);

	(void)arguments;
	(void)size;
	answer_add(answer, &roles, sizeof(roles));
	return 0;
}

unsigned int elf_roles(const struct elf *elf)
{
	uint32_t roles;

	if (elf->remote && elf->roles != ROLES_UNKNOWN)
		return elf->roles;
	if (!elf->remote)
		return roles_here(elf);
	if (elf_ask_for(elf, find_roles, NULL, 0, &roles, sizeof(roles)))
		return 0;
	if (!(roles & ~(uint32_t)LIB_ALL))
		return roles;
	elf_refuse(elf);
	return 0;
}

static const struct {
	const char *object, *name;
	enum mpi_kind kind;
} mpi_marks[] = {
	{ "ompi_version_string", "Open MPI", MPI_OPEN_MPI },
	{ "ompi_mpi_comm_world", "Open MPI", MPI_OPEN_MPI },
	{ "MPII_Version_string", "MPICH", MPI_MPICH },
	{ "MPIR_Version_string", "MPICH", MPI_MPICH },
};

static void read_mpi_version(const struct elf *elf, uint64_t vaddr, const char *name, char *version,
			     size_t size)
{
	char text[32] = "";
	uint64_t offset;

	if (elf_vaddr_to_offset(elf, vaddr, &offset) ||
	    elf_read(elf, offset, text, sizeof(text) - 1) <= 0)
		return;
	if (*text >= '0' && *text <= '9')
		snprintf(version, size, "%s %s", name, text);
}

/* A release and nothing else, of MPICH 3 and later: the only one among the texts, or "". */
struct release_text {
	char text[32];
	bool ambiguous;
};

static int find_release(void *arg, const char *text)
{
	struct release_text *release = arg;
	unsigned int numbers[3];
	int length = 0;

	if (sscanf(text, "%1u.%2u.%2u%n", &numbers[0], &numbers[1], &numbers[2], &length) < 3 ||
	    (text[length] && !strchr("abr", text[length])) ||
	    strlen(text) >= sizeof(release->text) || !strcmp(release->text, text))
		return 0;
	release->ambiguous = release->ambiguous || *release->text;
	strcpy(release->text, text);
	return 0;
}

/* Builds that export what mpi.h declares alone keep their version string to themselves. */
static bool is_plain_mpich(const struct elf *elf, char *version, size_t size)
{
	struct release_text release = { 0 };
	uint64_t offset;

	if (elf_function(elf, "MPIR_Dup_fn", &offset, NULL))
		return false;
	for (char first = '3'; first <= '9'; first++)
		elf_each_text(elf, first, find_release, &release);
	snprintf(version, size, "MPICH%s%s", *release.text && !release.ambiguous ? " " : "",
		 release.ambiguous ? "" : release.text);
	return true;
}

struct mpi_found {
	uint32_t kind;
	char version[64];
};

static void find_kind(const struct elf *elf, struct mpi_found *found)
{
	for (size_t i = 0; i < ARRAY_SIZE(mpi_marks); i++) {
		uint64_t vaddr;

		if (elf_object(elf, mpi_marks[i].object, &vaddr, NULL))
			continue;
		read_mpi_version(elf, vaddr, mpi_marks[i].name, found->version,
				 sizeof(found->version));
		found->kind = mpi_marks[i].kind;
		return;
	}
	found->kind =
		is_plain_mpich(elf, found->version, sizeof(found->version)) ? MPI_MPICH : MPI_OTHER;
}

static long find_mpi(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	struct mpi_found found = { 0 };

	(void)arguments;
	(void)size;
	find_kind(elf, &found);
	answer_add(answer, &found, sizeof(found));
	return 0;
}

enum mpi_kind elf_mpi_kind(const struct elf *elf, char *version, size_t size)
{
	struct mpi_found found;

	*version = '\0';
	if (elf_ask_for(elf, find_mpi, NULL, 0, &found, sizeof(found)) || found.kind > MPI_OTHER)
		return MPI_OTHER;
	snprintf(version, size, "%.*s", (int)sizeof(found.version) - 1, found.version);
	return (enum mpi_kind)found.kind;
}
