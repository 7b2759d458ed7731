/* SPDX-License-Identifier: BSD-3-Clause */
/* What a library is, which build of UCX, and which libucp drives it. */
#include "unit/process_stock.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>

#include "base/clock.h"
#include "observe/process/elf.h"
#include "observe/process/layout.h"
#include "observe/process/library.h"

static unsigned int roles_of(const char *name)
{
	struct elf *elf = stock_open(name);
	unsigned int roles = elf_roles(elf);

	elf_free(elf);
	return roles;
}

static void test_roles(void **state)
{
	(void)state;
	assert_int_equal(roles_of("libucp.so.0"), LIB_UCP);
	assert_int_equal(roles_of("libuct.so.0"), LIB_UCT);
	assert_int_equal(roles_of("ucx/libuct_cma.so.0"), LIB_UCT_MODULE);
	assert_int_equal(roles_of("ucx/libuct_ib.so.0"), LIB_UCT_MODULE);
	assert_int_equal(roles_of("libucs.so.0"), LIB_UCS);
	assert_int_equal(roles_of("liboshmem.so.40"), LIB_SHMEM);
	assert_int_equal(roles_of("openmpi/lib/openmpi3/mca_spml_ucx.so"), LIB_SHMEM_PLUGIN);
	assert_int_equal(roles_of("openmpi/lib/openmpi3/mca_atomic_ucx.so"), LIB_SHMEM_PLUGIN);
	assert_int_equal(roles_of("openmpi/lib/openmpi3/mca_scoll_basic.so"), LIB_SHMEM_PLUGIN);
	assert_int_equal(roles_of("openmpi/lib/openmpi3/mca_scoll_mpi.so"), LIB_SHMEM_PLUGIN);
	assert_int_equal(roles_of("libc.so.6"), 0);
}

static void test_mpi(void **state)
{
	struct elf *open_mpi = stock_open("libmpi.so.40"), *mpich = stock_open("libmpich.so.12");
	char version[64];

	(void)state;
	assert_int_equal(elf_roles(open_mpi), LIB_MPI);
	assert_int_equal(elf_mpi_kind(open_mpi, version, sizeof(version)), MPI_OPEN_MPI);
	assert_int_equal(strncmp(version, "Open MPI 4.1.", 13), 0);
	assert_int_equal(elf_roles(mpich), LIB_MPI);
	assert_int_equal(elf_mpi_kind(mpich, version, sizeof(version)), MPI_MPICH);
	assert_int_equal(strncmp(version, "MPICH 4.", 8), 0);
	elf_free(open_mpi);
	elf_free(mpich);
}

static void test_build_of_libucp(void **state)
{
	struct elf *elf = stock_open("libucp.so.0");
	unsigned int version[3];

	(void)state;
	assert_int_equal(ucx_version(elf, version), 0);
	assert_int_equal(version[0], 1);
	if (stock_is(elf, DEBIAN_UCP)) {
		assert_int_equal(version[1], 13);
		assert_int_equal(version[2], 1);
		assert_int_equal(ucx_request_size(elf), 272);
		assert_int_equal(ucx_asserts(elf), UCX_ASSERTS_IN);
		assert_string_equal(layout_find(version, 272, UCX_ASSERTS_IN)->name,
				    "1.13.1-assert");
	}
	elf_free(elf);
}

/* As UCX's, with and without what asserts. */
#define CHECK_STATUS(asserted)                                                                     \
	"void die(void) __attribute__((noreturn, cold));"                                          \
	"int ucp_request_check_status(char *r) {"                                                  \
	"if (!(r[-276] & 1)) return 1; " asserted " return r[-280]; }"

static void compiled_answers(const char *source, const char *options, enum ucx_asserts asserts)
{
	char command[512];
	struct elf *elf;

	snprintf(command, sizeof(command), "echo '%s' | gcc %s -x c -fPIC -shared -o check.so -",
		 source, options);
	assert_int_equal(system(command), 0);
	assert_int_equal(elf_load(&elf, "check.so"), 0);
	assert_int_equal(ucx_asserts(elf),
			 elf_machine(elf) == EM_X86_64 ? asserts : UCX_ASSERTS_UNKNOWN);
	elf_free(elf);
	remove("check.so");
}

static void test_asserts(void **state)
{
	static const char *const options[] = { "-O0", "-O2", "-O3 -fno-reorder-functions", "-Os" };

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		compiled_answers(CHECK_STATUS("if (r[-280] == 1) die();"), options[i],
				 UCX_ASSERTS_IN);
		compiled_answers(CHECK_STATUS(""), options[i], UCX_ASSERTS_OUT);
	}
}

