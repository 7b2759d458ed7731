// SPDX-License-Identifier: BSD-3-Clause
/* A full disk costs what was not written yet, and nothing else. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "unit/file_records.h"

static void set_limit(rlim_t bytes)
{
	const struct rlimit limit = { bytes, RLIM_INFINITY };

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Writes flushes of 1000 records until one fails; returns how many records are in the file. */
static uint64_t fill(struct file_writer *w, union any_record *r, uint64_t *seed)
{
	uint64_t stored = 0, ts = 0;
	int i, error = 0;

	while (!error) {
		for (i = 0; i < 1000; i++) {
			random_record(r, seed, ++ts);
			assert_int_equal(file_writer_record(w, &r->h), 0);
		}
		error = file_writer_flush(w, NULL);
		if (!error)
			stored += 1000;
	}
	assert_int_equal(error, -EFBIG);
	return stored;
}

/* An undamaged file that has the records up to this one, in order; the caller's. */
static struct file_reader *must_read(const char *path, uint64_t records)
{
	struct file_reader *reader = must_open(path);
	const struct ub_hdr *h;
	uint64_t n = 0;

	while (file_reader_next(reader, &h) == 1)
		assert_int_equal(h->ts, ++n);
	assert_int_equal(n, records);
	assert_int_equal(file_reader_damaged(reader), 0);
	return reader;
}

static void full_disk(void **state)
{
	char *path = temp_path();
	struct file_writer *w = must_create(path);
	union any_record r;
	struct file_reader *reader;
	const char *why;
	uint64_t seed = 3, stored;
	size_t size;

	(void)state;
	set_limit(1000000);
	stored = fill(w, &r, &seed);
	assert_true(stored >= 2000);
	assert_int_equal(file_writer_refused(w), 1000);
	assert_int_equal(file_writer_record(w, &r.h), -EFBIG);
	assert_int_equal(file_writer_refused(w), 1001);
	assert_int_equal(file_writer_records(w), stored);
	free(slurp(path, &size));
	assert_int_equal(size, file_writer_bytes(w));
	assert_int_equal(file_writer_close(w, NULL), -EFBIG);
	set_limit(RLIM_INFINITY);
	reader = must_read(path, stored);
	assert_false(file_reader_complete(reader, &why));
	assert_string_equal(why,
			    "the capture could not be written to its end: records are missing");
	file_reader_free(reader);
	temp_free(path);
}

/* Chunks are written several at a time: those that are whole stay. */
static void whole_chunks_stay(void **state)
{
	char *path = temp_path();
	struct file_writer *w = must_create(path);
	struct file_stream *stream;
	union any_record r;
	struct file_reader *reader;
	uint64_t seed = 3, stored;
	size_t size;

	(void)state;
	assert_int_equal(file_stream_open(&stream, w, 1000, NULL, NULL), 0);
	set_limit(30000);
	for (uint64_t ts = 1; ts <= 400; ts++) {
		random_record(&r, &seed, ts);
		assert_int_equal(file_stream_record(stream, &r.h), 0);
		if (ts % 50)
			continue;
		assert_int_equal(file_stream_pending(stream), 50);
		assert_int_equal(file_stream_end_chunk(stream), 0);
		assert_int_equal(file_stream_pending(stream), 0);
	}
	assert_int_equal(file_writer_records(w), 400);
	assert_int_equal(file_writer_bytes(w), 0);
	assert_int_equal(file_stream_flush(stream), -EFBIG);
	stored = file_writer_records(w);
	assert_true(stored && stored < 400 && stored % 50 == 0);
	assert_int_equal(file_writer_refused(w), 400 - stored);
	free(slurp(path, &size));
	assert_int_equal(size, file_writer_bytes(w));
	assert_true(size <= 30000);
	file_stream_free(stream);
	assert_int_equal(file_writer_close(w, NULL), -EFBIG);
	set_limit(RLIM_INFINITY);
	reader = must_read(path, stored);
	assert_int_equal(file_reader_refused(reader), 400 - stored);
	file_reader_free(reader);
	temp_free(path);
}

static void no_room_at_all(void **state)
{
	struct file_writer *w;

	(void)state;
	/* what a file held stays until something is written: a full disk shows then */
	assert_int_equal(file_writer_open(&w, "/dev/full"), 0);
	assert_int_equal(file_writer_close(w, NULL), -ENOSPC);
	assert_int_equal(file_writer_open(&w, "/nonexistent/x.ucxb"), -ENOENT);
	assert_null(w);
	assert_int_equal(file_writer_open(&w, "/tmp"), -EISDIR);
	assert_null(w);
}

static void only_captures_are_overwritten(void **state)
{
	char path[] = "/tmp/ucxbpf-output-XXXXXX", text[8] = "";
	struct file_writer *w, *other;
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, "my text", 7), 7);
	assert_int_equal(file_writer_open(&w, path), -EEXIST);
	assert_int_equal(pread(fd, text, 7, 0), 7);
	assert_string_equal(text, "my text");

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(file_writer_open(&w, path), 0);
	assert_int_equal(file_writer_open(&other, path), -EWOULDBLOCK);
	file_writer_abandon(w);
	assert_int_equal(access(path, F_OK), -1);
	close(fd);
}

