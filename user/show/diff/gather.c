// SPDX-License-Identifier: BSD-3-Clause
/* Facts of runs to cells: facts with equal keys are counted together, by run and rank. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "base/units.h"
#include "show/diff/internal.h"

#define ALL_ROLES UINT64_MAX

/* ---- names ---- */

const char *diff_keep(struct diff *diff, const char *text)
{
	return strings_keep(&diff->names, text);
}

const char *diff_keepf(struct diff *diff, const char *format, ...)
{
	const char *kept;
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	kept = diff_keep(diff, text);
	free(text);
	return kept;
}

/* The name for a fact's string. Facts have one pointer per text, which is hashed once. */
static const char *name_of(struct diff *diff, const char *text)
{
	bool fresh;
	uint64_t *kept;

	if (!text)
		return NULL;
	kept = map_insert(&diff->kept, (uintptr_t)text, 0, &fresh);
	if (fresh)
		*kept = (uintptr_t)diff_keep(diff, text);
	return (const char *)(uintptr_t)*kept;
}

/* "4.00 KiB to 8.00 KiB": a class of sizes that are alike; sizes of 0 are one of their own. */
static const char *size_class(struct diff *diff, uint64_t bytes)
{
	char from[32], to[32];
	unsigned int power;

	if (bytes == UINT64_MAX)
		return NULL;
	if (!bytes)
		return diff_keep(diff, "0 B");
	power = 63u - (unsigned int)__builtin_clzll(bytes);
	if (!diff->classes[power]) {
		unit_bytes(from, sizeof(from), 1ull << power, false);
		unit_bytes(to, sizeof(to), power < 63 ? 2ull << power : UINT64_MAX, false);
		diff->classes[power] = diff_keepf(diff, "%s to %s", from, to);
	}
	return diff->classes[power];
}

/* ---- cells ---- */

static struct diff_cell *cell_at(struct diff *diff, enum diff_table_id table,
				 const char *const keys[DIFF_KEYS], uint64_t role)
{
	struct diff_amount amount = { .table = table };
	struct diff_cell cell = { .run = diff->runs.len - 1, .role = role };
	size_t n;

	memcpy(amount.keys, keys, sizeof(amount.keys));
	cell.amount = rowset_add(&diff->amounts_by_key, ROWSET_ROWS(&diff->amounts, sizeof(amount)),
				 &amount);
	if (cell.amount == diff->amounts.len)
		vec_push(&diff->amounts, amount);
	n = rowset_add(&diff->cells_by_key,
		       ROWSET_ROWS(&diff->cells, offsetof(struct diff_cell, count)), &cell);
	if (n == diff->cells.len)
		vec_push(&diff->cells, cell);
	return &diff->cells.data[n];
}

static const struct diff_member *member_at(const struct diff *diff, int process)
{
	static const struct diff_member nobody = { .host = -1, .rank = -1, .role = ALL_ROLES };

	if (process < 0 || (size_t)process >= diff->members.len ||
	    !diff->members.data[process].known)
		return &nobody;
	return &diff->members.data[process];
}

#define KEYS(...) ((const char *const[DIFF_KEYS]){ __VA_ARGS__ })

/* bytes: UINT64_MAX unknown. */
static void add_one(struct diff *diff, enum diff_table_id table, const char *const *keys,
		    int process, uint64_t bytes)
{
	struct diff_cell *cell = cell_at(diff, table, keys, member_at(diff, process)->role);

	cell->count++;
	cell->unknown += bytes == UINT64_MAX;
	cell->sum += bytes == UINT64_MAX ? 0 : bytes;
}

static void add_sums(struct diff *diff, enum diff_table_id table, const char *const *keys,
		     int process, const struct fact_sums *sums)
{
	struct diff_cell *cell = cell_at(diff, table, keys, member_at(diff, process)->role);

	cell->count += sums->count;
	cell->unknown += sums->bytes_unknown;
	cell->sum += sums->bytes;
}

static void add_time(struct diff *diff, enum diff_table_id table, const char *const *keys,
		     uint64_t start, uint64_t end, enum fact_precision precision)
{
	struct diff_cell *cell;

	if (precision != TIME_EXACT || !end || end < start)
		return;
	cell = cell_at(diff, table, keys, ALL_ROLES);
	if (!cell->spread)
		cell->spread = xcalloc(1, sizeof(*cell->spread));
	spread_add(cell->spread, end - start);
}

/* ---- facts ---- */

static void feed_call(struct diff *diff, const struct fact_call *call)
{
	const char *const *keys = KEYS(name_of(diff, call->function));

	add_one(diff, TABLE_CALLS, keys, call->process, 0);
	if (!call->open)
		add_time(diff, TABLE_CALL_TIMES, keys, call->start, call->end, call->end_precision);
}

