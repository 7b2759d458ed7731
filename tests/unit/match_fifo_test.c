// SPDX-License-Identifier: BSD-3-Clause
/* Joined in mid-run, nothing but short messages: positions in the FIFO tell which is which. */
#include "outcome.h"

#define SLOTS 4u

struct late {
	struct job job;
	struct task a, b;
	struct outcome out;
	uint64_t sent, arrived; /* positions */
};

static void late_init(struct late *late)
{
	memset(late, 0, sizeof(*late));
	job_init(&late->job, "host", "attach");
	late->a = job_process(&late->job, 1, 0, "attach");
	late->b = job_process(&late->job, 2, 1, "attach");
	job_snapshot(&late->a, &late->b);
	job_snapshot(&late->b, &late->a);
	job_snapshot_iface(&late->a, "posix", "memory", SLOTS);
	job_snapshot_iface(&late->b, "posix", "memory", SLOTS);
	late->sent = late->arrived = 1000;
}

static void late_analyse(struct late *late)
{
	struct job *jobs[] = { &late->job };

	analyse(&late->out, jobs, 1);
}

static void late_release(struct late *late)
{
	outcome_release(&late->out);
	job_release(&late->job);
}

/* duration: of the transfer, ns; the one that is returned may be changed until the next record. */
static struct ub_xfer *send_from(struct late *late, struct task *task, uint64_t tag, uint64_t bytes,
				 uint32_t duration)
{
	struct ub_xfer *xfer;

	job_call(task, AT_MPI_SEND);
	job_op(task, AT_TAG_SEND, EP(task->tgid, 2), tag, bytes, 0);
	xfer = job_xfer(task, &late->b, AT_AM_SHORT, 2, (int64_t)bytes + 8, 0);
	xfer->w[0] = tag;
	xfer->raddr = late->sent++;
	xfer->h.flags = UB_F_WIRE | UB_F_FIFO;
	xfer->h.dur = duration;
	task->op = 0;
	return xfer;
}

static struct ub_xfer *send_flagged(struct late *late, uint64_t tag, uint64_t bytes,
				    uint32_t duration)
{
	return send_from(late, &late->a, tag, bytes, duration);
}

static void send_plain(struct late *late, uint64_t tag, uint64_t bytes)
{
	struct ub_xfer *xfer = send_flagged(late, tag, bytes, 50);

	xfer->raddr = 0;
	xfer->h.flags = UB_F_WIRE;
}

static void arrive(struct late *late, uint64_t tag, uint64_t bytes)
{
	struct ub_rx *rx = job_rx(&late->b, AT_RX_EAGER, (uint32_t)bytes + 8, tag, 0, 0);

	rx->data = job_fifo_data(SLOTS, late->arrived++);
	late->b.rx = 0;
	job_take(&late->b, tag, UINT64_MAX, tag, bytes);
}

/* Something of the past arrives first: it shows that the handler is probed. */
static void arrive_from_before(struct late *late)
{
	late->sent++;
	arrive(late, 7, 3);
}

