// SPDX-License-Identifier: BSD-3-Clause
/* Transfers of messages between GPUs: whose they are, and which of them are copies on the way. */
#include "match_ways.h"

struct sum {
	uint64_t count, bytes;
};

static bool is_like(const struct fact_transfer *transfer, int process, enum fact_kind kind,
		    const char *transport, const char *op)
{
	return transfer->process == process && transfer->kind == kind &&
	       !strcmp(transfer->transport, transport) && !strcmp(transfer->op, op);
}

static struct sum sum_of(const struct pair *p, int process, enum fact_kind kind,
			 const char *transport, const char *op)
{
	struct sum sum = { 0 };

	for (size_t i = 0; i < p->out.transfers.len; i++) {
		const struct fact_transfer *transfer = &p->out.transfers.data[i];

		if (!is_like(transfer, process, kind, transport, op))
			continue;
		assert_string_equal(transfer->ucp_op, process ? "tag_recv" : "tag_send");
		assert_string_equal(transfer->function, process ? "MPI_Recv" : "MPI_Send");
		assert_int_equal(transfer->peer, kind == KIND_COPY ? process : !process);
		sum.count++;
		sum.bytes += transfer->bytes;
	}
	return sum;
}

static void are(const struct pair *p, int process, enum fact_kind kind, const char *transport,
		const char *op, uint64_t count, uint64_t bytes)
{
	struct sum sum = sum_of(p, process, kind, transport, op);

	assert_int_equal(sum.count, count);
	assert_int_equal(sum.bytes, bytes);
}

/* All of them, one like the other. */
static void go(const struct pair *p, int process, enum fact_kind kind, const char *transport,
	       const char *from, const char *to)
{
	unsigned int count = 0;

	for (size_t i = 0; i < p->out.transfers.len; i++) {
		const struct fact_transfer *transfer = &p->out.transfers.data[i];

		if (transfer->process != process || transfer->kind != kind ||
		    strcmp(transfer->transport, transport))
			continue;
		assert_string_equal(transfer->src_mem ? transfer->src_mem : transfer->src_reason,
				    from);
		assert_string_equal(transfer->dst_mem ? transfer->dst_mem : transfer->dst_reason,
				    to);
		assert_true(!transfer->src_mem == !!transfer->src_reason);
		assert_true(!transfer->dst_mem == !!transfer->dst_reason);
		count++;
	}
	assert_true(count > 0);
}

static void totals_are(const struct pair *p, uint64_t data, uint64_t copies, uint64_t copied)
{
	assert_int_equal(p->out.totals.data_bytes, data);
	assert_int_equal(p->out.totals.to_op_bytes, data);
	assert_int_equal(p->out.totals.to_call_bytes, data);
	assert_int_equal(p->out.totals.copies, copies);
	assert_int_equal(p->out.totals.copy_bytes, copied);
	assert_int_equal(p->out.totals.copy_unexplained_bytes, 0);
	assert_int_equal(p->out.totals.matched, 1);
}

/* The one message; NULL: not known, then via is the reason. */
static void went(const struct pair *p, const char *chain, const char *via, uint64_t copies,
		 uint64_t copied)
{
	const struct fact_message *message = &p->out.messages.data[0];

	assert_int_equal(p->out.messages.len, 1);
	if (chain) {
		assert_null(message->chain_reason);
		assert_string_equal(message->chain, chain);
		assert_string_equal(message->via, via);
	} else {
		assert_null(message->chain);
		assert_null(message->via);
		assert_string_equal(message->chain_reason, via);
	}
	assert_int_equal(message->copies, copies);
	assert_int_equal(message->copy_bytes, copied);
	assert_string_equal(message->src_mem, "gpu0");
	assert_string_equal(message->dst_mem, "gpu1");
	assert_null(message->src_reason);
	assert_null(message->dst_reason);
}

