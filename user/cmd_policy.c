// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmds.h"
#include "exit_codes.h"
#include "policy/policy.h"
#include "policy_file.h"

struct policy_command {
	const char *verb, *path;
	bool quiet;
};

static bool wants(const struct policy_command *command, const char *verb)
{
	return command->verb && !strcmp(command->verb, verb);
}

static void check_arguments(struct argp_state *state, const struct policy_command *command)
{
	if (!wants(command, "check") && !wants(command, "rules"))
		argp_error(state, "what to do? 'check FILE' or 'rules'");
	else if (wants(command, "check") && !command->path)
		argp_error(state, "which policy? Give FILE");
	else if (wants(command, "rules") && command->path)
		argp_error(state, "'rules' takes no file");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct policy_command *command = state->input;

	switch (key) {
	case 'q':
		command->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!command->verb)
			command->verb = arg;
		else if (!command->path)
			command->path = arg;
		else
			argp_error(state, "one policy at a time");
		return 0;
	case ARGP_KEY_END:
		check_arguments(state, command);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
	{ "quiet", 'q', NULL, 0, "Print errors only", 1 },
	{ 0 },
};

static const char doc[] =
	"'check' reads a policy and prints its normal form: JSON with every default filled in, and "
	"on standard error the SHA-256 that every report of it repeats. 'rules' prints the catalogue: "
	"what each rule asserts, and the settings that a policy may change."
	"\v"
	"Examples:\n"
	"  ucxbpf policy check site.yaml               is it right, and what does it mean\n"
	"  ucxbpf policy check -q site.yaml            only what is wrong, line by line\n"
	"  ucxbpf policy rules                         all rules, as docs/rules.md has them\n\n"
	"Exit status: 0 the policy is right, 4 usage, or it is not, 5 anything else.";

static int print_normal_form(const struct policy *policy, const char *path)
{
	char *text = policy_normal_form(policy);
	char hash[65];
	int failed;

	policy_hash(policy, hash);
	puts(text);
	free(text);
	failed = fflush(stdout);
	fprintf(stderr, "%s: sha256:%s\n", path, hash);
	return failed ? UCXBPF_CHECK_FAILED : UCXBPF_CHECK_PASS;
}

int cmd_policy(int argc, char **argv)
{
	const struct argp argp = { options, parse, "check FILE\nrules", doc, NULL, NULL, NULL };
	struct policy_command command = { 0 };
	struct policy *policy;
	int status = UCXBPF_CHECK_PASS;

	argp_err_exit_status = UCXBPF_CHECK_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &command))
		return UCXBPF_CHECK_USAGE;
	if (wants(&command, "rules"))
		return catalogue_print(stdout) ? UCXBPF_CHECK_FAILED : UCXBPF_CHECK_PASS;
	policy = policy_of(command.path);
	if (!policy)
		return UCXBPF_CHECK_USAGE;
	if (!command.quiet)
		status = print_normal_form(policy, command.path);
	policy_free(policy);
	return status;
}