/* All messages look alike and some were under way at the attach: no order would tell. */
static void alike(void **state)
{
	struct late late;

	(void)state;
	late_init(&late);
	arrive_from_before(&late);
	late.sent++; /* sent before the attach, arrives after it */
	send_plain(&late, 7, 3);
	arrive(&late, 7, 3);
	send_flagged(&late, 7, 3, 50);
	arrive(&late, 7, 3);
	arrive(&late, 7, 3);
	send_plain(&late, 7, 3);
	arrive(&late, 7, 3);
	late_analyse(&late);
	assert_int_equal(late.out.totals.matched, 3);
	assert_int_equal(late.out.totals.sends, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(late.out.messages.data[i].send_start <
			    late.out.messages.data[i].arrival);
	late_release(&late);
}

/* What lay in the slot before may arrive while the send is still going on. */
static void slot_was_occupied(void **state)
{
	struct late late;

	(void)state;
	late_init(&late);
	arrive_from_before(&late);
	late.sent += SLOTS - 1; /* all under way */
	send_flagged(&late, 7, 3, 5000);
	for (unsigned int i = 0; i < SLOTS; i++)
		arrive(&late, 7, 3);
	late_analyse(&late);
	assert_int_equal(late.out.totals.matched, 0);
	late_release(&late);
}

/* Known to have been consumed: then the arrival may come before the send is done. */
static void slot_was_vacant(void **state)
{
	struct late late;

	(void)state;
	late_init(&late);
	arrive_from_before(&late);
	send_flagged(&late, 7, 3, 50);
	arrive(&late, 7, 3);
	for (unsigned int i = 0; i < 2 * SLOTS; i++) {
		send_flagged(&late, 7, 3, 5000);
		arrive(&late, 7, 3);
	}
	late_analyse(&late);
	assert_int_equal(late.out.totals.matched, 2 * SLOTS + 1);
	late_release(&late);
}

/* What two senders' messages look like does not matter where positions tell them apart. */
static void two_senders(void **state)
{
	struct late late;
	struct task c;

	(void)state;
	late_init(&late);
	c = job_process(&late.job, 3, 2, "attach");
	job_snapshot(&c, &late.b);
	job_snapshot_iface(&c, "posix", "memory", SLOTS);
	arrive_from_before(&late);
	for (unsigned int i = 0; i < 8; i++) {
		send_flagged(&late, 7, 3, 50);
		arrive(&late, 7, 3);
	}
	send_flagged(&late, 7, 3, 50);
	send_from(&late, &c, 7, 3, 50);
	arrive(&late, 7, 3);
	arrive(&late, 7, 3);
	late_analyse(&late);
	assert_int_equal(late.out.totals.ambiguous, 0);
	assert_int_equal(late.out.totals.matched, 10);
	assert_int_equal(late.out.messages.data[8].src, 0);
	assert_int_equal(late.out.messages.data[9].src, 2);
	late_release(&late);
}

struct claims {
	struct late late;
	struct task c; /* claims places of what a sends */
};

static void claims_init(struct claims *claims)
{
	late_init(&claims->late);
	claims->c = job_process(&claims->late.job, 3, 2, "attach");
	job_snapshot(&claims->c, &claims->late.b);
	job_snapshot_iface(&claims->c, "posix", "memory", SLOTS);
	arrive_from_before(&claims->late);
}

static void exchange(struct late *late, unsigned int messages)
{
	for (unsigned int i = 0; i < messages; i++) {
		send_flagged(late, 7, 3, 50);
		arrive(late, 7, 3);
	}
}

/* A send of c that never arrives. */
static void claim(struct claims *claims, uint64_t position)
{
	send_from(&claims->late, &claims->c, 7, 3, 50)->raddr = position;
	claims->late.sent--;
}

/* The arrival's record has its position, not its address. */
static void arrive_at(struct late *late, uint64_t tag, uint64_t bytes)
{
	struct ub_rx *rx = job_rx(&late->b, AT_RX_EAGER, (uint32_t)bytes + 8, tag, 0, 0);

	rx->data = late->arrived++;
	rx->h.flags |= UB_F_FIFO;
	rx->am_flags |= IFACE >> 4 << 16;
	late->b.rx = 0;
	job_take(&late->b, tag, UINT64_MAX, tag, bytes);
}

static void assert_of_a(struct claims *claims, unsigned int messages)
{
	struct outcome *out = &claims->late.out;

	late_analyse(&claims->late);
	assert_int_equal(out->totals.ambiguous, 0);
	assert_int_equal(out->totals.matched, messages);
	for (size_t i = 0; i < out->messages.len; i++)
		assert_int_equal(out->messages.data[i].src, 0);
	late_release(&claims->late);
}

/*
 * Two sends with one position, before or after: which of them is the message is not known, and that
 * a third one claims it as well changes nothing. The next messages have places of their own.
 */
static void claimed_twice(void **state)
{
	static void (*const arrives[])(struct late *, uint64_t, uint64_t) = { arrive, arrive_at };

	(void)state;
	for (size_t i = 0; i < sizeof(arrives) / sizeof(*arrives); i++)
		for (unsigned int before = 0; before <= 2; before++) {
			struct claims claims;
			uint64_t position;

			claims_init(&claims);
			exchange(&claims.late, 2);
			position = claims.late.sent;
			for (unsigned int k = 0; k < before; k++)
				claim(&claims, position);
			send_flagged(&claims.late, 7, 3, 50);
			for (unsigned int k = before; k < 2; k++)
				claim(&claims, position);
			arrives[i](&claims.late, 7, 3);
			exchange(&claims.late, 2);
			assert_of_a(&claims, 4);
		}
}

/* Likewise, of the next turn: the slot is the same. That turn's own send has the position. */
static void claimed_slot(void **state)
{
	struct claims claims;

	(void)state;
	claims_init(&claims);
	exchange(&claims.late, 2);
	send_flagged(&claims.late, 7, 3, 50);
	claim(&claims, claims.late.sent - 1 + SLOTS);
	arrive(&claims.late, 7, 3);
	exchange(&claims.late, SLOTS);
	assert_of_a(&claims, 2 + SLOTS - 1);
}

/* Place and looks must agree; a message outside the FIFO has no place. */
static void no_agreement(void **state)
{
	struct late late;
	struct ub_rx *rx;

	(void)state;
	late_init(&late);
	arrive_from_before(&late);
	send_flagged(&late, 7, 3, 50);
	arrive(&late, 7, 4);
	send_flagged(&late, 7, 3, 50);
	rx = job_rx(&late.b, AT_RX_EAGER, 11, 7, 0, 0);
	rx->data = job_fifo_data(SLOTS, late.arrived);
	rx->am_flags = 1;
	late_analyse(&late);
	assert_int_equal(late.out.totals.matched, 0);
	late_release(&late);
}

/* A lost record may have been of the arrival that is waited for. */
static void arrival_lost(void **state)
{
	struct late late;

	(void)state;
	late_init(&late);
	arrive_from_before(&late);
	send_flagged(&late, 7, 3, 50);
	(void)job_rx(&late.b, AT_RX_EAGER, 11, 7, 0, 0);
	job_lose_last(&late.job);
	late.arrived += SLOTS;
	arrive(&late, 7, 3);
	late_analyse(&late);
	assert_int_equal(late.out.totals.matched, 0);
	late_release(&late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alike),           cmocka_unit_test(slot_was_occupied),
		cmocka_unit_test(slot_was_vacant), cmocka_unit_test(two_senders),
		cmocka_unit_test(claimed_twice),   cmocka_unit_test(claimed_slot),
		cmocka_unit_test(no_agreement),    cmocka_unit_test(arrival_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
