// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/worlds.h"

#include <string.h>

#include "base/mpi_function.h"
#include "base/vec.h"
#include "show/export/sorter.h"

static const OTF2_CollectiveOp ops[COLLECTIVES] = {
#define ROW(word) [COLLECTIVE_##word] = OTF2_COLLECTIVE_OP_##word
	ROW(BARRIER),   ROW(BCAST),          ROW(GATHER),
	ROW(GATHERV),   ROW(SCATTER),        ROW(SCATTERV),
	ROW(ALLGATHER), ROW(ALLGATHERV),     ROW(ALLTOALL),
	ROW(ALLTOALLV), ROW(ALLTOALLW),      ROW(ALLREDUCE),
	ROW(REDUCE),    ROW(REDUCE_SCATTER), ROW(REDUCE_SCATTER_BLOCK),
	ROW(SCAN),      ROW(EXSCAN),
#undef ROW
};

static bool is_rooted(const struct mpi_function *function)
{
	return function->collective &&
	       (function->flow == FLOW_FROM_ROOT || function->flow == FLOW_TO_ROOT);
}

/* A collective call. */
struct turn {
	uint64_t process, start, id, op, flow;
};

/* Values of worlds.rooted: two flags, and multiples of ROOTED_NUMBER: its number + 1. */
enum { ROOTED_SENT = 1, ROOTED_RECEIVED = 2, ROOTED_NUMBER = 4 };

enum { ROOT_NONE = -1, ROOT_SEVERAL = -2 };