/* Where the other end of an operation is, as far as the captures tell. */
static const char *locality_of(struct diff *diff, const struct fact_op *op)
{
	const struct diff_member *here = member_at(diff, op->process);
	const struct diff_member *there = member_at(diff, op->peer);
	enum fact_locality locality = LOCALITY_UNKNOWN;

	if (here->known && there->known && op->process == op->peer)
		locality = LOCALITY_SELF;
	else if (here->known && there->known && here->host >= 0)
		locality = here->host == there->host ? LOCALITY_NODE : LOCALITY_REMOTE;
	return name_of(diff, fact_locality_names[locality]);
}

static bool receives(const char *op)
{
	return op && strstr(op, "recv");
}

/* UCS_ERR_CANCELED (src/ucs/type/status.h): whether an operation still could be is timing. */
#define CANCELED (-16)

#define SIZES_MOST 65536u /* that are kept of all operations */

/* Receives have the protocol of their send. */
static void feed_protocol(struct diff *diff, const struct fact_op *op, const char *locality)
{
	const char *name = name_of(diff, op->op), *protocol = name_of(diff, op->protocol);
	const struct diff_size size = {
		.op = name,
		.locality = locality,
		.memory = name_of(diff, op->memory),
		.function = name_of(diff, op->function),
		.side = diff_now(diff)->side,
		.size = op->bytes,
		.protocol = protocol,
	};

	if (receives(op->op) || (!protocol && !op->sends))
		return;
	add_one(diff, TABLE_PROTOCOLS, KEYS(name, locality, protocol), op->process, op->bytes);
	if (!protocol || op->bytes == UINT64_MAX || diff->sizes.len >= SIZES_MOST)
		return;
	if (rowset_add(&diff->sizes_by_key, ROWSET_ROWS(&diff->sizes, sizeof(size)), &size) ==
	    diff->sizes.len)
		vec_push(&diff->sizes, size);
}

/* MPI's own code makes them where its call is not known: they are no difference of callers. */
static void feed_caller(struct diff *diff, const struct fact_op *op)
{
	const struct place *place = op->place;
	const char *caller = fact_caller(place);

	if (!place || !place->module)
		diff_now(diff)->uncalled = true;
	else if (caller)
		add_one(diff, TABLE_CALLERS,
			KEYS(diff_keep(diff, caller), name_of(diff, place->frame),
			     name_of(diff, op->op)),
			op->process, op->bytes);
}

static void feed_op(struct diff *diff, const struct fact_op *op)
{
	const char *name = name_of(diff, op->op), *locality = locality_of(diff, op);

	add_one(diff, TABLE_OPS, KEYS(name), op->process, op->bytes);
	if (!op->function)
		feed_caller(diff, op);
	if (op->status < 0 && op->status != CANCELED)
		add_one(diff, TABLE_FAILED, KEYS(name, diff_keepf(diff, "status %d", op->status)),
			op->process, 0);
	feed_protocol(diff, op, locality);
	add_time(diff, TABLE_OP_TIMES, KEYS(name, locality, size_class(diff, op->bytes)), op->start,
		 op->end, op->end_precision);
}

/* The keys of a path: of the interface that a transfer goes out on. */
#define PATH_OF(diff, transfer)                                                                    \
	KEYS(name_of(diff, (transfer)->transport), name_of(diff, (transfer)->device),              \
	     name_of(diff, (transfer)->op),                                                        \
	     name_of(diff, fact_locality_names[(transfer)->locality]),                             \
	     name_of(diff, fact_kind_names[(transfer)->kind]))
#define SHORT_PATH_OF(diff, transfer)                                                              \
	KEYS(name_of(diff, (transfer)->transport), name_of(diff, (transfer)->op))

static void feed_transfer(struct diff *diff, const struct fact_transfer *transfer)
{
	if (transfer->retried)
		return add_one(diff, TABLE_RETRIES, SHORT_PATH_OF(diff, transfer),
			       transfer->process, 0);
	if (transfer->kind == KIND_CONTROL)
		return add_one(diff, TABLE_CONTROL, SHORT_PATH_OF(diff, transfer),
			       transfer->process, 0);
	add_one(diff, TABLE_PATHS, PATH_OF(diff, transfer), transfer->process, transfer->bytes);
	add_time(diff, TABLE_TRANSFER_TIMES,
		 KEYS(name_of(diff, transfer->transport), name_of(diff, transfer->op),
		      name_of(diff, fact_locality_names[transfer->locality]),
		      size_class(diff, transfer->bytes)),
		 transfer->start, transfer->end, transfer->end_precision);
}