static void eager(void **state)
{
	struct pair p;

	(void)state;
	ways_init(&p);
	ways_post(&p.b, 7, 4096, TARGET, RECV_REQ);
	ways_send(&p.a, &p.b, 7, 1009, SOURCE + 64, 0);
	ways_pack(&p.a, &p.b, 7, 1009, SOURCE + 64, 0);
	job_op_end(&p.a);
	ways_unpack(&p.b, 7, 1009, TARGET, RECV_REQ);
	pair_analyse(&p);
	are(&p, 0, KIND_DATA, "posix", "am_bcopy", 1, 1009);
	are(&p, 0, KIND_COPY, "cuda_copy", "get_short", 1, 1009);
	are(&p, 1, KIND_COPY, "cuda_copy", "put_short", 1, 1009);
	totals_are(&p, 1009, 2, 2 * 1009);
	go(&p, 0, KIND_COPY, "cuda_copy", "gpu0", "host");
	go(&p, 0, KIND_DATA, "posix", "host", "host");
	go(&p, 1, KIND_COPY, "cuda_copy", "host", "gpu1");
	went(&p, "gpu0,host,host,gpu1", "cuda_copy,posix,cuda_copy", 2, 2 * 1009);
	pair_release(&p);
}

/* Sent later, while UCX progresses: the copy runs inside of a transfer, not of an operation. */
static void eager_later(void **state)
{
	struct pair p;

	(void)state;
	ways_init(&p);
	ways_post(&p.b, 7, 4096, TARGET, RECV_REQ);
	ways_post(&p.b, 8, 4096, TARGET + 4096, RECV_REQ + 0x800);
	ways_send(&p.a, &p.b, 7, 1009, SOURCE, SEND_REQ);
	job_op_end(&p.a);
	ways_pack(&p.a, &p.b, 7, 1009, SOURCE, SEND_REQ);
	job_comp(&p.a, AT_SEND_CB, SEND_REQ, 0, 0);
	ways_unpack(&p.b, 7, 1009, TARGET, RECV_REQ);
	pair_analyse(&p);
	are(&p, 0, KIND_COPY, "cuda_copy", "get_short", 1, 1009);
	are(&p, 1, KIND_COPY, "cuda_copy", "put_short", 1, 1009);
	totals_are(&p, 1009, 2, 2 * 1009);
	pair_release(&p);
}

static const struct fact_op *cause_of(const struct pair *p, const struct fact_transfer *transfer)
{
	for (size_t i = 0; i < p->out.ops.len; i++)
		if (p->out.ops.data[i].id == transfer->caused_by)
			return &p->out.ops.data[i];
	return NULL;
}

/* Receives into one buffer are filled in the order in which they were posted, by tag. */
static void window(void **state)
{
	const uint64_t posted[] = { 7, 8, 7 }, tags[] = { 7, 7, 8 };
	const uint64_t bytes[] = { 1009, 1013, 1019 }, reqs[] = { 0xa000, 0xb000, 0xa800 };
	struct ub_op *op;
	struct pair p;

	(void)state;
	ways_init(&p);
	for (uint64_t i = 0; i < 3; i++) {
		job_call(&p.b, AT_MPI_RECV);
		op = job_op(&p.b, AT_TAG_RECV, WORKER(2), posted[i], 4096, RECV_REQ + i * 0x800);
		op->aux = UINT64_MAX;
		op->cb = 0x5000;
		op->buffer = TARGET;
		job_op_end(&p.b);
	}
	for (int i = 0; i < 3; i++) {
		ways_send(&p.a, &p.b, tags[i], bytes[i], SOURCE, 0);
		ways_pack(&p.a, &p.b, tags[i], bytes[i], SOURCE, 0);
		job_op_end(&p.a);
	}
	for (int i = 0; i < 3; i++)
		ways_unpack(&p.b, tags[i], bytes[i], TARGET, reqs[i]);
	pair_analyse(&p);
	assert_int_equal(p.out.totals.matched, 3);
	for (size_t i = 0; i < p.out.transfers.len; i++)
		assert_int_equal(cause_of(&p, &p.out.transfers.data[i])->bytes,
				 p.out.transfers.data[i].bytes);
	assert_int_equal(p.out.totals.way_bytes, 1009 + 1013 + 1019);
	assert_int_equal(p.out.totals.wayless_bytes, 0);
	pair_release(&p);
}

