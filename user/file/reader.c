// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/readable.h"
#include "file/file.h"
#include "file/merge.h"

struct file_reader {
	int fd;
	struct chunk_scan scan;
	struct loader loader;
	struct merge merge;
	json_t *sides;
	uint64_t damaged_sides, unknown_sides;
	struct chunk_memory sides_memory;
	bool sides_over; /* some were left out: they would take too much memory */
};

static int refuse(const char **why, int error, const char *text)
{
	*why = text;
	return error;
}

static int refuse_errno(const char **why, int error)
{
	return refuse(why, error,
		      error == -ENOMEM    ? "not enough memory to read it"
		      : error == -EBADMSG ? "cannot be read"
					  : readable_why(error));
}

/* Checks that fd is a capture of a version that this program reads. */
static int check_header(int fd, uint64_t *size, const char **why)
{
	struct file_header header;
	struct stat st;
	long n;

	if (fstat(fd, &st))
		return refuse_errno(why, -errno);
	if (S_ISDIR(st.st_mode))
		return refuse(why, -EBADMSG, "a directory, not a ucxbpf capture");
	if (!S_ISREG(st.st_mode))
		return refuse(why, -EBADMSG, "not a regular file, so not a ucxbpf capture");
	n = read_at(fd, &header, sizeof(header), 0);
	if (n < 0)
		return refuse_errno(why, (int)n);
	if (!n)
		return refuse(why, -EBADMSG, "empty, not a ucxbpf capture");
	if (n < (long)sizeof(header) || memcmp(header.magic, FILE_MAGIC, FILE_MAGIC_SIZE) ||
	    !header.version || !header.wire)
		return refuse(why, -EBADMSG, "not a ucxbpf capture");
	if (header.version > FILE_VERSION || header.wire > UB_WIRE_VERSION)
		return refuse(why, -EPROTONOSUPPORT,
			      "made by a newer ucxbpf, which is needed to read it");
	*size = (uint64_t)st.st_size;
	return 0;
}

/* The library either reports that memory ran out, or leaves the error code unset. */
static bool is_memory(const json_error_t *error)
{
	enum json_error_code code = json_error_code(error);

	return code == json_error_unknown || code == json_error_out_of_memory;
}

#define SIDE_DEPTH 16 /* lists and objects inside of each other: those of a ucxbpf take 4 */
#define SIDE_GROUP 256 /* bytes of memory, about, that the library takes for a list or object */
#define SIDE_VALUE 96 /* and for a value or a name in it */

/* Bytes of memory, about, that a text takes as JSON, beside its own; UINT64_MAX: too deep. */
static uint64_t side_cost(const char *text, size_t size)
{
	uint64_t cost = 0;
	bool quoted = false;
	int depth = 0;

	for (size_t i = 0; i < size && depth <= SIDE_DEPTH; i++) {
		char c = text[i];

		if (c == '"')
			quoted = !quoted;
		else if (quoted)
			i += c == '\\';
		else if (c == '{' || c == '[')
			cost += SIDE_GROUP, depth++;
		else if (c == '}' || c == ']')
			depth--;
		else if (c == ',' || c == ':')
			cost += SIDE_VALUE;
	}
	return depth > SIDE_DEPTH ? UINT64_MAX : cost;
}

/* Takes memory for side records: false where there is no more. */
static bool take_memory(struct file_reader *r, uint64_t size)
{
	bool taken = chunk_memory_take(&r->sides_memory, size, 0);

	r->sides_over = r->sides_over || !taken;
	return taken;
}

/* docs/side-records.md */
static bool side_is_known(const char *kind)
{
	static const char *const kinds[] = {
		"site",    "library",  "address", "symbol",  "clock",  "memory",
		"process", "uct_ep",   "iface",   "ep",      "worker", "capture",
		"end",     "gpu",      "module",  "self",    "gap",    "cell",
		"cells",   "consumer", "thread",  "derived", "queues", "note",
		"window",  "budget",   "detail",  "unread",  "unseen", "trimmed",
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kind, kinds[i]))
			return true;
	return false;
}

/*
 * Appends a side record of a known kind. -EBADMSG: not a side record, or it takes too much memory;
 * -ENOMEM.
 */
static int add_side(struct file_reader *r, const char *text, size_t size)
{
	const uint64_t cost = side_cost(text, size);
	json_error_t error = { 0 };
	const char *kind;
	json_t *side;
	int err = 0;

	if (!take_memory(r, cost))
		return -EBADMSG;
	side = json_loadb(text, size, 0, &error);
	if (!side)
		return is_memory(&error) ? -ENOMEM : -EBADMSG;
	kind = json_string_value(json_object_get(side, "t"));
	if (!kind) {
		err = -EBADMSG;
	} else if (!side_is_known(kind)) {
		r->unknown_sides++;
		chunk_memory_return(&r->sides_memory, cost, 0);
	} else if (json_array_append(r->sides, side)) {
		err = -ENOMEM;
	}
	json_decref(side);
	return err;
}

/* Counts bytes that are left out as damaged. */
static int pass_over(struct file_reader *r, int error, uint64_t size)
{
	if (error == -EBADMSG)
		r->damaged_sides += size;
	return error == -EBADMSG ? 0 : error;
}

