// SPDX-License-Identifier: BSD-3-Clause
/*
 * ucxbpf-traffic-openmpi, -mpich: carries out a sweep's plan on stock MPI, one set of processes for
 * all rounds, and writes a ledger.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "site/traffic/traffic.h"

/* ---- ranks ---- */

/* Which rank is the plan's which: ranks of a node are counted in the order of MPI_COMM_WORLD. */

static int *nodes_of_ranks(int node, int size)
{
	int *nodes = xmalloc(size * sizeof(*nodes));
	MPI_Request request;

	MPI_Iallgather(&node, 1, MPI_INT, nodes, 1, MPI_INT, MPI_COMM_WORLD, &request);
	wait_for(&request);
	return nodes;
}

static void find_place(struct rank *rank, const char *node)
{
	const struct plan *plan = rank->plan;
	size_t places = plan->nodes.len * plan->ranks;
	int *seen = xcalloc(plan->nodes.len, sizeof(*seen)), *nodes;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &rank->size);
	rank->node = -1;
	rank->world = xmalloc(places * sizeof(*rank->world));
	for (size_t i = 0; i < places; i++)
		rank->world[i] = -1;
	nodes = nodes_of_ranks(plan_node(plan, node), rank->size);
	for (int i = 0; i < rank->size; i++) {
		int local = nodes[i] < 0 ? plan->ranks : seen[nodes[i]]++;

		if (local >= plan->ranks)
			continue;
		rank->world[nodes[i] * plan->ranks + local] = i;
		if (i != rank->rank)
			continue;
		rank->node = nodes[i];
		rank->local = local;
	}
	free(nodes);
	free(seen);
}

int world_rank(const struct rank *rank, int node, int local)
{
	return node < 0 ? -1 : rank->world[node * rank->plan->ranks + local];
}

/* ---- the start ---- */

/* Before MPI starts: tell who we are, wait until we are traced. */

#define POLL_NS 20000000

/* Renamed into place, so that a reader never sees a partial file. */
static void write_pid(const char *folder, const char *node)
{
	char path[PATH_MAX], temporary[PATH_MAX + 8];
	FILE *file;

	snprintf(path, sizeof(path), "%s/../pids", folder);
	if (mkdir(path, 0777) && errno != EEXIST)
		give_up("%s: %s", path, strerror(errno));
	snprintf(path, sizeof(path), "%s/../pids/%s.%d", folder, node, getpid());
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	file = fopen(temporary, "we");
	if (!file || fprintf(file, "%d\n", getpid()) < 0 || fclose(file) || rename(temporary, path))
		give_up("%s: %s", path, strerror(errno));
}

/* Writes the file that names this process to the tracer; waits for the file "go". */
static void wait_for_go(const struct arguments *arguments, const char *node)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	uint64_t until = now_ns() + arguments->wait_s * 1000000000ull;

	write_pid(arguments->ledger, node);
	while (arguments->go && access(arguments->go, F_OK)) {
		if (now_ns() > until)
			give_up("%s: is not there after %u s (--wait)", arguments->go,
				arguments->wait_s);
		nanosleep(&pause, NULL);
	}
}

/* ---- all of it ---- */

#define WAIT_S 120
#define LIMIT_S 120

static const char usage[] =
	"usage: ucxbpf-traffic-MPI --plan FILE --ledger FOLDER [--stage NAME]... [--part N]\n"
	"                          [--go FILE] [--node NAME] [--wait SECONDS] [--limit SECONDS]\n"
	"\n"
	"Carries out a sweep's plan (ucxbpf sweep plan). Start it by an MPI launcher with as many\n"
	"ranks on each node as the plan's ranks_per_node.\n"
	"\n"
	"  --plan FILE      what to send (docs/sweep-files.md)\n"
	"  --ledger FOLDER  where each rank writes what it did; FOLDER/../pids: the processes\n"
	"  --stage NAME     only this stage of the plan: intra, path, time, confirm, collective\n"
	"  --part N         only this part of a plan that is divided (0)\n"
	"  --go FILE        start MPI when this file is there, that is, when all are traced\n"
	"  --node NAME      this node's name in the plan (the host's name)\n"
	"  --wait SECONDS   how long to wait for that file (120)\n"
	"  --limit SECONDS  how long a round may take before the job ends as stuck (120)\n"
	"\n"
	"Exit status: 0 all was sent, and came as it was; 1 some did not; 2 usage, plan or files;\n"
	"3 a rank got stuck.\n";

void give_up(const char *format, ...)
{
	va_list args;
	int started;

	fputs("ucxbpf-traffic: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	MPI_Initialized(&started);
	if (started)
		MPI_Abort(MPI_COMM_WORLD, TRAFFIC_GAVE_UP);
	exit(TRAFFIC_GAVE_UP);
}

static unsigned int seconds(const char *text, const char *option)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*end || *text < '0' || *text > '9' || !number || number > 1000000)
		give_up("--%s %s: not a number of seconds", option, text);
	return number;
}

static uint32_t part(const char *text)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*end || *text < '0' || *text > '9' || number > PLAN_WAVES * PLAN_MAX_NODES)
		give_up("--part %s: not the number of a part", text);
	return number;
}

