// SPDX-License-Identifier: BSD-3-Clause
/* From facts to codes and sums. */
#include "show/page/internal.h"

uint32_t page_code(int process)
{
	return (uint32_t)(process + 1);
}

static uint32_t word(struct page *page, const char *text)
{
	return page_word(&page->words, text);
}

uint32_t page_place_code(struct page *page, const struct place *place)
{
	uint64_t *code;
	bool fresh;

	if (!place)
		return 0;
	code = map_insert(&page->place_codes, (uintptr_t)place->key, 0, &fresh);
	if (fresh) {
		vec_push(&page->places, place);
		*code = page->places.len;
	}
	return (uint32_t)*code;
}

void page_sum_bytes(struct page_sums *sums, uint64_t bytes)
{
	if (bytes == UINT64_MAX)
		sums->of[SUM_BYTES_UNKNOWN]++;
	else
		sums->of[SUM_BYTES] += bytes;
}

bool page_timed(uint64_t start, uint64_t end, enum fact_precision precision)
{
	return end && end >= start && precision != TIME_UNKNOWN;
}

void page_sum_time(struct page_sums *sums, uint64_t start, uint64_t end,
		   enum fact_precision precision)
{
	if (!page_timed(start, end, precision))
		return;
	sums->of[SUM_TIMED]++;
	sums->of[SUM_TIME] += end - start;
	sums->precisions |= (uint8_t)(1u << precision);
}

struct page_sums page_sums_of(const struct fact_sums *from)
{
	struct page_sums sums = { .of = { [SUM_COUNT] = from->count,
					  [SUM_BYTES] = from->bytes,
					  [SUM_BYTES_UNKNOWN] = from->bytes_unknown,
					  [SUM_TIMED] = from->timed,
					  [SUM_TIME] = from->time } };

	if (from->timed)
		sums.precisions = (uint8_t)(1u << from->precision);
	return sums;
}

/* Length of one of several, as far as they are alike. */
uint64_t page_mean_bytes(const struct fact_sums *from)
{
	uint64_t known = from->count - from->bytes_unknown;

	return known ? from->bytes / known : from->count ? UINT64_MAX : 0;
}

struct page_key page_call_key(struct page *page, const struct fact_call *call)
{
	return (struct page_key){ .code = {
					  [COLUMN_PROCESS] = page_code(call->process),
					  [COLUMN_FUNCTION] = word(page, call->function),
					  [COLUMN_PLACE] = page_place_code(page, call->place),
				  } };
}

struct page_key page_op_key(struct page *page, const struct fact_op *op)
{
	return (struct page_key){ .code = {
					  [COLUMN_PROCESS] = page_code(op->process),
					  [COLUMN_PEER] = page_code(op->peer),
					  [COLUMN_FUNCTION] = word(page, op->function),
					  [COLUMN_PLACE] = page_place_code(page, op->place),
					  [COLUMN_UCP_OP] = word(page, op->op),
					  [COLUMN_PROTOCOL] = word(page, op->protocol),
					  [COLUMN_MEMORY] = word(page, op->memory),
					  [COLUMN_MEMORY_REASON] = word(page, op->memory_reason),
					  [COLUMN_MEMORY_KNOWN_BY] =
						  word(page, op->memory_known_by),
				  } };
}

static bool fetches(const struct fact_transfer *transfer)
{
	return fact_fetches(transfer->op, transfer->transport);
}

struct page_key page_transfer_key(struct page *page, const struct fact_transfer *transfer)
{
	bool fetch = fetches(transfer);
	uint32_t here = page_code(transfer->process), there = page_code(transfer->peer);

	return (struct page_key){ .code = {
					  [COLUMN_PROCESS] = here,
					  [COLUMN_PEER] = there,
					  [COLUMN_SRC] = fetch ? there : here,
					  [COLUMN_DST] = fetch ? here : there,
					  [COLUMN_FUNCTION] = word(page, transfer->function),
					  [COLUMN_PLACE] = page_place_code(page, transfer->place),
					  [COLUMN_UCP_OP] = word(page, transfer->ucp_op),
					  [COLUMN_OP] = word(page, transfer->op),
					  [COLUMN_PROTOCOL] = word(page, transfer->protocol),
					  [COLUMN_TRANSPORT] = word(page, transfer->transport),
					  [COLUMN_DEVICE] = word(page, transfer->device),
					  [COLUMN_SRC_MEM] = word(page, transfer->src_mem),
					  [COLUMN_DST_MEM] = word(page, transfer->dst_mem),
					  [COLUMN_SRC_REASON] = word(page, transfer->src_reason),
					  [COLUMN_DST_REASON] = word(page, transfer->dst_reason),
					  [COLUMN_LOCALITY] = transfer->locality,
					  [COLUMN_KIND] = transfer->kind,
				  } };
}

struct page_key page_message_key(struct page *page, const struct fact_message *message)
{
	return (struct page_key){ .code = {
					  [COLUMN_SRC] = page_code(message->src),
					  [COLUMN_DST] = page_code(message->dst),
					  [COLUMN_FUNCTION] = word(page, message->function),
					  [COLUMN_UCP_OP] = word(page, message->send_op),
					  [COLUMN_SRC_MEM] = word(page, message->src_mem),
					  [COLUMN_DST_MEM] = word(page, message->dst_mem),
					  [COLUMN_SRC_REASON] = word(page, message->src_reason),
					  [COLUMN_DST_REASON] = word(page, message->dst_reason),
					  [COLUMN_CHAIN] = word(page, message->chain),
					  [COLUMN_VIA] = word(page, message->via),
					  [COLUMN_CHAIN_REASON] = word(page, message->chain_reason),
				  } };
}

struct page_sums page_transfer_sums(const struct fact_transfer *transfer)
{
	struct page_sums sums = { .of = { [SUM_COUNT] = 1 } };

	if (transfer->retried)
		return (struct page_sums){ .of = { [SUM_RETRIES] = 1 } };
	page_sum_bytes(&sums, transfer->bytes);
	if (transfer->wire_bytes != UINT64_MAX)
		sums.of[SUM_WIRE_BYTES] = transfer->wire_bytes;
	if (transfer->unexplained && transfer->bytes != UINT64_MAX)
		sums.of[SUM_UNEXPLAINED] = transfer->bytes;
	page_sum_time(&sums, transfer->start, transfer->end, transfer->end_precision);
	return sums;
}
