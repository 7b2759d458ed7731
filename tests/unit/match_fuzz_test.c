// SPDX-License-Identifier: BSD-3-Clause
/*
 * Random jobs whose senders fill one FIFO, or a connection each. None of these seeds has a message
 * that is matched wrongly, whatever was not seen; of jobs that were traced from the start, nearly
 * every message that arrived is matched or ambiguous. No arrival that was recorded is said not to
 * be there, and no reason names a loss, or other senders, where there was none. In some jobs the
 * tags are MPI's, and name their senders. Arguments: the first seed, and how many.
 */
#include <inttypes.h>

#include "outcome.h"

#define SLOTS 8u
#define MOST_SENDERS 3
#define STEPS 160
#define RECEIVER 2

/* A message from the start of its transfer until it has arrived. */
struct flight {
	uint64_t start; /* of its operation; 0: it was not seen */
	uint64_t position, tag, bytes, id; /* id 0: a short one */
	bool in_slot; /* it lies in the FIFO itself */
	bool there;
};

/* A FIFO, or a connection. */
struct queue {
	uint64_t head, tail; /* position of the next message; of the one that is read next */
	struct flight flights[SLOTS];
};

/* Records that a thread has lost since its last record of losses. */
struct losses {
	unsigned int records;
	size_t record; /* the one of these losses */
};

struct sender {
	struct task task;
	bool seen;
	size_t record; /* of the transfer that goes on; 0: none */
	bool sending;
	struct flight flight, *place; /* its message; NULL: that has no place yet */
	struct losses losses;
};

struct fuzz {
	struct job job;
	struct sender sender[MOST_SENDERS];
	struct task receiver;
	bool seen; /* the receiver */
	struct losses losses; /* the receiver's */
	unsigned int senders;
	uint64_t ids;
	bool streams; /* each sender has a queue of its own */
	bool late; /* processes are joined one after the other */
	bool named; /* the tags are MPI's */
	uint64_t context; /* of the communicator then; 0: that of all, which stays */
	unsigned int anew; /* how often it was made anew, with other ranks */
	struct queue queue[MOST_SENDERS];
	struct map truth; /* start of a send -> its arrival */
	uint64_t random;
	/* how this job is */
	unsigned int places, shorts, alike, lossy, multi; /* percent of messages */
	struct outcome out;
};

static unsigned int dice(struct fuzz *fuzz, unsigned int sides)
{
	fuzz->random = fuzz->random * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned int)(fuzz->random >> 33) % sides;
}

static bool chance(struct fuzz *fuzz, unsigned int percent)
{
	return dice(fuzz, 100) < percent;
}

static void snapshot_iface(struct fuzz *fuzz, struct task *task)
{
	if (fuzz->streams)
		job_snapshot_iface(task, "tcp", "lo", 0);
	else
		job_snapshot_iface(task, "posix", "memory", SLOTS);
}

/* The record of a thread's losses is finished with its next record, and lies where they began. */
static void tell_losses(struct fuzz *fuzz, struct losses *losses)
{
	struct ub_loss *loss;

	if (!losses->records)
		return;
	loss = &fuzz->job.records.data[losses->record].loss;
	loss->until = fuzz->job.now;
	loss->records = losses->records;
	losses->records = 0;
}

static bool is_lost(struct fuzz *fuzz, struct task *task, struct losses *losses,
		    unsigned int records)
{
	if (!chance(fuzz, fuzz->lossy)) {
		tell_losses(fuzz, losses);
		return false;
	}
	if (!losses->records) {
		task->call = task->op = task->rx = 0;
		losses->record = fuzz->job.records.len;
		job_add(task, AT_LOSS, 0);
	}
	losses->records += records;
	fuzz->job.cpu_seq += records;
	fuzz->job.lost += records;
	return true;
}

/* As Open MPI makes it: MPI's tag, the rank that sends, the communicator. */
static uint64_t tag_of(const struct fuzz *fuzz, const struct sender *sender, uint64_t tag)
{
	const uint64_t rank = ((uint64_t)(sender - fuzz->sender) + fuzz->anew) % MOST_SENDERS;

	return fuzz->named ? tag << 40 | rank << 20 | fuzz->context : tag;
}