/* Without a GPU library no memory is named, but bytes that no transfer of the message has are told:
 * of two messages one is fetched, of the other one only what announces it was seen. */
static void on_hosts(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "start");
	ways_fetched(&p, 5, 70001);
	ways_post(&p.b, 6, 70003, TARGET, RECV_REQ);
	ways_rts(&p, 6, 70003);
	p.b.rx = 0;
	ways_control(&p.b, &p.a, AT_AM_SHORT, 10, SEND_REQ, AT_RX_ATS);
	ways_done(&p, 6, 70003);
	pair_analyse(&p);
	assert_int_equal(p.out.totals.matched, 2);
	assert_int_equal(p.out.totals.unexplained_bytes, 0);
	assert_int_equal(p.out.totals.way_bytes, 70001 + 70003);
	assert_int_equal(p.out.totals.wayless_bytes, 70003);
	assert_string_equal(p.out.totals.wayless[0].reason, "no transfer of its data was seen");
	for (size_t i = 0; i < p.out.messages.len; i++)
		assert_null(p.out.messages.data[i].src_mem);
	pair_release(&p);
}

/* Asks for the data of a message that met a receive, and gets it; where it is unpacked has no
 * probe. */
static void ask(struct pair *p, uint64_t req, uint64_t bytes)
{
	struct ub_xfer *xfer = job_xfer(&p->b, &p->a, AT_AM_SHORT, 11, 40, 0);

	xfer->w[0] = SEND_REQ + bytes;
	xfer->w[1] = req;
	xfer->h.flags = UB_F_WIRE;
}

static void send_data(struct pair *p, uint64_t req, uint64_t bytes)
{
	struct ub_xfer *xfer =
		job_xfer(&p->a, &p->b, AT_AM_BCOPY, 12, (int64_t)bytes + 16, SEND_REQ + bytes);

	xfer->w[0] = req;
	xfer->h.flags = UB_F_WIRE;
}

/* Two receives into one buffer, whose data comes in the other order: the sender's record tells. */
static void window_of_data(void **state)
{
	const uint64_t bytes[] = { 4099, 5003 }, reqs[] = { RECV_REQ, RECV_REQ + 0x800 };
	struct ub_match *match;
	struct pair p;

	(void)state;
	ways_init(&p);
	for (int i = 0; i < 2; i++)
		ways_post(&p.b, 7, 8192, TARGET, reqs[i]);
	for (int i = 0; i < 2; i++) {
		ways_send(&p.a, &p.b, 7, bytes[i], SOURCE, SEND_REQ + bytes[i]);
		job_op_end(&p.a);
		match = job_add(&p.b, AT_MATCHED, 0);
		match->worker = WORKER(2);
		match->req = reqs[i];
		match->tag = 7;
		match->ep_id = EP(2, 1);
		match->req_id = SEND_REQ + bytes[i];
		match->size = bytes[i];
		ask(&p, reqs[i], bytes[i]);
	}
	for (int i = 2; i-- > 0;)
		send_data(&p, reqs[i], bytes[i]);
	for (int i = 2; i-- > 0;)
		ways_copy(&p.b, AT_PUT_SHORT, bytes[i], BOUNCE, TARGET);
	for (int i = 0; i < 2; i++)
		job_comp(&p.b, AT_RECV_CB, reqs[i], 7, bytes[i]);
	pair_analyse(&p);
	assert_int_equal(p.out.totals.copies, 2);
	assert_int_equal(p.out.totals.copy_unexplained_bytes, 0);
	for (size_t i = 0; i < p.out.transfers.len; i++)
		if (p.out.transfers.data[i].kind == KIND_COPY)
			assert_int_equal(cause_of(&p, &p.out.transfers.data[i])->bytes,
					 p.out.transfers.data[i].bytes);
	pair_release(&p);
}

