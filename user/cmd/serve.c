// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/newfile.h"
#include "base/units.h"
#include "cmd/cmds.h"
#include "cmd/live/tracer.h"
#include "cmd/serve/lines.h"
#include "cmd/serve/listen.h"
#include "cmd/serve/show.h"
#include "cmd/trace/args.h"

#define SECOND 1000000000ull
#define KEEP_MOST (24 * 3600 * SECOND)

struct serve {
	struct chosen chosen;
	uint64_t interval;
	double budget; /* a share; 0: none, negative: not given */
	struct serve_options options;
};

enum {
	OPT_INTERVAL = 512,
	OPT_BUDGET,
	OPT_LISTEN,
	OPT_TEXTFILE,
	OPT_JSON,
	OPT_SUMMARIES,
	OPT_KEEP
};

static const struct argp_option options[] = {
	{ "pid", 'p', "PID[,PID...]", 0,
	  "Processes to count, with the children they start (default: --all)", 0 },
	{ "job", CHOSEN_JOB, "ID", 0, "All processes of this job on this node", 0 },
	{ "all", CHOSEN_ALL, NULL, 0, "Every process that uses UCX or MPI, now or later", 0 },
	{ "listen", OPT_LISTEN, "HOST:PORT|unix:PATH", 0,
	  "Answer GET /metrics there (default: " LISTEN_DEFAULT " without another output)", 1 },
	{ "textfile", OPT_TEXTFILE, "FILE.prom", 0,
	  "Write the metrics for node_exporter's textfile collector", 1 },
	{ "json", OPT_JSON, NULL, 0,
	  "One JSON object per interval to standard output, schema ucxbpf.serve/1", 1 },
	{ "summaries", OPT_SUMMARIES, "FILE", 0,
	  "Append a line of JSON for each job that has ended", 1 },
	{ "interval", OPT_INTERVAL, "TIME", 0, "Time between two readings: 1s to 1h (default: 10s)",
	  2 },
	{ "keep", OPT_KEEP, "TIME", 0,
	  "Keep counters of a job for this time after its end (default: 5min)", 2 },
	{ "budget", OPT_BUDGET, "PERCENT|none", 0,
	  "Limit the cost of counting to this share of any thread's time: 3%, 0.5% (default: 3%, or "
	  "UCXBPF_BUDGET)",
	  2 },
	{ "duration", 'd', "TIME", 0, "Stop after this time (default: SIGTERM, or Ctrl-C)", 2 },
	{ 0 },
};

static const char doc[] =
	"Counts what the jobs of this node send, over which transports and devices, and gives the "
	"sums to monitoring systems. Nothing is recorded.\v"
	"Examples:\n"
	"  sudo ucxbpf serve                                metrics at http://" LISTEN_DEFAULT
	"/metrics\n"
	"  sudo ucxbpf serve --listen unix:/run/ucxbpf/metrics.sock\n"
	"  sudo ucxbpf serve --textfile /var/lib/prometheus/node-exporter/ucxbpf.prom\n"
	"  sudo ucxbpf serve --json | ldmsd_stream_publish -x sock -s ucxbpf -t json ...\n"
	"\n"
	"Exit status: docs/exit-codes.md.";

#define refuse(state, ...) argp_failure(state, argp_err_exit_status, 0, __VA_ARGS__)

static uint64_t time_between(const char *option, const char *value, uint64_t least, uint64_t most,
			     struct argp_state *state)
{
	const char *end;
	uint64_t ns = 0;

	if (duration_parse(value, &end, &ns) || *end)
		refuse(state, "%s '%s' is no time with its unit, such as 10s or 5min", option,
		       value);
	else if (ns < least || ns > most)
		refuse(state, "%s '%s' is out of range, use 1s to %s", option, value,
		       most == KEEP_MOST ? "24h" : "1h");
	return ns;
}

static void check_textfile(const char *path, struct argp_state *state)
{
	const size_t length = strlen(path);

	if (length < 6 || strcmp(path + length - 5, ".prom"))
		refuse(state, "--textfile '%s' must end in .prom, node_exporter reads no others",
		       path);
}

static void check_listen(const char *address, struct argp_state *state)
{
	if (listen_check(address))
		refuse(state,
		       "--listen '%s' is no address, use 127.0.0.1:PORT, [::1]:PORT or unix:PATH",
		       address);
}

static void complete(struct serve *serve, struct argp_state *state)
{
	struct serve_options *to = &serve->options;

	if (!serve->chosen.pids.len && !serve->chosen.job)
		serve->chosen.all = true;
	if (!to->listen && !to->textfile && !to->json)
		to->listen = LISTEN_DEFAULT;
	if (serve->budget < 0)
		serve->budget = budget_default(state);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct serve *serve = state->input;
	struct serve_options *to = &serve->options;

	switch (key) {
	case OPT_INTERVAL:
		serve->interval = time_between("--interval", value, SECOND, 3600 * SECOND, state);
		return 0;
	case OPT_KEEP:
		to->keep = time_between("--keep", value, SECOND, KEEP_MOST, state);
		return 0;
	case OPT_BUDGET:
		serve->budget = budget_parse("--budget", value, state);
		return 0;
	case OPT_LISTEN:
		check_listen(value, state);
		to->listen = value;
		return 0;
	case OPT_TEXTFILE:
		check_textfile(value, state);
		to->textfile = value;
		return 0;
	case OPT_SUMMARIES:
		to->summaries = value;
		return 0;
	case OPT_JSON:
		to->json = true;
		return 0;
	case ARGP_KEY_END:
		complete(serve, state);
		break;
	}
	return chosen_parse(&serve->chosen, key, value, state);
}

static int run(struct serve *serve)
{
	struct reader_options reader = { .show = show_serve, .arg = &serve->options };
	struct tracer tracer = {
		.chosen = &serve->chosen,
		.interval = serve->interval,
		.budget = serve->budget,
	};
	int code = UCXBPF_EXIT_FAILED;

	if (reader_prepare(&reader, "ucxbpf-serve"))
		return code;
	code = tracer_run(&tracer, &reader, NULL);
	reader_clean(&reader);
	reader_release(&reader);
	return code;
}

/* Whether all is there, else printed. */
static bool open_outputs(struct serve_options *to)
{
	const int err = to->summaries ? lines_check(to->summaries) : 0;

	if (err)
		log_error("--summaries '%s': %s", to->summaries,
			  err == -EINVAL ? "is a link or a device, name a file" : newfile_why(err));
	return !err && (!to->listen || !listen_open(to->listen, &to->listener));
}

int cmd_serve(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[-p PID[,PID...] | --job ID | --all]",
		.doc = doc,
	};
	struct serve serve = {
		.interval = 10 * SECOND,
		.budget = -1,
		.options = { .listener = { .fd = -1 }, .keep = 300 * SECOND },
	};
	int code = UCXBPF_EXIT_FAILED;

	if (xargp_parse(&argp, argc, argv, 0, &serve))
		return UCXBPF_EXIT_USAGE;
	serve.chosen.patient = true;
	if (open_outputs(&serve.options))
		code = run(&serve);
	listen_remove(&serve.options.listener);
	vec_release(&serve.chosen.pids);
	return code;
}