/* A capture of so many records. */
static void make_capture(const char *path, uint64_t records)
{
	struct file_writer *w = must_create(path);
	union any_record r;
	uint64_t seed = 5;

	for (uint64_t ts = 1; ts <= records; ts++) {
		random_record(&r, &seed, ts);
		assert_int_equal(file_writer_record(w, &r.h), 0);
	}
	assert_int_equal(file_writer_close(w, NULL), 0);
}

static void must_hold(const char *path, uint64_t records)
{
	file_reader_free(must_read(path, records));
}

static void a_capture_that_is_there_is_kept(void **state)
{
	char *path = temp_path(), *kept;
	struct file_writer *w;
	int fd;

	(void)state;
	assert_true(asprintf(&kept, "%s.old", path) > 0);
	make_capture(path, 3);
	/* nothing is recorded: it stays */
	assert_int_equal(file_writer_open(&w, path), 0);
	file_writer_abandon(w);
	must_hold(path, 3);
	assert_int_equal(access(kept, F_OK), -1);
	make_capture(path, 5);
	must_hold(path, 5);
	must_hold(kept, 3);
	/* the one before that gives way */
	make_capture(path, 7);
	must_hold(path, 7);
	must_hold(kept, 5);
	/* anything else does not: one that is written, another user's, no capture */
	fd = open(kept, O_RDONLY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(file_writer_open(&w, path), -ENOTEMPTY);
	close(fd);
	if (!geteuid()) {
		assert_int_equal(chown(kept, 65534, 65534), 0);
		assert_int_equal(file_writer_open(&w, path), -ENOTEMPTY);
		assert_int_equal(chown(kept, 0, 0), 0);
	}
	must_hold(kept, 5);
	fd = open(kept, O_WRONLY | O_TRUNC);
	assert_int_equal(write(fd, "my text", 7), 7);
	close(fd);
	assert_int_equal(file_writer_open(&w, path), -ENOTEMPTY);
	must_hold(path, 7);
	unlink(kept);
	assert_int_equal(symlink("/etc/passwd", kept), 0);
	assert_int_equal(file_writer_open(&w, path), -ENOTEMPTY);
	unlink(kept);
	temp_free(path);
	free(kept);
}

static void refused(const char *path, int error)
{
	struct file_writer *w;

	assert_int_equal(file_writer_open(&w, path), error);
	assert_null(w);
}

static void what_others_may_have_put_there_is_refused(void **state)
{
	char *path = temp_path(), *link_path = temp_path();
	struct file_writer *w;

	(void)state;
	unlink(link_path);
	assert_int_equal(symlink(path, link_path), 0);
	refused(link_path, -ELOOP);
	unlink(path);
	refused(link_path, -ELOOP);
	assert_int_equal(access(path, F_OK), -1);
	unlink(link_path);

	file_writer_abandon(must_create(path));
	assert_int_equal(mkfifo(path, 0600), 0);
	refused(path, -ESPIPE);
	unlink(path);

	assert_int_equal(file_writer_close(must_create(path), NULL), 0);
	assert_int_equal(link(path, link_path), 0);
	refused(path, -EMLINK);
	unlink(link_path);
	assert_int_equal(file_writer_open(&w, path), 0);
	file_writer_abandon(w);
	temp_free(path);
	free(link_path);
}

#define SOMEBODY 12345

static void files_of_others_are_refused(void **state)
{
	char *path = temp_path();

	(void)state;
	if (geteuid()) {
		temp_free(path);
		skip();
	}
	assert_int_equal(chown(path, SOMEBODY, SOMEBODY), 0);
	refused(path, -EUSERS);
	setenv("SUDO_GID", "12345", 1);
	setenv("SUDO_UID", "12346", 1);
	refused(path, -EUSERS);
	setenv("SUDO_UID", "12345x", 1);
	refused(path, -EUSERS);
	setenv("SUDO_UID", "12345", 1);
	file_writer_abandon(must_create(path));
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_int_equal(access(path, F_OK), -1);
	free(path);
}

static void is_owned(const char *path, uid_t uid, gid_t gid)
{
	struct stat file;

	assert_int_equal(stat(path, &file), 0);
	assert_int_equal(file.st_mode & 07777, 0600);
	assert_int_equal(file.st_uid, uid);
	assert_int_equal(file.st_gid, gid);
}

static void a_capture_is_its_owners_alone(void **state)
{
	char *path = temp_path();

	(void)state;
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(file_writer_close(must_create(path), NULL), 0);
	is_owned(path, geteuid(), getegid());
	unlink(path);
	umask(0);
	assert_int_equal(file_writer_close(must_create(path), NULL), 0);
	umask(022);
	is_owned(path, geteuid(), getegid());
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "12346", 1);
	assert_int_equal(file_writer_close(must_create(path), NULL), 0);
	is_owned(path, geteuid() ? geteuid() : 12345, geteuid() ? getegid() : 12346);
	setenv("SUDO_GID", "-1", 1);
	unlink(path);
	assert_int_equal(file_writer_close(must_create(path), NULL), 0);
	is_owned(path, geteuid(), getegid());
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	temp_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_disk),
		cmocka_unit_test(whole_chunks_stay),
		cmocka_unit_test(no_room_at_all),
		cmocka_unit_test(only_captures_are_overwritten),
		cmocka_unit_test(a_capture_that_is_there_is_kept),
		cmocka_unit_test(what_others_may_have_put_there_is_refused),
		cmocka_unit_test(files_of_others_are_refused),
		cmocka_unit_test(a_capture_is_its_owners_alone),
	};

	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