/* A copy of memory that no operation has: counted as such, and no data. */
static void strange(void **state)
{
	struct pair p;

	(void)state;
	ways_init(&p);
	ways_copy(&p.a, AT_PUT_SHORT, 1013, BOUNCE, SOURCE + 8192);
	ways_post(&p.b, 8, 4096, TARGET, RECV_REQ);
	ways_copy(&p.b, AT_PUT_SHORT, 1019, BOUNCE, TARGET + 4096);
	pair_analyse(&p);
	assert_int_equal(p.out.totals.data_bytes, 0);
	assert_int_equal(p.out.totals.copies, 2);
	assert_int_equal(p.out.totals.copy_bytes, 1013 + 1019);
	assert_int_equal(p.out.totals.copy_unexplained_bytes, 1013 + 1019);
	pair_release(&p);
}

/* The memory of two operations at once, with nothing else to tell them apart: not known whose. */
static void by_memory(void **state)
{
	struct pair p;

	(void)state;
	ways_init(&p);
	for (uint64_t i = 0; i < 2; i++) {
		ways_send(&p.a, &p.b, i, 4096, SOURCE, SEND_REQ + i * 512);
		job_op_end(&p.a);
	}
	ways_copy(&p.a, AT_GET_SHORT, 1013, BOUNCE, SOURCE + 1);
	job_comp(&p.a, AT_SEND_CB, SEND_REQ, 0, 0);
	ways_copy(&p.a, AT_GET_SHORT, 1019, BOUNCE, SOURCE + 1);
	for (uint64_t i = 0; i < 2; i++)
		ways_post(&p.b, i, 4096, TARGET + i, RECV_REQ + i * 512);
	ways_copy(&p.b, AT_PUT_SHORT, 1021, BOUNCE, TARGET + 4096); /* the second one's alone */
	ways_copy(&p.b, AT_PUT_SHORT, 1031, BOUNCE, TARGET + 2);
	ways_copy(&p.b, AT_PUT_SHORT, 1033, BOUNCE, TARGET); /* the first one's alone */
	pair_analyse(&p);
	assert_int_equal(p.out.transfers.len, 5);
	assert_int_equal(p.out.totals.copy_unexplained_bytes, 1013 + 1031);
	for (size_t i = 0; i < 5; i++) {
		const struct fact_transfer *transfer = &p.out.transfers.data[i];
		const struct fact_op *op = &p.out.ops.data[0];

		if (transfer->bytes == 1013 || transfer->bytes == 1031)
			assert_int_equal(transfer->caused_by, 0);
		for (; transfer->caused_by && op->id != transfer->caused_by; op++)
			assert_true(op < p.out.ops.data + p.out.ops.len - 1);
		if (transfer->bytes == 1019 || transfer->bytes == 1021)
			assert_int_equal(op->tag, 1);
		if (transfer->bytes == 1033)
			assert_int_equal(op->tag, 0);
	}
	pair_release(&p);
}

static void fetched(void **state)
{
	struct pair p;

	(void)state;
	ways_init(&p);
	ways_fetched(&p, 7, 1048583);
	pair_analyse(&p);
	are(&p, 1, KIND_DATA, "cuda_ipc", "get_zcopy", 1, 1048583);
	totals_are(&p, 1048583, 0, 0);
	go(&p, 1, KIND_DATA, "cuda_ipc", "gpu0", "gpu1");
	went(&p, "gpu0,gpu1", "cuda_ipc", 0, 0);
	pair_release(&p);
}

static void staged_as(enum staging how)
{
	const uint64_t bytes = 8388617;
	struct pair p;

	ways_init(&p);
	ways_staged(&p, 7, bytes, 524288, how);
	pair_analyse(&p);
	are(&p, 0, KIND_COPY, "cuda_copy", "get_zcopy", 17, bytes);
	are(&p, 0, KIND_DATA, "cma", "put_zcopy", 17, bytes);
	are(&p, 1, KIND_COPY, "cuda_copy", "put_zcopy", 17, bytes);
	totals_are(&p, bytes, 34, 2 * bytes);
	go(&p, 0, KIND_COPY, "cuda_copy", "gpu0", "pinned");
	go(&p, 0, KIND_DATA, "cma", "pinned", "pinned");
	go(&p, 1, KIND_COPY, "cuda_copy", "pinned", "gpu1");
	went(&p, "gpu0,pinned,pinned,gpu1", "cuda_copy,cma,cuda_copy", 34, 2 * bytes);
	pair_release(&p);
}

