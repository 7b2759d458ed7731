// SPDX-License-Identifier: BSD-3-Clause
/* Which of the watched files were written to: real files, in a folder of their own. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "observe/capture/rewrites.h"

static char folder[] = "/tmp/ucxbpf-rewrites-XXXXXX";
static char path[64];

/* A copy of this program, as a new file. */
static void make_file(void)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	char bytes[65536];
	ssize_t got;

	assert_true(from >= 0 && to >= 0);
	while ((got = read(from, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(to, bytes, (size_t)got), got);
	close(from);
	close(to);
}

static uint64_t key(void)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return file_key(st.st_dev, st.st_ino);
}

/* As that of a learnt function, which is let go once the probe is in place. */
static int watch(struct rewrites *rewrites)
{
	struct remote_file file = { .fd = open(path, O_RDONLY | O_CLOEXEC),
				    .image = -1,
				    .local = true };
	struct library library = { .path = path, .open_path = path };
	int err;

	assert_true(file.fd >= 0);
	assert_int_equal(fstat(file.fd, &file.st), 0);
	library.dev = file.st.st_dev;
	library.ino = file.st.st_ino;
	assert_int_equal(elf_load_file(&library.elf, &file), 0);
	err = rewrites_watch(rewrites, &library);
	elf_free(library.elf);
	return err;
}

static size_t written(struct rewrites *rewrites)
{
	struct map files = { 0 };
	size_t n;

	rewrites_read(rewrites, &files);
	n = files.used;
	assert_int_equal(map_find(&files, key(), 0) != NULL, n == 1);
	map_release(&files);
	return n;
}

static void write_byte(void)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_int_equal(pwrite(fd, "", 1, 8), 1);
	close(fd);
}

static void a_write_is_noticed_once(void **state)
{
	struct rewrites rewrites;

	(void)state;
	rewrites_init(&rewrites);
	make_file();
	assert_int_equal(watch(&rewrites), 0);
	assert_int_equal(watch(&rewrites), 0);
	assert_int_equal(rewrites.files.len, 1);
	assert_int_equal(written(&rewrites), 0);
	write_byte();
	assert_int_equal(written(&rewrites), 1);
	assert_int_equal(rewrites.files.len, 0);
	assert_int_equal(rewrites.written.len, 1);
	write_byte();
	assert_int_equal(written(&rewrites), 0);
	unlink(path);
	rewrites_release(&rewrites);
}

static void opening_for_writing_is_no_write(void **state)
{
	struct rewrites rewrites;

	(void)state;
	rewrites_init(&rewrites);
	make_file();
	assert_int_equal(watch(&rewrites), 0);
	for (int timed = rewrites.files.data[0].timed; timed >= 0; timed--) {
		rewrites.files.data[0].timed = timed;
		close(open(path, O_RDWR | O_CLOEXEC));
		assert_int_equal(written(&rewrites), timed ? 0 : 1);
		assert_int_equal(rewrites.files.len, timed ? 1 : 0);
	}
	assert_int_equal(watch(&rewrites), 0);
	write_byte();
	assert_int_equal(written(&rewrites), 1);
	unlink(path);
	rewrites_release(&rewrites);
}

/* Through a mapping, which the kernel does not report as a write; with the old time, or not. */
static void write_mapped(bool sets_time_back)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;
	char *byte;

	assert_int_equal(fstat(fd, &st), 0);
	byte = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(byte != MAP_FAILED);
	byte[8]++;
	assert_int_equal(munmap(byte, 4096), 0);
	if (sets_time_back)
		assert_int_equal(futimens(fd, (struct timespec[]){ st.st_atim, st.st_mtim }), 0);
	close(fd);
}

static void a_write_through_a_mapping_is_noticed(void **state)
{
	(void)state;
	for (int sets_time_back = 0; sets_time_back < 2; sets_time_back++) {
		struct rewrites rewrites;

		rewrites_init(&rewrites);
		make_file();
		assert_int_equal(watch(&rewrites), 0);
		usleep(50000); /* times of files may be those of the last tick */
		write_mapped(sets_time_back);
		assert_int_equal(written(&rewrites), 1);
		unlink(path);
		rewrites_release(&rewrites);
	}
}

/* Some file systems give the next file the number of a deleted one: here, all do. */
static void a_file_with_the_number_of_a_deleted_one_is_watched(void **state)
{
	struct rewrites rewrites;

	(void)state;
	rewrites_init(&rewrites);
	make_file();
	assert_int_equal(watch(&rewrites), 0);
	unlink(path);
	make_file();
	rewrites.files.data[0].file = key();
	assert_int_equal(watch(&rewrites), 0);
	assert_int_equal(rewrites.files.len, 2);
	assert_int_equal(written(&rewrites), 0);
	assert_int_equal(rewrites.files.len, 1);
	write_byte();
	assert_int_equal(written(&rewrites), 1);
	unlink(path);
	rewrites_release(&rewrites);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_is_noticed_once),
		cmocka_unit_test(opening_for_writing_is_no_write),
		cmocka_unit_test(a_write_through_a_mapping_is_noticed),
		cmocka_unit_test(a_file_with_the_number_of_a_deleted_one_is_watched),
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/library", folder);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