static void test_build_of_something_else(void **state)
{
	struct elf *elf = stock_open("libc.so.6");
	unsigned int version[3] = { 9, 9, 9 };

	(void)state;
	assert_int_equal(ucx_version(elf, version), -ENOENT);
	assert_int_equal(version[0], 9);
	assert_int_equal(ucx_request_size(elf), 0);
	assert_int_equal(ucx_asserts(elf), UCX_ASSERTS_UNKNOWN);
	elf_free(elf);
}

static void test_set_opens_a_file_once(void **state)
{
	struct library_set set = { 0 };
	struct library *library;
	struct elf *ucp;
	char path[64];
	int error;

	(void)state;
	assert_null(library_set_get(&set, 1, 2, "/x", "/nonexistent", &error));
	assert_int_equal(error, -ENOENT);
	assert_null(library_set_get(&set, 1, 2, "/x", "/etc/passwd", &error));
	assert_int_equal(error, 0);
	/* remembered by then: the path is not looked at again */
	assert_null(library_set_get(&set, 1, 2, "/x", "/nonexistent", &error));
	assert_int_equal(error, 0);
	ucp = stock_open("libucp.so.0");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", elf_fd(ucp));
	library = library_set_get(&set, 1, 3, "/in/the/process", path, &error);
	elf_free(ucp);
	assert_non_null(library);
	assert_string_equal(library->path, "/in/the/process");
	assert_ptr_equal(library_set_get(&set, 1, 3, "", "", &error), library);
	/* the same file by another number */
	assert_ptr_equal(library_set_get(&set, 7, 3, "", library->open_path, &error), library);
	assert_int_equal(set.all.len, 1);
	assert_int_equal(access(library->open_path, R_OK), 0);
	library_set_release(&set);
}

/* Inode numbers come again: a file that has the one of a file that did not matter is looked at. */
static void test_set_knows_a_number_that_comes_again(void **state)
{
	struct elf *ucp = stock_open("libucp.so.0");
	struct library_set set = { 0 };
	char path[64];
	int error;

	(void)state;
	assert_null(library_set_get(&set, 1, 2, "/x", "/etc/passwd", &error));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", elf_fd(ucp));
	assert_non_null(library_set_get(&set, 1, 2, "/y", path, &error));
	elf_free(ucp);
	library_set_release(&set);
}

/* A server that did not answer is asked again once its minute is over. */
static void test_set_ignores_for_a_time(void **state)
{
	const struct mapping mapping = { .dev = 1, .ino = 2, .path = "/x" };
	struct library_set set = { 0 };
	uint64_t *until;
	int error;

	(void)state;
	assert_null(library_set_get(&set, 1, 2, "/x", "/etc/passwd", &error));
	until = map_find(&set.ignored, map_text("/x"), file_key(1, 2));
	assert_non_null(until);
	*until = clock_ns(CLOCK_MONOTONIC) + 60000000000u;
	assert_true(library_set_ignores(&set, &mapping));
	*until = clock_ns(CLOCK_MONOTONIC) - 1;
	assert_false(library_set_ignores(&set, &mapping));
	assert_null(library_set_get(&set, 1, 2, "/x", "/nonexistent", &error));
	assert_int_equal(error, -ENOENT);
	library_set_release(&set);
}

static void test_set_is_bounded(void **state)
{
	struct library_set set = { 0 };
	int error;

	(void)state;
	for (ino_t ino = 1; ino <= 10000; ino++)
		assert_null(library_set_get(&set, 1, ino, "/x", "/etc/passwd", &error));
	assert_in_range(set.ignored.used, 1, 4096);
	assert_int_equal(set.known.used, 0);
	/* what came last is still known */
	assert_null(library_set_get(&set, 1, 10000, "/x", "/nonexistent", &error));
	assert_int_equal(error, 0);
	library_set_release(&set);
}

static void copy_to(const char *path, const struct elf *elf)
{
	char text[4096];
	FILE *file = fopen(path, "w");
	off_t at = 0;
	ssize_t got;

	assert_non_null(file);
	while ((got = pread(elf_fd(elf), text, sizeof(text), at)) > 0) {
		assert_int_equal(fwrite(text, 1, (size_t)got, file), got);
		at += got;
	}
	assert_int_equal(fclose(file), 0);
}