static void staged(void **state)
{
	(void)state;
	staged_as(STAGED);
	staged_as(STAGED_V2);
}

/* Into memory of the peer's that is mapped: the copy is what brings the data there. */
static void mapped(void **state)
{
	const uint64_t bytes = 1048583;
	struct pair p;

	(void)state;
	ways_init(&p);
	ways_staged(&p, 7, bytes, 524288, STAGED_MAPPED);
	pair_analyse(&p);
	are(&p, 0, KIND_DATA, "cuda_copy", "get_zcopy", 3, bytes);
	for (size_t i = 0; i < p.out.transfers.len; i++)
		if (p.out.transfers.data[i].kind == KIND_DATA)
			assert_string_equal(p.out.transfers.data[i].protocol, "rndv/rkey_ptr");
	are(&p, 1, KIND_COPY, "cuda_copy", "put_zcopy", 3, bytes);
	totals_are(&p, bytes, 3, bytes);
	go(&p, 0, KIND_DATA, "cuda_copy", "gpu0", "host");
	go(&p, 1, KIND_COPY, "cuda_copy", "pinned", "gpu1");
	went(&p, "gpu0,pinned,gpu1", "cuda_copy,cuda_copy", 3, bytes);
	pair_release(&p);
}

/* One message after the other, with the same requests and parents of other messages' fragments. */
static void again(void **state)
{
	struct pair p;

	(void)state;
	ways_init(&p);
	for (int i = 0; i < 3; i++)
		ways_staged(&p, (uint64_t)i, 600011, 524288, STAGED_V2);
	pair_analyse(&p);
	are(&p, 0, KIND_COPY, "cuda_copy", "get_zcopy", 6, 3 * 600011);
	are(&p, 1, KIND_COPY, "cuda_copy", "put_zcopy", 6, 3 * 600011);
	assert_int_equal(p.out.totals.data_bytes, 3 * 600011);
	assert_int_equal(p.out.totals.matched, 3);
	for (size_t i = 0; i < p.out.transfers.len; i++) {
		const struct fact_transfer *transfer = &p.out.transfers.data[i];
		bool found = transfer->kind != KIND_COPY;

		for (size_t k = 0; !found && k < p.out.ops.len; k++)
			found = p.out.ops.data[k].id == transfer->caused_by &&
				p.out.ops.data[k].start < transfer->start &&
				p.out.ops.data[k].end >= transfer->start;
		assert_true(found);
	}
	pair_release(&p);
}

/* Fragments that nothing but the handler tells of: their parents send nothing, their memory is
 * UCX's.
 */
static void half_staged(void **state)
{
	const uint64_t at[] = { 0, 524288 }, bytes[] = { 524288, 75723 };
	struct pair p;

	(void)state;
	ways_init(&p);
	ways_post(&p.b, 7, 600011, TARGET, RECV_REQ);
	ways_rts(&p, 7, 600011);
	for (int i = 0; i < 2; i++)
		ways_move(&p.b, &p.a, AT_GET_ZCOPY, OVER_CMA, bytes[i], STAGE(2) + at[i],
			  STAGE(1) + at[i], 0xa200 + (uint64_t)i * 16, 0xa100)
			->status = i ? -2 : 1;
	p.b.rx = 0;
	ways_move(&p.b, &p.a, AT_GET_ZCOPY, OVER_CMA, bytes[1], STAGE(2) + at[1], STAGE(1) + at[1],
		  0xa210, 0xa100)
		->status = 1;
	ways_done(&p, 7, 600011);
	ways_post(&p.b, 8, 600011, TARGET, RECV_REQ);
	ways_rts(&p, 8, 600011);
	p.b.rx = 0;
	for (int i = 0; i < 2; i++) {
		job_rx(&p.a, AT_RX_RTR, 48, SEND_REQ, 0xa200 + (uint64_t)i * 16, 0);
		ways_move(&p.a, &p.b, AT_PUT_ZCOPY, OVER_CMA, bytes[i], STAGE(1) + at[i],
			  STAGE(2) + at[i], 0x9200, 0x9800);
		p.a.rx = 0;
	}
	ways_done(&p, 8, 600011);
	pair_analyse(&p);
	are(&p, 1, KIND_DATA, "cma", "get_zcopy", 3, 600011); /* one found no room at first */
	are(&p, 0, KIND_DATA, "cma", "put_zcopy", 2, 600011);
	assert_int_equal(p.out.totals.to_op_bytes, 2 * 600011);
	assert_int_equal(p.out.totals.unexplained_bytes, 0);
	assert_int_equal(p.out.totals.matched, 2);
	pair_release(&p);
}

