// SPDX-License-Identifier: BSD-3-Clause
#include "trust/graphs/made.h"

#include <string.h>

#include "trust/graphs/memory.h"

/* Offsets in an element, which fills a page: the next one is in the next page. */
#define LINK 0xe00
#define EP 0x100
#define EXT 0x400
#define UCT_EPS 0x800
#define UCT_EP 0xc00
#define POINTER 0x100
#define CACHE 0x200
#define ENTRIES 0x400
#define REGION_AT 0x600

/* As user/observe/process/snapshot_queues.c and snapshot_sends.c have them. */
#define TM_UNEXPECTED 48
#define DESC_ALL 16
#define POOL_DATA 8
#define REGION 1
#define DIRECTORY 2
#define DEPTH 14 /* one less than ucx_memory.c goes down */

static const uint64_t lock_sizes[] = { 8, 56 };

struct made_owner made_owner;

static void put(uint8_t *page, uint64_t at, uint64_t value)
{
	if (at <= PAGE_BYTES - sizeof(value))
		memcpy(page + at, &value, sizeof(value));
}

static uint64_t part_of(enum made kind)
{
	return MADE + (uint64_t)kind * MADE_PART;
}

/* Has all lanes, each over another UCT endpoint. */
static void fill_ep(uint64_t address, uint8_t *page)
{
	const struct layout *layout = made_owner.layout;
	const uint64_t ep = layout->ep_ext_is_stride ? EXT : EP;

	for (unsigned int i = 0; i < layout->ep_uct_eps_max; i++) {
		put(page, ep + layout->ep_uct_eps + i * 8, address + UCT_EP + i * 8);
		put(page, UCT_EP + i * 8, made_owner.iface);
	}
	for (unsigned int i = 0; i < 64; i++)
		put(page, UCT_EPS + i * 8, address + UCT_EP + i % 8 * 8);
	if (!layout->ep_ext_is_stride)
		put(page, ep + layout->ep_ext, address + EXT);
	put(page, ep + layout->ep_flags, 0xffff);
	put(page, ep + layout->wire.ep_worker, made_owner.worker);
}

static void fill_ext(uint64_t address, uint8_t *page, uint64_t previous, uint64_t next)
{
	const struct layout *layout = made_owner.layout;

	put(page, EXT + layout->ext_ep_list, previous);
	put(page, EXT + layout->ext_ep_list + 8, next + EXT + layout->ext_ep_list);
	if (layout->ext_control != UB_OFF_UNKNOWN)
		put(page, EXT + layout->ext_control, address);
	if (layout->ext_uct_eps != UB_OFF_UNKNOWN)
		put(page, EXT + layout->ext_uct_eps, address + UCT_EPS);
	if (!layout->ep_ext_is_stride)
		put(page, EXT, address + EP);
}

/* Where extensions lie that far behind their endpoints, so many pages of these, then of those. */
static uint64_t pages_between(void)
{
	const struct layout *layout = made_owner.layout;

	return layout->ep_ext_is_stride ? layout->ep_ext / PAGE_BYTES : 0;
}

static uint64_t first_ext(void)
{
	return part_of(MADE_ENDPOINTS) + pages_between() * PAGE_BYTES;
}

static void fill_endpoint(uint64_t address, uint8_t *page)
{
	const uint64_t worker = made_owner.worker, between = pages_between();
	const uint64_t link = EXT + made_owner.layout->ext_ep_list;
	const uint64_t number = (address - part_of(MADE_ENDPOINTS)) / PAGE_BYTES;
	const uint64_t in_row = between ? number % between : 1, row = between * PAGE_BYTES;
	uint64_t previous = address - PAGE_BYTES - (in_row ? 0 : row) + link;

	if (address == first_ext())
		previous = worker + made_owner.layout->worker_all_eps;
	if (!between || number / between % 2 == 0)
		fill_ep(address, page);
	if (!between || number / between % 2)
		fill_ext(address, page, previous,
			 address + PAGE_BYTES + (in_row + 1 == between ? row : 0));
}

static void fill_receive(uint64_t address, uint8_t *page)
{
	const struct layout *layout = made_owner.layout;
	const uint64_t request = LINK - layout->recv_queue;

	put(page, LINK, address + LINK + PAGE_BYTES);
	put(page, request + layout->recv_worker, made_owner.worker);
}

