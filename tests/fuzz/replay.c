// SPDX-License-Identifier: BSD-3-Clause
/*
 * Captures: parts become up to four files with chunks whose checksums hold, these are read,
 * decoded, attributed and matched, and the facts are reported or judged.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/order.h"
#include "explain/analysis/analysis.h"
#include "file/chunk.h"
#include "file/codec.h"
#include "fuzz/harness.h"
#include "fuzz/parts.h"
#include "show/export/export.h"
#include "show/page/page.h"
#include "show/report/report.h"
#include "site/judge/judge.h"

enum shown {
	SHOWN_JSON,
	SHOWN_TEXT,
	SHOWN_VERDICT,
	SHOWN_FOLDED,
	SHOWN_EVENTS, /* as lines of JSON */
	SHOWN_TIMELINE, /* for Perfetto */
	SHOWN_PAGE,
	SHOWN_FILES, /* a database, tables as CSV, or an archive of OTF2 */
	SHOWN_KINDS,
};

static bool is_json(enum shown shown)
{
	return shown == SHOWN_JSON || shown == SHOWN_VERDICT;
}

/* Programs and styles of pages, which are no matter of the input: none. */
__asm__(".data\n"
	".global page_viewer_js, page_viewer_js_end, page_viewer_js_hash\n"
	".global page_viewer_css, page_viewer_css_end, page_viewer_css_hash\n"
	".global page_verdict_js, page_verdict_js_end, page_verdict_js_hash\n"
	".global page_verdict_css, page_verdict_css_end, page_verdict_css_hash\n"
	"page_viewer_js: page_viewer_js_end: page_viewer_js_hash:\n"
	"page_viewer_css: page_viewer_css_end: page_viewer_css_hash:\n"
	"page_verdict_js: page_verdict_js_end: page_verdict_js_hash:\n"
	"page_verdict_css: page_verdict_css_end: page_verdict_css_hash:\n"
	".quad 0\n"
	".text\n");

/* Captures while they are made. */
struct making {
	struct ub_stats stats;
	uint8_t arg;
	bytes file;
	bytes sides; /* of the chunk that is made */
	uint32_t records; /* likewise */
	unsigned int files; /* made so far */
	bool begun;
};

static struct block_encoder *encoder;
static const uint64_t unwatched[UB_KIND_MAX];

/*
 * A decoder takes 27 MB, one of version 1 takes 9, of which a run uses little. AddressSanitizer
 * would spend ten times as long on these bytes as the run takes.
 */
HARNESS_KEEP(struct block_decoder, decoder_new, decoder_free, 27ul << 20, )
HARNESS_KEEP(struct sorted, sorted_new, sorted_free, 9ul << 20, )

static void add_chunk(struct making *making, const struct chunk_header *head, const void *raw,
		      size_t size)
{
	struct chunk_start start = { .head = *head, .stats = making->stats };
	size_t at = making->file.len;

	bytes_add(&making->file, &start, sizeof(start));
	if (size)
		bytes_add_frame(&making->file, raw, size);
	start.head.magic = CHUNK_MAGIC;
	start.head.header_size = sizeof(start);
	start.head.stored_size = (uint32_t)(making->file.len - at - sizeof(start));
	start.head.raw_size += (uint32_t)size;
	start.head.refused = making->arg & CAPTURE_REFUSED ? 1 : 0;
	start.head.payload_sum =
		chunk_payload_sum(making->file.data + at + sizeof(start), start.head.stored_size);
	chunk_seal(&start);
	memcpy(making->file.data + at, &start, sizeof(start));
}

static void end_sides(struct making *making)
{
	const struct chunk_header head = { .type = CHUNK_SIDES };

	if (making->sides.len)
		add_chunk(making, &head, making->sides.data, making->sides.len);
	making->sides.len = 0;
}

static void end_records(struct making *making)
{
	struct chunk_header head = { .type = CHUNK_RECORDS, .records = making->records };
	struct block_made made;
	static bytes block;

	if (!making->records)
		return;
	vec_reserve(&block, encoder_bound(making->records));
	made = encoder_finish(encoder, block.data);
	head.min_ts = made.min_ts;
	head.max_ts = made.max_ts;
	add_chunk(making, &head, block.data,
		  made.parts[PART_LOWEST] + made.parts[PART_LOW] + made.parts[PART_REST]);
	making->records = 0;
}

static void end_chunks(struct making *making)
{
	end_sides(making);
	end_records(making);
}