/* A fragment's parent has the address of what was a receive's child: the receive is another one. */
static void stale_parent(void **state)
{
	const uint64_t child = 0x9800, other = 0x7000;
	struct pair p;

	(void)state;
	ways_init(&p);
	ways_post(&p.a, 9, 600011, SOURCE, other);
	ways_move(&p.a, &p.b, AT_PUT_ZCOPY, OVER_CMA, 64, STAGE(1), STAGE(2), child, other);
	ways_post(&p.b, 8, 600011, TARGET, RECV_REQ);
	ways_rts(&p, 8, 600011);
	p.b.rx = 0;
	job_rx(&p.a, AT_RX_RTR, 48, SEND_REQ, 0xa200, 0);
	ways_move(&p.a, &p.b, AT_PUT_ZCOPY, OVER_CMA, 524288, STAGE(1), STAGE(2), 0x9200, child);
	p.a.rx = 0;
	/* without room for it in the handler, it has its first one's */
	ways_move(&p.a, &p.b, AT_PUT_ZCOPY, OVER_CMA, 75723, STAGE(1), STAGE(2), 0x9200, child);
	ways_done(&p, 8, 600011);
	pair_analyse(&p);
	assert_int_equal(p.out.transfers.data[0].bytes, 64);
	assert_string_equal(p.out.transfers.data[0].ucp_op, "tag_recv");
	for (size_t i = 1; i < p.out.transfers.len; i++)
		if (p.out.transfers.data[i].kind == KIND_DATA)
			assert_string_equal(p.out.transfers.data[i].ucp_op, "tag_send");
	assert_int_equal(p.out.totals.to_op_bytes, 64 + 600011);
	pair_release(&p);
}

/* A fragment's RTR names the request that copies when the ATP has come: of the RTR's operation. */
static void named_in_an_rtr(void **state)
{
	const uint64_t fragment = 0xa200, parent = 0xa100, grandparent = 0x7000;
	struct pair p;
	struct ub_xfer *xfer;

	(void)state;
	ways_init(&p);
	ways_post(&p.b, 9, 600011, TARGET + 0x200000, grandparent);
	ways_move(&p.b, &p.a, AT_PUT_ZCOPY, OVER_CMA, 64, STAGE(1), STAGE(2), parent, grandparent);
	ways_post(&p.b, 8, 600011, TARGET, RECV_REQ);
	ways_rts(&p, 8, 600011);
	xfer = job_xfer(&p.b, &p.a, AT_AM_SHORT, 11, 74, 0);
	xfer->w[0] = SEND_REQ;
	xfer->w[1] = fragment;
	xfer->h.flags = UB_F_WIRE;
	p.b.rx = 0;
	job_rx(&p.b, AT_RX_ATP, 17, fragment, 0, 0);
	ways_stage(&p.b, AT_PUT_ZCOPY, 4099, STAGE(2), TARGET, fragment, parent);
	p.b.rx = 0;
	ways_done(&p, 8, 600011);
	pair_analyse(&p);
	for (size_t i = 0; i < p.out.transfers.len; i++) {
		const struct fact_transfer *transfer = &p.out.transfers.data[i];

		for (size_t k = 0; transfer->bytes == 4099 && k < p.out.ops.len; k++)
			if (p.out.ops.data[k].id == transfer->caused_by)
				assert_int_equal(p.out.ops.data[k].tag, 8);
	}
	assert_int_equal(p.out.totals.copies, 1);
	assert_int_equal(p.out.totals.copy_unexplained_bytes, 0);
	pair_release(&p);
}