static void add_stage(struct arguments *arguments, const char *name)
{
	int stage = plan_name(plan_stage_names, STAGES, name);

	if (stage < 0)
		give_up("--stage %s: not intra, path, time, confirm or collective", name);
	arguments->stages[stage] = true;
}

static void read_arguments(struct arguments *arguments, int argc, char **argv)
{
	static const struct option options[] = {
		{ "plan", 1, NULL, 'p' },  { "ledger", 1, NULL, 'l' },
		{ "stage", 1, NULL, 's' }, { "go", 1, NULL, 'g' },
		{ "node", 1, NULL, 'n' },  { "wait", 1, NULL, 'w' },
		{ "limit", 1, NULL, 't' }, { "part", 1, NULL, 'P' },
		{ "help", 0, NULL, 'h' },  { 0 },
	};
	bool all = true;
	int option;

	*arguments = (struct arguments){ .wait_s = WAIT_S, .limit_s = LIMIT_S };
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'p':
			arguments->plan = optarg;
			break;
		case 'l':
			arguments->ledger = optarg;
			break;
		case 's':
			add_stage(arguments, optarg);
			all = false;
			break;
		case 'P':
			arguments->part = part(optarg);
			break;
		case 'g':
			arguments->go = optarg;
			break;
		case 'n':
			arguments->node = optarg;
			break;
		case 'w':
			arguments->wait_s = seconds(optarg, "wait");
			break;
		case 't':
			arguments->limit_s = seconds(optarg, "limit");
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			exit(TRAFFIC_GAVE_UP);
		}
	}
	for (int i = 0; all && i < STAGES; i++)
		arguments->stages[i] = true;
	if (!arguments->plan || !arguments->ledger || optind < argc) {
		fputs(usage, stderr);
		exit(TRAFFIC_GAVE_UP);
	}
}

/* The host's own name, without a domain. */
static const char *node_name(const struct arguments *arguments, char host[HOST_NAME_MAX + 1])
{
	if (arguments->node)
		return arguments->node;
	if (gethostname(host, HOST_NAME_MAX))
		give_up("no host name: %s", strerror(errno));
	host[HOST_NAME_MAX] = '\0';
	host[strcspn(host, ".")] = '\0';
	return host;
}

static void make_room(struct rank *rank, size_t count)
{
	rank->times = vec_grow(rank->times, &rank->times_room, count, sizeof(*rank->times));
}

static void do_round(struct rank *rank, const struct plan_stage *stage, uint32_t round,
		     unsigned int limit)
{
	plan_steps_t steps = { 0 };

	rank->round = round;
	book_now(rank, NULL);
	limit_round(limit);
	barrier();
	book_begin(rank);
	if (rank->node >= 0)
		plan_steps(rank->plan, stage, round, rank->node, rank->local, &steps);
	for (size_t i = 0; i < steps.len; i++) {
		make_room(rank, steps.data[i].work->count);
		if (steps.data[i].world)
			do_world(rank, &steps.data[i]);
		else
			do_pair(rank, &steps.data[i]);
	}
	vec_release(&steps);
}

static void do_stages(struct rank *rank, const struct arguments *arguments)
{
	for (size_t i = 0; i < rank->plan->stages.len; i++) {
		const struct plan_stage *stage = &rank->plan->stages.data[i];

		rank->stage = stage->kind;
		for (uint32_t round = 0; arguments->stages[stage->kind] && round < stage->rounds;
		     round++)
			if (plan_round_of(rank->plan, stage, round, arguments->part))
				do_round(rank, stage, round, arguments->limit_s);
	}
	book_now(rank, NULL);
	limit_round(arguments->limit_s);
	barrier();
}

/* Makes Open MPI yield while it waits, in collectives and point-to-point. */
static void share_cores(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_SIZE",
					     "SLURM_NTASKS_PER_NODE" };
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *ranks = getenv(names[i]);

		if (ranks && strtol(ranks, NULL, 10) > CPU_COUNT(&cpus))
			setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
	}
}

static void warn_of_absent(const struct rank *rank, const char *node)
{
	if (rank->node < 0)
		fprintf(stderr,
			"ucxbpf-traffic: rank %d on %s has no part: the plan has no such node, or fewer "
			"ranks per node\n",
			rank->rank, node);
}

int main(int argc, char **argv)
{
	char host[HOST_NAME_MAX + 1], why[PLAN_WHY];
	struct arguments arguments;
	struct rank rank = { 0 };
	struct plan *plan;
	const char *node;
	bool well;

	read_arguments(&arguments, argc, argv);
	if (plan_read(arguments.plan, &plan, why))
		give_up("%s: %s", arguments.plan, why);
	node = node_name(&arguments, host);
	wait_for_go(&arguments, node);
	share_cores();
	if (wants_memory(plan, plan_node(plan, node), arguments.stages, PLAN_CUDA))
		cuda_begin();
	MPI_Init(&argc, &argv);
	rank.plan = plan;
	find_place(&rank, node);
	warn_of_absent(&rank, node);
	get_memory(&rank, arguments.stages);
	rank.book = book_open(&rank, node, &arguments);
	limit_errors();
	limit_reasons(arguments.go);
	do_stages(&rank, &arguments);
	well = book_end(&rank);
	finalize();
	plan_free(plan);
	return !well;
}