static void end_capture(struct making *making)
{
	const struct chunk_header head = { .type = CHUNK_END };

	if (!making->begun || making->files == HARNESS_FILES)
		return;
	end_chunks(making);
	if (!(making->arg & CAPTURE_KILLED))
		add_chunk(making, &head, NULL, 0);
	harness_file(making->files++, &making->file);
	making->file.len = 0;
}

static void begin_capture(struct making *making, const struct part *part)
{
	const struct file_header header = { FILE_MAGIC, FILE_VERSION, UB_WIRE_VERSION };
	size_t size = part->size < sizeof(making->stats) ? part->size : sizeof(making->stats);

	end_capture(making);
	making->begun = true;
	making->arg = part->arg;
	memset(&making->stats, 0, sizeof(making->stats));
	memcpy(&making->stats, part->data, size);
	bytes_add(&making->file, &header, sizeof(header));
}

static void add_sides(struct making *making, const struct part *part)
{
	end_records(making);
	bytes_add(&making->sides, part->data, part->size);
}

static void add_record(struct making *making, const struct part *part)
{
	union {
		struct ub_hdr h;
		uint8_t bytes[UB_MAX_RECORD];
	} record = { 0 };

	memcpy(&record, part->data, part->size < sizeof(record) ? part->size : sizeof(record));
	/* the writer takes no others */
	if (!ub_kind_size(record.h.kind))
		return;
	end_sides(making);
	if (making->records == ENCODER_RECORDS)
		end_records(making);
	encoder_add(encoder,
		    &(struct encoder_batch){ .records = &record,
					     .size = sizeof(record),
					     .n = 1,
					     .cpu = record.h.cpu,
					     .cpu_seq = record.h.cpu_seq },
		    unwatched);
	making->records++;
}

static void add_raw_chunk(struct making *making, const struct part *part)
{
	struct part_chunk chunk = { 0 };
	size_t size = part->size < sizeof(chunk) ? part->size : sizeof(chunk);
	struct chunk_header head = { .type = part->arg };

	memcpy(&chunk, part->data, size);
	head.min_ts = chunk.min_ts;
	head.max_ts = chunk.max_ts;
	head.records = chunk.records;
	head.raw_size = chunk.more;
	end_chunks(making);
	add_chunk(making, &head, part->data + size, part->size - size);
}

static void add_part(struct making *making, const struct part *part)
{
	const struct part begin = { PART_CAPTURE, 0, 0, part->data };

	if (part->type == PART_CAPTURE || !making->begun)
		begin_capture(making, part->type == PART_CAPTURE ? part : &begin);
	if (part->type == PART_SIDES)
		add_sides(making, part);
	else if (part->type == PART_RECORD)
		add_record(making, part);
	else if (part->type == PART_CHUNK)
		add_raw_chunk(making, part);
	else if (part->type == PART_GARBAGE) {
		end_chunks(making);
		bytes_add(&making->file, part->data, part->size);
	}
}

/* A timeline reserves 48 MB for sorting, which takes five times as long as all else: few have one.
 */
static enum shown shown_of(unsigned int arg, size_t size)
{
	enum shown shown = arg % SHOWN_KINDS;

	return shown == SHOWN_TIMELINE && size % 16 ? SHOWN_JSON : shown;
}

/* Returns how many files there are. */
static unsigned int make_captures(const uint8_t *data, size_t size, enum shown *shown)
{
	struct making making = { 0 };
	const uint8_t *end = data + size;
	struct part part;
	bool first = true;

	*shown = SHOWN_JSON;
	for (; making.files < HARNESS_FILES && part_next(&data, end, &part); first = false) {
		if (first && part.type == PART_CAPTURE)
			*shown = shown_of(part.arg, size);
		add_part(&making, &part);
	}
	end_capture(&making);
	vec_release(&making.file);
	vec_release(&making.sides);
	return making.files;
}

static uint64_t sum(const struct fact_reason *reasons)
{
	uint64_t sum = 0;

	for (int i = 0; i < FACT_MAX_REASONS; i++)
		sum = order_sum(sum, reasons[i].count);
	return sum;
}

/* Whatever a capture says, each send, receive and byte is accounted for. */
static void check(const struct fact_totals *totals)
{
	if (totals->sends != totals->matched + totals->ambiguous + sum(totals->unmatched_sends))
		harness_fail("sends are not accounted for");
	if (totals->receives !=
	    totals->matched + totals->ambiguous + sum(totals->unmatched_receives))
		harness_fail("receives are not accounted for");
	if (totals->data_bytes != totals->to_op_bytes + totals->unexplained_bytes)
		harness_fail("bytes are not accounted for");
	if (totals->wayless_bytes != sum(totals->wayless) ||
	    totals->wayless_bytes > totals->way_bytes)
		harness_fail("bytes of messages are not accounted for");
}