/* Appends the chunk's side records, each a line; ucxbpf writes no other lines. */
static int add_sides(struct file_reader *r, const char *text, size_t size)
{
	const char *end = size ? text + size : text; /* NULL of an empty chunk */

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		int error;

		if (!stop)
			stop = end;
		error = pass_over(r, add_side(r, text, (size_t)(stop - text)),
				  (uint64_t)(stop - text) + 1);
		if (error)
			return error;
		text = stop + 1;
	}
	return 0;
}

static int load_chunk(struct file_reader *r, const struct chunk_ref *chunk)
{
	const struct chunk_header *head = &chunk->head;
	int error = -EBADMSG;

	chunk_memory_take(&r->sides_memory, 0, chunk_size(head));
	if (take_memory(r, head->raw_size))
		error = loader_read(&r->loader, chunk);
	return error ? pass_over(r, error, chunk_size(head))
		     : add_sides(r, (const char *)r->loader.raw.data, head->raw_size);
}

static int load_sides(struct file_reader *r)
{
	int error = 0;

	for (size_t i = 0; i < r->scan.chunks.len && !error; i++)
		if (r->scan.chunks.data[i].head.type == CHUNK_SIDES)
			error = load_chunk(r, &r->scan.chunks.data[i]);
	return error;
}

/* Reads all that is stored: a chunk left out must be known before the first record is given out. */
static int check_records(struct file_reader *r)
{
	struct chunk_scan *scan = &r->scan;
	size_t kept = 0;

	for (size_t i = 0; i < scan->chunks.len; i++) {
		const struct chunk_ref chunk = scan->chunks.data[i];
		int error = chunk_has_records(&chunk.head) ? loader_check(&r->loader, &chunk) : 0;

		if (error && error != -EBADMSG)
			return error;
		if (error)
			scan->skipped += chunk.head.header_size + (uint64_t)chunk.head.stored_size;
		else
			scan->chunks.data[kept++] = chunk;
	}
	scan->chunks.len = kept;
	return 0;
}

static int reader_load(struct file_reader *r, const char *path, bool sides, const char **why)
{
	uint64_t size = 0;
	int error;

	r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (r->fd < 0)
		return refuse_errno(why, -errno);
	error = check_header(r->fd, &size, why);
	if (error)
		return error;
	error = scan_file(&r->scan, r->fd, size);
	if (error)
		return refuse_errno(why, error);
	if (!r->scan.chunks.len)
		return refuse(why, -EBADMSG, "a ucxbpf capture without one complete chunk");
	r->sides = json_array();
	error = r->sides ? loader_init(&r->loader, r->fd) : -ENOMEM;
	if (!error)
		error = check_records(r);
	if (!error)
		error = merge_init(&r->merge, &r->loader, &r->scan);
	if (!error && sides)
		error = load_sides(r);
	return error ? refuse_errno(why, error) : 0;
}

static int reader_open(struct file_reader **reader, const char *path, bool sides, const char **why)
{
	struct file_reader *r = calloc(1, sizeof(*r));
	int error;

	*reader = r;
	if (!r)
		return refuse_errno(why, -ENOMEM);
	error = reader_load(r, path, sides, why);
	if (error) {
		file_reader_free(r);
		*reader = NULL;
	}
	return error;
}

int file_reader_open(struct file_reader **reader, const char *path, const char **why)
{
	return reader_open(reader, path, true, why);
}

int file_reader_again(struct file_reader **reader, const char *path, const char **why)
{
	return reader_open(reader, path, false, why);
}

bool file_is_capture(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t magic[FILE_MAGIC_SIZE];
	bool is = fd >= 0 && read_at(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		  !memcmp(magic, FILE_MAGIC, sizeof(magic));

	if (fd >= 0)
		close(fd);
	return is;
}

const json_t *file_reader_sides(const struct file_reader *r)
{
	return r->sides;
}

const struct ub_stats *file_reader_stats(const struct file_reader *r)
{
	return &r->scan.stats;
}

int file_reader_next(struct file_reader *r, const struct ub_hdr **record)
{
	return merge_next(&r->merge, record);
}

int file_reader_next_stored(struct file_reader *r, const struct ub_hdr **record)
{
	return merge_next_stored(&r->merge, record);
}

uint64_t file_reader_damaged(const struct file_reader *r)
{
	return r->scan.skipped + r->damaged_sides + r->merge.damaged;
}

uint64_t file_reader_unknown(const struct file_reader *r)
{
	return r->unknown_sides;
}

uint64_t file_reader_refused(const struct file_reader *r)
{
	return r->scan.refused;
}

bool file_reader_complete(const struct file_reader *r, const char **why)
{
	*why = NULL;
	if (r->sides_over)
		*why = "side records that would take too much memory were left out";
	else if (file_reader_damaged(r))
		*why = "a part of the capture is damaged and was skipped";
	else if (r->scan.torn)
		*why = "the end of the capture was cut off";
	else if (!r->scan.ended)
		*why = "the tracer was killed before it could finish the capture";
	else if (r->scan.refused)
		*why = "the capture could not be written to its end: records are missing";
	return !*why;
}

bool file_reader_has_end(const struct file_reader *r)
{
	return r->scan.ended && !r->scan.torn && !r->scan.refused;
}

void file_reader_free(struct file_reader *r)
{
	if (!r)
		return;
	merge_release(&r->merge);
	loader_release(&r->loader);
	scan_release(&r->scan);
	json_decref(r->sides);
	chunk_memory_return(&r->sides_memory, r->sides_memory.taken, r->sides_memory.stored);
	if (r->fd >= 0)
		close(r->fd);
	free(r);
}