static void record_send(struct fuzz *fuzz, struct sender *sender, struct flight *flight)
{
	struct task *task = &sender->task;
	struct ub_xfer *xfer;

	job_call(task, AT_MPI_SEND);
	if (flight->id) {
		job_op(task, AT_TAG_SEND, EP(task->tgid, RECEIVER), flight->tag, 10000, 0x7ff1000)
			->ret = 0;
		flight->start = fuzz->job.now;
		xfer = job_xfer(task, &fuzz->receiver, AT_AM_BCOPY, 3, 8256, 0x7ff1000);
		xfer->w[1] = 10000;
		xfer->w[2] = flight->id;
		xfer->h.flags = UB_F_REQ;
	} else {
		job_op(task, AT_TAG_SEND, EP(task->tgid, RECEIVER), flight->tag, flight->bytes, 0);
		flight->start = fuzz->job.now;
		xfer = job_xfer(task, &fuzz->receiver, flight->in_slot ? AT_AM_SHORT : AT_AM_BCOPY,
				2, (int64_t)flight->bytes + 8, 0);
		xfer->h.flags = UB_F_WIRE;
	}
	xfer->w[0] = flight->tag;
	task->op = 0;
	sender->record = fuzz->job.records.len;
}

static void begin_send(struct fuzz *fuzz, struct sender *sender)
{
	struct flight *flight = &sender->flight;

	*flight = (struct flight){ .tag = tag_of(fuzz, sender, chance(fuzz, fuzz->alike) ? 7 : 8),
				   .bytes = chance(fuzz, fuzz->alike) ? 3 : 4,
				   .in_slot = chance(fuzz, fuzz->shorts) };
	if (chance(fuzz, fuzz->multi))
		*flight = (struct flight){ .tag = tag_of(fuzz, sender, 9),
					   .bytes = 10000,
					   .id = ++fuzz->ids };
	sender->sending = true;
	sender->place = NULL;
	if (sender->seen && !is_lost(fuzz, &sender->task, &sender->losses, 3))
		record_send(fuzz, sender, flight);
}

static struct queue *queue_of(struct fuzz *fuzz, unsigned int sender)
{
	return &fuzz->queue[fuzz->streams ? sender : 0];
}

static void take_place(struct sender *sender, struct queue *queue)
{
	if (queue->head - queue->tail == SLOTS)
		return;
	sender->place = &queue->flights[queue->head % SLOTS];
	sender->flight.position = queue->head++;
	*sender->place = sender->flight;
}

static void end_send(struct fuzz *fuzz, struct sender *sender)
{
	const struct flight *flight = sender->place;
	union job_record *record;

	sender->place->there = true;
	sender->sending = false;
	fuzz->job.now += dice(fuzz, 3) * 100;
	if (!sender->record)
		return;
	record = &fuzz->job.records.data[sender->record - 1];
	record->xfer.h.dur = (uint32_t)(fuzz->job.now - record->h.ts);
	if (chance(fuzz, fuzz->places)) {
		record->xfer.raddr = flight->position;
		record->xfer.h.flags |= fuzz->streams ? UB_F_SOCKET : UB_F_FIFO;
	}
	sender->record = 0;
}

static void record_arrival(struct fuzz *fuzz, const struct flight *flight)
{
	struct task *task = &fuzz->receiver;
	struct ub_rx *rx;

	task->call = task->op = 0;
	if (flight->id)
		rx = job_rx(task, AT_RX_FIRST, 8256, flight->tag, 10000, flight->id);
	else
		rx = job_rx(task, AT_RX_EAGER, (uint32_t)flight->bytes + 8, flight->tag, 0, 0);
	if (chance(fuzz, fuzz->places)) {
		rx->h.flags |= fuzz->streams ? UB_F_SOCKET : UB_F_FIFO;
		rx->data = flight->position;
		rx->am_flags = fuzz->streams ? 0 : IFACE >> 4 << 16;
	} else if (flight->in_slot && !fuzz->streams) {
		rx->data = job_fifo_data(SLOTS, flight->position);
	} else {
		rx->am_flags = 1; /* UCT_CB_PARAM_FLAG_DESC */
	}
	if (flight->start)
		*map_insert(&fuzz->truth, flight->start, 0, NULL) = rx->h.ts;
	task->rx = 0;
	job_take(task, flight->tag, UINT64_MAX, flight->tag, flight->bytes);
}

static void receive(struct fuzz *fuzz, struct queue *queue)
{
	const struct flight *flight = &queue->flights[queue->tail % SLOTS];

	if (queue->tail == queue->head || !flight->there)
		return;
	queue->tail++;
	if (fuzz->seen && !is_lost(fuzz, &fuzz->receiver, &fuzz->losses, 3))
		record_arrival(fuzz, flight);
}