static void test_set_forgets(void **state)
{
	struct elf *ucp = stock_open("libucp.so.0");
	char path[] = "/tmp/ucxbpf-library-XXXXXX";
	struct library_set set = { 0 };
	struct library *copy, *stock;
	struct map keys = { 0 };
	char stock_path[64];
	int error;

	(void)state;
	close(mkstemp(path));
	copy_to(path, ucp);
	snprintf(stock_path, sizeof(stock_path), "/proc/self/fd/%d", elf_fd(ucp));
	copy = library_set_get(&set, 1, 2, path, path, &error);
	stock = library_set_get(&set, 1, 3, "/stock", stock_path, &error);
	assert_non_null(copy);
	assert_non_null(stock);
	assert_false(library_is_deleted(copy));
	unlink(path);
	assert_true(library_is_deleted(copy));
	assert_false(library_is_deleted(stock));
	map_insert(&keys, library_key(copy), 0, NULL);
	library_set_forget(&set, &keys);
	assert_null(library_set_find(&set, 1, 2));
	assert_ptr_equal(library_set_find(&set, 1, 3), stock);
	assert_int_equal(set.all.len, 1);
	assert_int_equal(set.known.used, 2); /* of the mapping, and of stat() */
	map_release(&keys);
	library_set_release(&set);
	elf_free(ucp);
}

static void test_own_process(void **state)
{
	void *handle = dlopen("libucp.so.0", RTLD_NOW);
	struct library_set set = { 0 };
	mapped_libraries mapped = { 0 };
	bool found = false;

	(void)state;
	if (!handle)
		skip();
	assert_int_equal(process_libraries(getpid(), &set, &mapped), 0);
	for (size_t i = 0; i < mapped.len; i++) {
		struct library *library = mapped.data[i].library;
		uint64_t offset, vaddr;

		if (!(library->roles & LIB_UCP))
			continue;
		found = true;
		assert_int_equal(elf_function(library->elf, "ucp_worker_create", &offset, NULL), 0);
		assert_int_equal(elf_offset_to_vaddr(library->elf, offset, &vaddr), 0);
		assert_int_equal(mapped.data[i].base + vaddr,
				 (uintptr_t)dlsym(handle, "ucp_worker_create"));
	}
	assert_true(found);
	vec_release(&mapped);
	library_set_release(&set);
}

static void test_processes_that_are_not_there(void **state)
{
	struct library_set set = { 0 };
	mapped_libraries mapped = { 0 };

	(void)state;
	assert_int_equal(process_libraries(0x3fffffff, &set, &mapped), -ESRCH);
	library_set_release(&set);
}

static void test_owner(void **state)
{
	static char ucp_path[] = "/opt/a/lib/libucp.so", other_path[] = "/opt/b/lib/libucp.so",
		    uct_path[] = "/opt/a/lib/libuct.so",
		    module_path[] = "/opt/b/lib/ucx/libuct_ib.so",
		    stray_path[] = "/elsewhere/libuct_x.so";
	struct library ucp = { .path = ucp_path, .roles = LIB_UCP },
		       other = { .path = other_path, .roles = LIB_UCP },
		       uct = { .path = uct_path, .roles = LIB_UCT },
		       module = { .path = module_path, .roles = LIB_UCT_MODULE },
		       stray = { .path = stray_path, .roles = LIB_UCT_MODULE };
	struct mapped_library rows[] = { { &ucp, 0 }, { &other, 0 }, { &uct, 0 } };
	mapped_libraries both = { .data = rows, .len = 3 }, one = { .data = rows, .len = 1 },
			 none = { .data = rows, .len = 0 };

	(void)state;
	assert_ptr_equal(library_owner_ucp(&both, &ucp), &ucp);
	assert_ptr_equal(library_owner_ucp(&both, &uct), &ucp);
	assert_ptr_equal(library_owner_ucp(&both, &module), &other);
	assert_null(library_owner_ucp(&both, &stray));
	assert_ptr_equal(library_owner_ucp(&one, &stray), &ucp);
	assert_null(library_owner_ucp(&none, &stray));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roles),
		cmocka_unit_test(test_mpi),
		cmocka_unit_test(test_build_of_libucp),
		cmocka_unit_test(test_asserts),
		cmocka_unit_test(test_build_of_something_else),
		cmocka_unit_test(test_set_opens_a_file_once),
		cmocka_unit_test(test_set_knows_a_number_that_comes_again),
		cmocka_unit_test(test_set_ignores_for_a_time),
		cmocka_unit_test(test_set_is_bounded),
		cmocka_unit_test(test_set_forgets),
		cmocka_unit_test(test_own_process),
		cmocka_unit_test(test_processes_that_are_not_there),
		cmocka_unit_test(test_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
