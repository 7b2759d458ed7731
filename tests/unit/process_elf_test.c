/* SPDX-License-Identifier: BSD-3-Clause */
/* ELF files: symbols, addresses, broken files. */
#include "unit/process_stock.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "observe/process/elf.h"

int target_test_marker(void);
int target_test_marker(void)
{
	return 7;
}
int target_test_object = 7;

static char scratch[] = "/tmp/ucxbpf-elf-XXXXXX";

static int make_scratch(void **state)
{
	int fd = mkstemp(scratch);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_scratch(void **state)
{
	(void)state;
	return unlink(scratch);
}

static void copy_prefix(const char *from, size_t size)
{
	char *buffer = malloc(size);
	int in = open(from, O_RDONLY), out = open(scratch, O_WRONLY | O_TRUNC);
	ssize_t got = read(in, buffer, size);

	assert_true(got > 0);
	assert_int_equal(write(out, buffer, (size_t)got), got);
	close(in);
	close(out);
	free(buffer);
}

static void test_refuses_what_is_not_elf(void **state)
{
	struct elf *elf;

	(void)state;
	assert_int_equal(elf_load(&elf, "/nonexistent"), -ENOENT);
	assert_int_equal(elf_load(&elf, "/dev/null"), -ENOEXEC);
	assert_int_equal(elf_load(&elf, "/"), -ENOEXEC);
	assert_int_equal(elf_load(&elf, "/etc/passwd"), -ENOEXEC);
	assert_int_equal(truncate(scratch, 0), 0);
	assert_int_equal(elf_load(&elf, scratch), -ENOEXEC);
}

static void test_refuses_every_truncation(void **state)
{
	struct stat st;
	struct elf *elf;

	(void)state;
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	for (size_t size = 1; size < (size_t)st.st_size; size += 1 + size / 7) {
		copy_prefix("/proc/self/exe", size);
		assert_int_equal(elf_load(&elf, scratch), -ENOEXEC);
	}
}

/* Nobody pays for a hole, but a reader would for the pages that it gets there. */
static void test_refuses_holes(void **state)
{
	struct elf *elf;
	struct stat st;

	(void)state;
	copy_prefix("/proc/self/exe", 1 << 26);
	assert_int_equal(stat(scratch, &st), 0);
	assert_int_equal(truncate(scratch, st.st_size + (32 << 20)), 0);
	assert_int_equal(elf_load(&elf, scratch), 0);
	elf_free(elf);
	assert_int_equal(truncate(scratch, 1l << 32), 0);
	assert_int_equal(elf_load(&elf, scratch), -EFBIG);
}

static void test_refuses_32_bit(void **state)
{
	unsigned char ident[EI_NIDENT] = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32 };
	Elf32_Ehdr header = { .e_machine = EM_386, .e_version = EV_CURRENT };
	struct elf *elf;
	int fd = open(scratch, O_WRONLY | O_TRUNC);

	(void)state;
	ident[EI_DATA] = ELFDATA2LSB;
	ident[EI_VERSION] = EV_CURRENT;
	memcpy(header.e_ident, ident, sizeof(ident));
	assert_int_equal(write(fd, &header, sizeof(header)), sizeof(header));
	close(fd);
	assert_int_equal(elf_load(&elf, scratch), -EOPNOTSUPP);
}

static void test_own_symbols(void **state)
{
	uint64_t offset, vaddr, size, bias;
	unsigned char code[16];
	struct elf *elf;

	(void)state;
	assert_int_equal(elf_load(&elf, "/proc/self/exe"), 0);
	assert_int_equal(elf_function(elf, "target_test_marker", &offset, &size), 0);
	assert_true(size > 0 && size < 64);
	assert_int_equal(elf_read(elf, offset, code, size < 16 ? size : 16), size < 16 ? size : 16);
	assert_memory_equal(code, (void *)target_test_marker, size < 16 ? size : 16);
	assert_int_equal(elf_offset_to_vaddr(elf, offset, &vaddr), 0);
	assert_int_equal(elf_object(elf, "target_test_object", &bias, &size), 0);
	assert_int_equal((uintptr_t)&target_test_object - bias,
			 (uintptr_t)target_test_marker - vaddr);
	assert_int_equal(elf_function(elf, "target_test_object", &offset, NULL), -ENOENT);
	assert_int_equal(elf_object(elf, "target_test_marker", &offset, NULL), -ENOENT);
	assert_int_equal(elf_function(elf, "printf", &offset, NULL), -ENOENT);
	assert_true(elf_is_executable(elf));
	assert_true(elf_is_program(elf));
	elf_free(elf);
	elf_free(NULL);
}

static void test_addresses_round_trip(void **state)
{
	struct elf *elf = stock_open("libuct.so.0");
	uint64_t vaddr, offset, back;

	(void)state;
	assert_int_equal(elf_object(elf, "uct_tcp_tl", &vaddr, NULL), 0);
	assert_int_equal(elf_vaddr_to_offset(elf, vaddr, &offset), 0);
	assert_int_equal(elf_offset_to_vaddr(elf, offset, &back), 0);
	assert_int_equal(back, vaddr);
	assert_int_equal(elf_vaddr_to_offset(elf, UINT64_MAX, &offset), -ENOENT);
	assert_int_equal(elf_offset_to_vaddr(elf, UINT64_MAX, &back), -ENOENT);
	elf_free(elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refuses_what_is_not_elf),
		cmocka_unit_test(test_refuses_every_truncation),
		cmocka_unit_test(test_refuses_holes),
		cmocka_unit_test(test_refuses_32_bit),
		cmocka_unit_test(test_own_symbols),
		cmocka_unit_test(test_addresses_round_trip),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
