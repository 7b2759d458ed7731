// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/confine.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/cmds.h"
#include "cmd/input/gather.h"
#include "cmd/output/output.h"
#include "site/judge/judge.h"
#include "site/policy/policy.h"

struct policy_command {
	const struct policy_verb *verb;
	VEC(const char *) files; /* of check: the policy */
	const char *output; /* NULL: standard output */
	bool quiet;
};

static int check(struct policy_command *command);
static int learn(struct policy_command *command);
static int rules(struct policy_command *command);

static const struct policy_verb {
	const char *name;
	size_t least, most; /* files */
	const char *wanted;
	int (*run)(struct policy_command *command);
} verbs[] = {
	{ "check", 1, 1, "which policy? Give FILE", check },
	{ "learn", 1, SIZE_MAX, "from which captures? Give one FILE.ucxb or more", learn },
	{ "rules", 0, 0, "'rules' takes no file", rules },
};

static void set_verb(struct argp_state *state, const char *name)
{
	struct policy_command *command = state->input;

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i].name, name))
			command->verb = &verbs[i];
}

static void check_arguments(struct argp_state *state, const struct policy_command *command)
{
	size_t files = command->files.len;

	if (!command->verb)
		argp_error(state, "what to do? 'check FILE', 'learn FILE...' or 'rules'");
	else if (files < command->verb->least || files > command->verb->most)
		argp_error(state, "%s", command->verb->wanted);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct policy_command *command = state->input;

	switch (key) {
	case 'q':
		command->quiet = true;
		return 0;
	case 'o':
		command->output = arg;
		return 0;
	case 'F':
		vec_push(&command->files, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			vec_push(&command->files, arg);
		else
			set_verb(state, arg);
		return 0;
	case ARGP_KEY_END:
		check_arguments(state, command);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
	{ "from", 'F', "FILE", 0, "A capture to learn from; may be repeated", 1 },
	{ "output", 'o', "FILE", 0, "Write the learnt policy to FILE", 1 },
	{ "quiet", 'q', NULL, 0, "Print errors only", 1 },
	{ 0 },
};

static const char doc[] =
	"'check' reads a policy and prints its normal form: JSON with every default filled in, and "
	"on standard error the SHA-256 that every report of it repeats. 'learn' writes a policy from "
	"captures of a good run. 'rules' prints the catalogue: what each rule asserts, and the "
	"settings that a policy may change."
	"\v"
	"Examples:\n"
	"  ucxbpf policy check site.yaml       is it right, and what does it mean\n"
	"  ucxbpf policy check -q site.yaml    only what is wrong, line by line\n"
	"  ucxbpf policy learn -o site.yaml --from good/*.ucxb\n"
	"                                      how messages went there is expected\n"
	"  ucxbpf policy rules                 all rules, as docs/rules.md has them\n\n"
	"Exit status: 0 done, 3 the captures are incomplete, so nothing is learnt, 4 usage, or the "
	"policy is wrong, 5 anything else.";

static int printed(int err)
{
	if (!err)
		return UCXBPF_CHECK_PASS;
	log_error("standard output: %s", strerror(-err));
	return UCXBPF_CHECK_FAILED;
}

static int check(struct policy_command *command)
{
	const char *path = command->files.data[0];
	struct policy *policy = policy_of(path);
	char hash[65], *text;
	int err = 0;

	if (!policy)
		return UCXBPF_CHECK_USAGE;
	if (!command->quiet) {
		text = policy_normal_form(policy);
		puts(text);
		free(text);
		err = fflush(stdout) ? -errno : 0;
		policy_hash(policy, hash);
		text = text_plain(path);
		fprintf(stderr, "%s: sha256:%s\n", text, hash);
		free(text);
	}
	policy_free(policy);
	return printed(err);
}

static int rules(struct policy_command *command)
{
	(void)command;
	return printed(catalogue_print(stdout));
}

static int put_learnt(void *arg, FILE *out)
{
	return judge_learn(arg, out);
}

static int write_learnt(const struct policy_command *command, struct judge *judge)
{
	int err = output_write(command->output, NEWFILE_PRIVATE, put_learnt, judge);

	if (!err)
		return UCXBPF_CHECK_PASS;
	if (err == -EBADMSG)
		log_error("records were lost: the missing traffic may have taken another path");
	else if (err == -ENOTSUP)
		log_error(
			"transfers were not recorded all the time: trace all layers (--budget none, "
			"or --level uct)");
	else if (err == -ENODATA)
		log_error("no data was moved in these captures: there is nothing to learn");
	else
		log_error("%s: %s", output_name(command->output), newfile_why(err));
	return err == -EBADMSG || err == -ENOTSUP || err == -ENODATA ? UCXBPF_CHECK_UNKNOWN
								     : UCXBPF_CHECK_FAILED;
}

static int learn_from(struct policy_command *command, struct gathered *gathered)
{
	if (gathered->broken) {
		log_error("nothing is learnt where a capture is incomplete or unreadable");
		return UCXBPF_CHECK_UNKNOWN;
	}
	judge_finish(gathered->judge, gathered->totals, 0);
	return write_learnt(command, gathered->judge);
}

static int learn(struct policy_command *command)
{
	struct policy *policy;
	struct gathered gathered;
	int status = UCXBPF_CHECK_FAILED, err;

	if (command->output && gather_has(command->output)) {
		log_error("%s: is evidence, not overwritten", command->output);
		return UCXBPF_CHECK_USAGE;
	}
	policy = policy_default();
	err = gather(&gathered, policy, command->files.data, command->files.len, "policy learn",
		     true);
	if (!err)
		status = learn_from(command, &gathered);
	else if (err == -EINVAL)
		status = UCXBPF_CHECK_USAGE;
	gathered_release(&gathered);
	policy_free(policy);
	return status;
}

int cmd_policy(int argc, char **argv)
{
	const struct argp argp = { options, parse, "check FILE\nlearn FILE...\nrules", doc, NULL,
				   NULL,    NULL };
	struct policy_command command = { 0 };
	int status = UCXBPF_CHECK_USAGE;

	if (!xargp_parse(&argp, argc, argv, 0, &command)) {
		confine_to_files();
		status = command.verb->run(&command);
	}
	vec_release(&command.files);
	return status;
}