static void feed_transfers(struct diff *diff, const struct fact_transfer *transfer,
			   const struct fact_sums *sums)
{
	const struct fact_sums refused = { .count = sums->retries };

	if (sums->retries)
		add_sums(diff, TABLE_RETRIES, SHORT_PATH_OF(diff, transfer), transfer->process,
			 &refused);
	if (transfer->kind == KIND_CONTROL)
		add_sums(diff, TABLE_CONTROL, SHORT_PATH_OF(diff, transfer), transfer->process,
			 sums);
	else if (sums->count)
		add_sums(diff, TABLE_PATHS, PATH_OF(diff, transfer), transfer->process, sums);
}

static void feed_wait(struct diff *diff, const struct fact_wait *wait)
{
	add_one(diff, TABLE_WAITS, KEYS(name_of(diff, wait->kind), name_of(diff, wait->function)),
		wait->process, wait->ns);
}

/*
 * An algorithm, or the ones that such messages cannot distinguish. Any other operation may have
 * been each of them: it has neither members nor size, which come from messages. Between two ranks
 * all are the same.
 */
static void feed_collective(struct diff *diff, const struct fact_collective *collective)
{
	const char *function = name_of(diff, collective->function);
	const char *algorithm = collective->several ? collective->reason : collective->algorithm;

	if (collective->ranks == 2)
		return;
	if (!algorithm)
		return add_one(diff, TABLE_COLLECTIVES, KEYS(function), -1, 0);
	add_one(diff, TABLE_COLLECTIVES,
		KEYS(function, diff_keepf(diff, "%d ranks", collective->ranks),
		     size_class(diff, collective->bytes), name_of(diff, algorithm)),
		-1, 0);
}

static void feed_lifetime(struct diff *diff, const struct fact_lifetime *fact)
{
	struct diff_run *run = diff_now(diff);

	run->killed = run->killed || fact->exit_signal;
	run->ends_known = run->ends_known && (fact->exit_signal || fact->exit_status >= 0);
}

static void feed(void *arg, enum fact_type type, const void *fact, const struct fact_sums *sums)
{
	struct diff *diff = arg;

	switch (type) {
	case FACT_PROCESS:
		return diff_feed_process(diff, fact);
	case FACT_CALL:
		return feed_call(diff, fact);
	case FACT_OP:
		return feed_op(diff, fact);
	case FACT_TRANSFER:
		return feed_transfer(diff, fact);
	case FACT_WAIT:
		return feed_wait(diff, fact);
	case FACT_COLLECTIVE:
		return feed_collective(diff, fact);
	case FACT_LIFETIME:
		return feed_lifetime(diff, fact);
	case FACT_WINDOW:
		diff_now(diff)->windows = true;
		return;
	case FACT_CALLS:
		if (sums->count)
			add_sums(diff, TABLE_CALLS,
				 KEYS(name_of(diff, ((const struct fact_call *)fact)->function)),
				 ((const struct fact_call *)fact)->process, sums);
		return;
	case FACT_OPS:
		return add_sums(diff, TABLE_OPS,
				KEYS(name_of(diff, ((const struct fact_op *)fact)->op)),
				((const struct fact_op *)fact)->process, sums);
	case FACT_TRANSFERS:
		return feed_transfers(diff, fact, sums);
	default:
		return;
	}
}

/* ---- runs ---- */

struct diff *diff_new(void)
{
	return xcalloc(1, sizeof(struct diff));
}

static void forget_run(struct diff *diff)
{
	map_release(&diff->kept);
	diff->kept = (struct map){ 0 };
	vec_release(&diff->members);
	vec_release(&diff->hosts);
}

void diff_free(struct diff *diff)
{
	if (!diff)
		return;
	forget_run(diff);
	for (size_t i = 0; i < diff->cells.len; i++)
		free(diff->cells.data[i].spread);
	vec_release(&diff->cells);
	rowset_release(&diff->cells_by_key);
	vec_release(&diff->amounts);
	rowset_release(&diff->amounts_by_key);
	vec_release(&diff->settings);
	rowset_release(&diff->settings_by_key);
	vec_release(&diff->sizes);
	rowset_release(&diff->sizes_by_key);
	vec_release(&diff->limits.notes);
	strings_release(&diff->limits.derived);
	vec_release(&diff->rows);
	vec_release(&diff->runs);
	vec_release(&diff->roles);
	rowset_release(&diff->roles_by_key);
	strings_release(&diff->names);
	free(diff);
}

struct fact_sink diff_begin(struct diff *diff, enum diff_side side, const char *name)
{
	vec_push(&diff->runs, ((struct diff_run){ .side = side,
						  .name = diff_keep(diff, name),
						  .whole = true,
						  .ends_known = true }));
	diff->run_count[side]++;
	return (struct fact_sink){ diff, feed };
}

void diff_end(struct diff *diff, const struct fact_totals *totals)
{
	diff_run_limits(diff, totals);
	diff_feed_software(diff, totals);
	forget_run(diff);
}