static void see_sender(struct fuzz *fuzz, unsigned int i)
{
	struct sender *sender = &fuzz->sender[i];
	uint32_t tgid = i ? RECEIVER + i : 1;

	fuzz->job.now += 1000;
	sender->task =
		job_process(&fuzz->job, tgid, (int)tgid - 1, fuzz->late ? "attach" : "start");
	if (fuzz->named)
		job_mpi(&sender->task);
	if (fuzz->late) {
		job_snapshot(&sender->task, &fuzz->receiver);
		snapshot_iface(fuzz, &sender->task);
	} else {
		job_worker(&sender->task);
		job_connect(&sender->task, &fuzz->receiver);
	}
	sender->seen = true;
}

static void see_receiver(struct fuzz *fuzz)
{
	fuzz->job.now += 1000;
	fuzz->receiver =
		job_process(&fuzz->job, RECEIVER, RECEIVER - 1, fuzz->late ? "attach" : "start");
	if (fuzz->late) {
		job_snapshot(&fuzz->receiver, &fuzz->sender[0].task);
		snapshot_iface(fuzz, &fuzz->receiver);
	} else {
		job_worker(&fuzz->receiver);
	}
	fuzz->seen = true;
}

static void see_all(struct fuzz *fuzz)
{
	see_receiver(fuzz);
	for (unsigned int i = 0; i < fuzz->senders; i++)
		see_sender(fuzz, i);
}

/* Nothing is under way: a communicator can be freed, and the next one has its context. */
static bool is_quiet(const struct fuzz *fuzz)
{
	for (unsigned int i = 0; i < MOST_SENDERS; i++)
		if (fuzz->sender[i].sending || fuzz->queue[i].head != fuzz->queue[i].tail)
			return false;
	return true;
}

static void step(struct fuzz *fuzz)
{
	unsigned int who = dice(fuzz, fuzz->senders);
	struct queue *queue = queue_of(fuzz, who);
	struct sender *sender = &fuzz->sender[who];

	fuzz->anew += fuzz->context && is_quiet(fuzz) && chance(fuzz, 50);
	fuzz->job.now += dice(fuzz, 20) ? dice(fuzz, 3) * 100 : 30000;
	if (dice(fuzz, 2)) {
		receive(fuzz, queue);
	} else if (!sender->sending) {
		begin_send(fuzz, sender);
	} else if (!sender->place) {
		take_place(sender, queue);
	} else {
		end_send(fuzz, sender);
	}
}

static unsigned int some(struct fuzz *fuzz, unsigned int percent)
{
	return dice(fuzz, 2) ? dice(fuzz, 2) ? 100 : 0 : percent;
}

static void begin(struct fuzz *fuzz, uint64_t seed)
{
	memset(fuzz, 0, sizeof(*fuzz));
	fuzz->random = seed * 0x9e3779b97f4a7c15ull;
	fuzz->late = dice(fuzz, 3);
	job_init(&fuzz->job, "host", fuzz->late ? "attach" : "run");
	fuzz->senders = 1 + dice(fuzz, MOST_SENDERS);
	fuzz->streams = dice(fuzz, 3) == 0;
	for (uint64_t i = 0; i < MOST_SENDERS; i++) {
		struct queue *queue = &fuzz->queue[i];

		queue->head = queue->tail =
			(fuzz->streams ? (i + 1) << 32 : 0) + 1000 + dice(fuzz, 100);
	}
	fuzz->places = some(fuzz, 50);
	fuzz->shorts = some(fuzz, 50);
	fuzz->alike = dice(fuzz, 2) ? 100 : 80;
	fuzz->lossy = !fuzz->late || dice(fuzz, 3) ? 0 : 4;
	fuzz->multi = dice(fuzz, 2) ? 0 : 5;
	fuzz->named = seed % 4 == 0;
	fuzz->context = seed % 8 == 0 ? 3 : 0;
	fuzz->receiver.tgid = RECEIVER;
	fuzz->sender[0].task.tgid = 1;
}

static unsigned int wrong(const struct fuzz *fuzz, uint64_t seed)
{
	unsigned int count = 0;

	for (size_t i = 0; i < fuzz->out.messages.len; i++) {
		const struct fact_message *message = &fuzz->out.messages.data[i];
		const uint64_t *arrival = map_find(&fuzz->truth, message->send_start, 0);

		if (arrival && *arrival == message->arrival)
			continue;
		if (!count++)
			print_error("seed %llu: the send at %llu arrived at %llu, not at %llu\n",
				    (unsigned long long)seed,
				    (unsigned long long)message->send_start,
				    arrival ? (unsigned long long)*arrival : 0ull,
				    (unsigned long long)message->arrival);
	}
	return count;
}