static void fill_message(uint64_t address, uint8_t *page)
{
	const uint64_t head = made_owner.worker + made_owner.layout->worker_tm + TM_UNEXPECTED;
	const bool first = address == part_of(MADE_MESSAGES);

	put(page, LINK, first ? head : address + LINK - PAGE_BYTES);
	put(page, LINK + 8, address + LINK + PAGE_BYTES);
	put(page, LINK - DESC_ALL + 40, 1 << 6);
}

/* Each chunk says that it has as many requests as a number can say. */
static void fill_chunk(uint64_t address, uint8_t *page)
{
	const struct layout *layout = made_owner.layout;
	const uint64_t pool = made_owner.worker + layout->worker_req_mp;

	put(page, 0, layout->request_size);
	put(page, 8, 64);
	put(page, layout->mpool_chunks, address + LINK);
	put(page, LINK, address + LINK + PAGE_BYTES);
	put(page, LINK + 8, address + 0x200);
	put(page, LINK + 16, UINT32_MAX);
	for (uint64_t at = 0x200; at + 64 < LINK; at += 64)
		put(page, at, pool);
}

static void put_cache(uint64_t address, uint8_t *page, uint64_t regions)
{
	put(page, POINTER, address + CACHE);
	for (unsigned int i = 0; i < 2; i++) {
		const uint64_t table = CACHE + lock_sizes[i];

		put(page, table, (address + ENTRIES) | DIRECTORY);
		put(page, table + 16, ~0ull << 60);
		put(page, table + 24, 60 | regions << 32);
	}
	put(page, REGION_AT, address);
	put(page, REGION_AT + 8, address + 1);
}

static void put_entry(uint8_t *page, unsigned int i, uint64_t next, bool is_region)
{
	put(page, ENTRIES + i * 8,
	    is_region ? (next + REGION_AT) | REGION : (next + ENTRIES) | DIRECTORY);
}

/*
 * Directories of directories, as deep as they may be, and as many regions between them: a page's
 * number has its depth in the low bits.
 */
static void fill_regions(uint64_t address, uint8_t *page)
{
	put_cache(address, page, 1 << 20);
	for (unsigned int i = 0; i < 16; i++) {
		const bool is_region = i % 2 || address / PAGE_BYTES % 16 == DEPTH;
		const uint64_t next = address + (i + 1) * 16 * PAGE_BYTES;

		put_entry(page, i, is_region ? next : next + PAGE_BYTES, is_region);
	}
}

/* A cache as it should be: every second entry is a directory of regions. */
static void fill_table(uint64_t address, uint8_t *page)
{
	const bool is_root = address == part_of(MADE_TABLE);

	put_cache(address, page, 8 * 16 + 8);
	for (unsigned int i = 0; i < 16; i++)
		put_entry(page, i, address + (is_root ? (i + 1) * 16 : i) * PAGE_BYTES,
			  !is_root || i % 2);
}

void made_fill(uint64_t address, uint8_t *page)
{
	static void (*const fills[MADE_KINDS])(uint64_t address, uint8_t * page) = {
		[MADE_ENDPOINTS] = fill_endpoint, [MADE_RECEIVES] = fill_receive,
		[MADE_MESSAGES] = fill_message,   [MADE_CHUNKS] = fill_chunk,
		[MADE_REGIONS] = fill_regions,    [MADE_TABLE] = fill_table,
	};
	const uint64_t kind = (address - MADE) / MADE_PART;

	if (kind < MADE_KINDS)
		fills[kind](address, page);
}

void made_insert(enum made kind)
{
	const struct layout *layout = made_owner.layout;
	const uint64_t worker = made_owner.worker, first = part_of(kind);

	switch (kind) {
	case MADE_ENDPOINTS:
		memory_replace(worker + layout->worker_all_eps + 8,
			       first_ext() + EXT + layout->ext_ep_list);
		break;
	case MADE_RECEIVES:
		memory_replace(worker + layout->worker_tm, first + LINK);
		memory_replace(worker + layout->worker_tm + 8, first);
		break;
	case MADE_MESSAGES:
		memory_replace(worker + layout->worker_tm + TM_UNEXPECTED + 8, first + LINK);
		break;
	case MADE_CHUNKS:
		memory_replace(worker + layout->worker_req_mp + POOL_DATA, first);
		break;
	default:
		break;
	}
}

uint64_t made_cache(enum made kind)
{
	return part_of(kind) + POINTER;
}