static bool run(struct analysis *analysis, const struct fact_sink *sink, struct fact_totals *totals)
{
	if (analysis_run(analysis, sink, totals))
		return false;
	check(totals);
	return true;
}

static void report(struct analysis *analysis, enum shown shown, FILE *out)
{
	struct report *report = report_new(NULL);
	struct report_text_options options = { .verbose = 2, .width = 100 };
	struct fact_sink sink = report_sink(report);
	struct fact_totals totals = { 0 };

	if (run(analysis, &sink, &totals)) {
		report_finish(report, &totals);
		if (shown == SHOWN_TEXT)
			report_text(report, &options, out);
		else if (shown == SHOWN_FOLDED)
			report_folded(report, REPORT_CALLS, out);
		else
			report_json(report, out);
	}
	report_free(report);
}

static void judge(struct analysis *analysis, FILE *out)
{
	struct policy *policy = policy_default();
	struct judge *judge = judge_new(policy);
	struct fact_sink sink = judge_sink(judge);
	struct fact_totals totals = { 0 };
	const struct judge_output how = { .verbose = true };

	if (run(analysis, &sink, &totals)) {
		judge_finish(judge, &totals, 0);
		judge_json(judge, &how, out);
	}
	judge_free(judge);
	policy_free(policy);
}

/* path: of a format that writes no stream; NULL */
static void export(struct analysis *analysis, const struct export_format *format, const char *path,
		   FILE *out)
{
	const struct export_request request = { .format = format };
	struct export_target target = { .request = &request, .file = out, .path = path };
	struct fact_totals totals = { 0 };
	struct fact_sink sink;
	int err = 0;
	void *state = format->begin(&target, &err);

	if (!state)
		return;
	sink = format->sink(state);
	if (run(analysis, &sink, &totals))
		format->end(state, &totals);
	format->free(state);
}

static void export_folder(struct analysis *analysis, const struct export_format *format)
{
	char path[] = "/dev/shm/ucxbpf-fuzz-XXXXXX";

	if (!mkdtemp(path))
		abort();
	export(analysis, format, path, NULL);
	export_remove(path);
}

/* An archive takes three times as long as tables, and these as a database: few have one. */
static void export_files(struct analysis *analysis, size_t size)
{
	if (size % 16 == 0)
		export_folder(analysis, &export_otf2);
	else if (size % 4 == 0)
		export_folder(analysis, &export_csv);
	else
		export(analysis, &export_sqlite, ":memory:", NULL);
}

static void page(struct analysis *analysis, FILE *out)
{
	const struct page_options options = { .cells = 1000, .spans = 1000, .events = 1000 };
	struct page *page = page_new(&options);
	struct fact_sink sink = page_sink(page);
	struct fact_totals totals = { 0 };

	if (run(analysis, &sink, &totals))
		page_write(page, &totals, out);
	page_free(page);
}

static void take_fact(void *arg, enum fact_type type, const void *fact,
		      const struct fact_sums *sums)
{
	(void)arg;
	(void)type;
	(void)fact;
	(void)sums;
}

/* All that comes before a report. */
static void explain(struct analysis *analysis)
{
	const struct fact_sink sink = { .fact = take_fact };
	struct fact_totals totals = { 0 };

	run(analysis, &sink, &totals);
}

static void show(struct analysis *analysis, enum shown shown, size_t size, FILE *out)
{
	if (shown == SHOWN_VERDICT)
		judge(analysis, out);
	else if (shown == SHOWN_EVENTS)
		export(analysis, &export_ndjson, NULL, out);
	else if (shown == SHOWN_TIMELINE)
		export(analysis, &export_perfetto, NULL, out);
	else if (shown == SHOWN_PAGE)
		page(analysis, out);
	else if (shown == SHOWN_FILES)
		export_files(analysis, size);
	else
		report(analysis, shown, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct analysis *analysis;
	enum shown shown;
	unsigned int files, added = 0;
	const char *why;
	size_t length;
	char *text;
	FILE *out;

	encoder = encoder ? encoder : encoder_new();
	files = make_captures(data, size, &shown);
	analysis = analysis_new();
	for (unsigned int i = 0; i < files; i++)
		added += !analysis_add_file(analysis, harness_path(i), &why);
	if (added && !harness_shows(data, size)) {
		explain(analysis);
	} else if (added) {
		out = xmemstream(&text, &length);
		show(analysis, shown, size, out);
		fclose(out);
		/* it takes as long as making it: for some */
		if (size % 4 == 0 && is_json(shown))
			harness_check_json(text, length);
		free(text);
	}
	analysis_free(analysis);
	return 0;
}