/* From and to buffers of the process itself: the operation's own data. */
static void to_itself(void **state)
{
	struct pair p;
	struct ub_xfer *xfer;

	(void)state;
	ways_init(&p);
	job_op(&p.a, AT_GET, EP(1, 2), SOURCE, 4099, SEND_REQ)->buffer = SOURCE + 65536;
	xfer = ways_copy(&p.a, AT_GET_ZCOPY, 4099, SOURCE + 65536, SOURCE);
	xfer->req = SEND_REQ;
	job_op_end(&p.a);
	pair_analyse(&p);
	assert_int_equal(p.out.transfers.len, 1);
	assert_int_equal(p.out.transfers.data[0].kind, KIND_DATA);
	assert_int_equal(p.out.totals.data_bytes, 4099);
	assert_int_equal(p.out.totals.copies, 0);
	pair_release(&p);
}

static void host_init(struct job *job, const char *name, uint64_t now, struct task *task, int rank,
		      uint64_t buffer)
{
	job_init(job, name, "run");
	job->now = now;
	*task = job_process(job, (uint32_t)rank, rank - 1, "start");
	job_worker(task);
	job_driver(task);
	ways_process(task, rank, buffer);
}

/* What lies at an address of another host, the message's other operation tells, and nothing else.
 */
static void other_host(void **state)
{
	const uint64_t nic = 0x3500;
	struct job there;
	struct job *jobs[2];
	struct pair p;

	(void)state;
	host_init(&p.job, "host-a", 1000000, &p.a, 1, SOURCE);
	host_init(&there, "host-b", 5000000, &p.b, 2, TARGET);
	job_connect(&p.a, &p.b);
	job_connect(&p.b, &p.a);
	job_iface(&p.b, nic, "rc_mlx5");
	ways_post(&p.b, 7, 4099, TARGET, RECV_REQ);
	ways_rts(&p, 7, 4099);
	ways_move(&p.b, &p.a, AT_GET_ZCOPY, nic, 4099, TARGET, SOURCE, 0xa100, RECV_REQ);
	p.b.rx = 0;
	ways_done(&p, 7, 4099);
	ways_move(&p.b, &p.a, AT_GET_ZCOPY, nic, 4111, TARGET, SOURCE, 0, 0)->ucp_ep = EP(2, 1);
	jobs[0] = &p.job;
	jobs[1] = &there;
	analyse(&p.out, jobs, 2);
	assert_int_equal(p.out.transfers.len, 3);
	assert_int_equal(p.out.transfers.data[1].bytes, 4099);
	assert_string_equal(p.out.transfers.data[1].src_mem, "gpu1");
	assert_string_equal(p.out.transfers.data[1].dst_mem, "gpu2");
	assert_int_equal(p.out.transfers.data[2].bytes, 4111);
	assert_null(p.out.transfers.data[2].src_mem);
	assert_string_equal(p.out.transfers.data[2].src_reason, "memory of another host");
	assert_string_equal(p.out.transfers.data[2].dst_mem, "gpu2");
	job_release(&there);
	pair_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eager),           cmocka_unit_test(eager_later),
		cmocka_unit_test(strange),         cmocka_unit_test(by_memory),
		cmocka_unit_test(fetched),         cmocka_unit_test(staged),
		cmocka_unit_test(mapped),          cmocka_unit_test(again),
		cmocka_unit_test(to_itself),       cmocka_unit_test(half_staged),
		cmocka_unit_test(other_host),      cmocka_unit_test(stale_parent),
		cmocka_unit_test(named_in_an_rtr), cmocka_unit_test(window),
		cmocka_unit_test(on_hosts),        cmocka_unit_test(window_of_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