static int in_order(const void *left, const void *right)
{
	const struct turn *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

void worlds_init(struct worlds *worlds)
{
	*worlds = (struct worlds){ .sorter = sorter_new(sizeof(struct turn), in_order) };
}

void worlds_release(struct worlds *worlds)
{
	sorter_free(worlds->sorter);
	vec_release(&worlds->members);
	for (size_t i = 0; i < worlds->worlds.len; i++) {
		vec_release(&worlds->worlds.data[i].ranks);
		vec_release(&worlds->worlds.data[i].roots);
	}
	vec_release(&worlds->worlds);
	map_release(&worlds->rooted);
	map_release(&worlds->functions);
}

static struct world_member *member_at(struct worlds *worlds, size_t process)
{
	while (worlds->members.len <= process) {
		const size_t next = worlds->members.len;

		vec_push(&worlds->members, ((struct world_member){ .joined = next, .world = -1 }));
	}
	return &worlds->members.data[process];
}

static bool is_world(const char *comm)
{
	return comm && !strcmp(comm, "MPI_COMM_WORLD");
}

void worlds_call(struct worlds *worlds, const struct fact_call *call)
{
	struct mpi_function function;
	struct world_member *member;
	struct turn turn;

	if (call->process < 0 || !call->function)
		return;
	member = member_at(worlds, (size_t)call->process);
	if (!strncmp(call->function, "MPI_Init", strlen("MPI_Init")))
		member->begins = true;
	function = mpi_function(call->function);
	if (function.collective && !call->comm)
		member->unknown = true;
	if (!function.collective || !function.blocks || !is_world(call->comm))
		return;
	member->calls++;
	turn = (struct turn){ (uint64_t)call->process, call->start, call->id, function.kind,
			      function.flow };
	if (!worlds->err)
		worlds->err = sorter_add(worlds->sorter, &turn);
}

/* Operations come in any order with their calls. Collectives over UCX are made of tagged messages.
 */
void worlds_op(struct worlds *worlds, const struct fact_op *op)
{
	uint64_t *rooted;
	bool fresh;

	if (!op->call || !op->function || !op->op || strncmp(op->op, "tag_", strlen("tag_")) != 0)
		return;
	rooted = map_insert(&worlds->functions, (uintptr_t)op->function, 0, &fresh);
	if (fresh) {
		const struct mpi_function function = mpi_function(op->function);

		*rooted = is_rooted(&function);
	}
	if (*rooted)
		*map_insert(&worlds->rooted, op->call, 0, NULL) |=
			op->sends ? ROOTED_SENT : ROOTED_RECEIVED;
}

/* The root of all processes that exchanged messages with one. */
static size_t first_of(struct worlds *worlds, size_t process)
{
	struct world_member *members = worlds->members.data;

	while (members[process].joined != process) {
		members[process].joined = members[members[process].joined].joined;
		process = members[process].joined;
	}
	return process;
}

void worlds_message(struct worlds *worlds, const struct fact_message *message)
{
	size_t src, dst;

	if (message->src < 0 || message->dst < 0 || message->src == message->dst)
		return;
	member_at(worlds, (size_t)message->src);
	member_at(worlds, (size_t)message->dst);
	src = first_of(worlds, (size_t)message->src);
	dst = first_of(worlds, (size_t)message->dst);
	worlds->members.data[src < dst ? dst : src].joined = src < dst ? src : dst;
}

static size_t world_at(struct worlds *worlds, const struct fact_process *process, size_t count)
{
	struct world *world;

	for (size_t i = 0; i < worlds->worlds.len; i++)
		if (worlds->worlds.data[i].job == process->job &&
		    worlds->worlds.data[i].size == process->size)
			return i;
	vec_push(&worlds->worlds, ((struct world){ .job = process->job, .size = process->size }));
	world = &worlds->worlds.data[worlds->worlds.len - 1];
	/* a world with more ranks than processes is incomplete anyway */
	for (int i = 0; i < process->size && (size_t)process->size <= count; i++)
		vec_push(&world->ranks, -1);
	return worlds->worlds.len - 1;
}

static void refuse(struct world *world, const char *reason)
{
	if (!world->reason)
		world->reason = reason;
}

/* Processes without MPI calls are skipped: a launcher's shell has a rank, too. */
static void enter(struct worlds *worlds, const struct fact_process *process, size_t count)
{
	struct world_member *member = member_at(worlds, (size_t)process->index);
	struct world *world;

	if (!member->begins && !member->calls && !member->unknown)
		return;
	member->world = (int)world_at(worlds, process, count);
	world = &worlds->worlds.data[member->world];
	if (process->rank < 0 || process->rank >= process->size) {
		refuse(world, "rank or size of its world are not known");
		return;
	}
	if (world->ranks.len && world->ranks.data[process->rank] >= 0)
		refuse(world, "several processes have one rank");
	if (world->ranks.len)
		world->ranks.data[process->rank] = process->index;
	if (!member->begins || !process->from_start)
		refuse(world, "a rank was not traced from its start");
	if (member->unknown)
		refuse(world, "which communicator is MPI_COMM_WORLD is not known");
}

static void look_at(struct worlds *worlds, struct world *world)
{
	bool whole = world->ranks.len > 0;

	for (size_t i = 0; i < world->ranks.len; i++)
		whole = whole && world->ranks.data[i] >= 0;
	if (!whole)
		refuse(world, "not all ranks were traced");
	/* MPI without support for its launcher makes each process a world of its own */
	for (size_t i = 0; i < world->ranks.len && !world->reason; i++)
		if (first_of(worlds, (size_t)world->ranks.data[i]) !=
		    first_of(worlds, (size_t)world->ranks.data[0]))
			refuse(world, "no messages join its ranks");
	if (world->reason)
		return;
	world->calls = UINT64_MAX;
	for (size_t i = 0; i < world->ranks.len; i++)
		if (worlds->members.data[world->ranks.data[i]].calls < world->calls)
			world->calls = worlds->members.data[world->ranks.data[i]].calls;
	for (size_t i = 0; i < world->ranks.len; i++)
		worlds->members.data[world->ranks.data[i]].left = world->calls;
}

/* Whether a rank with these flags is the root of such a call. */
static bool is_like_root(enum collective_flow flow, uint64_t did)
{
	const unsigned int both = did & (ROOTED_SENT | ROOTED_RECEIVED);

	return both == (flow == FLOW_TO_ROOT ? ROOTED_RECEIVED : ROOTED_SENT);
}

/*
 * In a call from a root each other rank receives, in one to a root each other rank sends: a rank
 * that did nothing got its data in another way, and the root is not certain.
 */
static void take_rooted(struct worlds *worlds, struct world_member *member, const struct turn *turn,
			int rank)
{
	struct world *world = &worlds->worlds.data[member->world];
	uint64_t *did = map_insert(&worlds->rooted, turn->id, 0, NULL);
	const bool lone = world->size == 1;
	const bool idle = !(*did & (ROOTED_SENT | ROOTED_RECEIVED));
	int *root;

	while (world->roots.len <= member->rooted)
		vec_push(&world->roots, ROOT_NONE);
	root = &world->roots.data[member->rooted++];
	*did |= ROOTED_NUMBER * (uint64_t)member->rooted;
	if (idle && !lone)
		*root = ROOT_SEVERAL;
	else if (lone || is_like_root((enum collective_flow)turn->flow, *did))
		*root = *root == ROOT_NONE ? rank : ROOT_SEVERAL;
}

static int take_turns(struct worlds *worlds, const struct fact_process *processes)
{
	const void *record;
	int more;

	while ((more = sorter_next(worlds->sorter, &record)) > 0) {
		const struct turn *turn = record;
		struct world_member *member = &worlds->members.data[turn->process];

		if (!member->left)
			continue;
		member->left--;
		member->until = turn->start;
		if (turn->flow == FLOW_FROM_ROOT || turn->flow == FLOW_TO_ROOT)
			take_rooted(worlds, member, turn, processes[turn->process].rank);
		member->hash = (member->hash ^ (turn->op + 1)) * 0x100000001b3ull;
	}
	return more;
}

/* MPI requires that all ranks call the same functions in the same order. */
static void compare(struct worlds *worlds, struct world *world)
{
	const struct world_member *members = worlds->members.data;

	for (size_t i = 1; i < world->ranks.len && !world->reason; i++)
		if (members[world->ranks.data[i]].hash != members[world->ranks.data[0]].hash)
			refuse(world, "its ranks call different ones");
}

int worlds_settle(struct worlds *worlds, const struct fact_process *processes, size_t count,
		  const char *reason)
{
	int err = worlds->err ? worlds->err : sorter_finish(worlds->sorter);

	worlds->reason = reason;
	for (size_t i = 0; i < count; i++)
		if (processes[i].index >= 0)
			enter(worlds, &processes[i], count);
	for (size_t i = 0; i < worlds->worlds.len; i++)
		look_at(worlds, &worlds->worlds.data[i]);
	if (!err)
		err = take_turns(worlds, processes);
	for (size_t i = 0; i < worlds->worlds.len; i++)
		compare(worlds, &worlds->worlds.data[i]);
	return err;
}

static const char *why_not(const struct worlds *worlds, const struct world *world, const char *comm,
			   const struct mpi_function *function)
{
	if (comm && !is_world(comm))
		return "another communicator than MPI_COMM_WORLD: its members are not known";
	if (!function->blocks)
		return "not blocking: its end is not known";
	if (worlds->reason)
		return worlds->reason;
	return world ? world->reason : "its process is not known";
}

/* ROOT_NONE or ROOT_SEVERAL: not known. */
static int root_of(const struct worlds *worlds, const struct world *world, uint64_t id)
{
	const uint64_t *did = map_find(&worlds->rooted, id, 0);
	const size_t number = did ? (size_t)(*did / ROOTED_NUMBER) : 0;

	return number && number <= world->roots.len ? world->roots.data[number - 1] : ROOT_NONE;
}

const struct world *worlds_of(const struct worlds *worlds, const struct fact_call *call,
			      struct collective *found, const char **reason)
{
	const struct world_member *member = NULL;
	const struct world *world = NULL;
	const struct mpi_function called = mpi_function(call->function);
	int root;

	*reason = NULL;
	if (!called.collective)
		return NULL;
	*found = (struct collective){ ops[called.kind], OTF2_COLLECTIVE_ROOT_NONE };
	if (call->process >= 0 && (size_t)call->process < worlds->members.len)
		member = &worlds->members.data[call->process];
	if (member && member->world >= 0)
		world = &worlds->worlds.data[member->world];
	*reason = why_not(worlds, world, call->comm, &called);
	if (*reason)
		return NULL;
	if (call->start > member->until)
		*reason = "not seen of every rank";
	if (*reason || !is_rooted(&called))
		return *reason ? NULL : world;
	root = root_of(worlds, world, call->id);
	if (root < 0)
		*reason = "its root is not certain";
	found->root = (uint32_t)root;
	return *reason ? NULL : world;
}