/* Sends whose arrival is said not to be there, although it is: more than have none. */
static uint64_t denied(const struct fuzz *fuzz)
{
	const struct fact_totals *totals = &fuzz->out.totals;
	uint64_t missing = totals->sends - fuzz->truth.used;
	uint64_t said = reason_count(totals->unmatched_sends, "in flight at end") +
			reason_count(totals->unmatched_sends, "arrival not seen");

	return said > missing ? said - missing : 0;
}

static uint64_t count_both(const struct fact_totals *totals, const char *reason)
{
	return reason_count(totals->unmatched_sends, reason) +
	       reason_count(totals->unmatched_receives, reason);
}

/* Ends of messages that are put down to a loss where nothing was lost, or to senders of one. */
static uint64_t misjudged(const struct fuzz *fuzz)
{
	const struct fact_totals *totals = &fuzz->out.totals;

	return (fuzz->lossy ? 0 : count_both(totals, "lost records")) +
	       (fuzz->senders > 1 ? 0 : count_both(totals, "one of several senders"));
}

struct sums {
	uint64_t matched, wrong, possible, denied, misjudged; /* messages */
	uint64_t settled, arrived; /* of jobs traced from the start */
	uint64_t named, of_named; /* matched ones whose tag names the sender; of how many */
};

static void run(uint64_t seed, struct sums *sums)
{
	struct fuzz fuzz;
	struct job *jobs[] = { &fuzz.job };
	unsigned int seen = 0;

	begin(&fuzz, seed);
	if (!fuzz.late) {
		see_all(&fuzz);
		seen = fuzz.senders + 1;
	}
	for (unsigned int i = 0; i < STEPS; i++) {
		if (seen <= fuzz.senders && dice(&fuzz, 4) == 0 &&
		    (seen == fuzz.senders || !fuzz.sender[seen].sending)) {
			if (seen == fuzz.senders)
				see_receiver(&fuzz);
			else
				see_sender(&fuzz, seen);
			seen++;
		}
		step(&fuzz);
	}
	for (unsigned int i = 0; i < fuzz.senders; i++)
		tell_losses(&fuzz, &fuzz.sender[i].losses);
	tell_losses(&fuzz, &fuzz.losses);
	analyse(&fuzz.out, jobs, 1);
	/* positions that not all messages have leave others undecided */
	if (!fuzz.late && !fuzz.multi && (fuzz.places == 0 || fuzz.places == 100)) {
		sums->settled += fuzz.out.totals.matched + fuzz.out.totals.ambiguous;
		sums->arrived += fuzz.truth.used;
	}
	sums->matched += fuzz.out.messages.len;
	sums->possible += fuzz.truth.used;
	sums->named += fuzz.named ? fuzz.out.messages.len : 0;
	sums->of_named += fuzz.named ? fuzz.truth.used : 0;
	sums->wrong += wrong(&fuzz, seed);
	sums->denied += denied(&fuzz);
	sums->misjudged += misjudged(&fuzz);
	outcome_release(&fuzz.out);
	map_release(&fuzz.truth);
	job_release(&fuzz.job);
}

static uint64_t first_seed = 1, seeds = 2000;

static void none_wrong(void **state)
{
	struct sums sums = { 0 };

	(void)state;
	for (uint64_t seed = first_seed; seed < first_seed + seeds; seed++)
		run(seed, &sums);
	print_message("%" PRIu64 " of %" PRIu64 " messages matched, %" PRIu64 " wrongly\n",
		      sums.matched, sums.possible, sums.wrong);
	print_message("traced from the start: %" PRIu64 " of %" PRIu64 " matched or ambiguous\n",
		      sums.settled, sums.arrived);
	print_message("tags that name the sender: %" PRIu64 " of %" PRIu64 " matched\n", sums.named,
		      sums.of_named);
	print_message("%" PRIu64 " arrivals denied\n", sums.denied);
	assert_true(sums.matched > sums.possible / 2);
	assert_true(sums.settled > sums.arrived * 99 / 100);
	assert_int_equal(sums.wrong, 0);
	assert_int_equal(sums.denied, 0);
	assert_int_equal(sums.misjudged, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(none_wrong) };

	if (argc > 1)
		first_seed = strtoull(argv[1], NULL, 10);
	if (argc > 2)
		seeds = strtoull(argv[2], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
