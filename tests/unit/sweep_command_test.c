// SPDX-License-Identifier: BSD-3-Clause
/* Command lines of a sweep: words as they are, and as a shell reads them; jobs by launcher and MPI.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "site/sweep/child.h"
#include "site/sweep/command.h"
#include "site/sweep/launcher.h"

#include <fcntl.h>
#include <unistd.h>

static void assert_line(struct command *command, const char *wanted)
{
	char *line = command_line(command);

	assert_string_equal(line, wanted);
	free(line);
	command_release(command);
}

static void words_are_quoted(void **state)
{
	struct command command = { 0 };

	(void)state;
	command_split(&command, "  sudo -n\tucxbpf ");
	assert_int_equal(command.words.len, 3);
	command_add(&command, "%s", "it's a folder");
	command_add(&command, "%s", "");
	command_add(&command, "%s", "$(reboot);*");
	assert_line(&command, "sudo -n ucxbpf 'it'\\''s a folder' '' '$(reboot);*'");
}

static const struct command none;

static char n0[] = "n0", n1[] = "n1", m7[] = "m7";
static char *nodes[] = { n0, n1, m7 };

static void job(const struct launch *launch, int ranks, const char *wanted)
{
	const struct job_size size = { nodes, 3, ranks };
	struct command what = { 0 }, command = { 0 };

	command_split(&what, "/x/traffic --plan=p");
	launch->launcher->job(launch, &size, &what, &command);
	command_release(&what);
	assert_line(&command, wanted);
}

static void jobs_of_slurm(void **state)
{
	struct launch launch = { .launcher = launcher_of("slurm"), .job_options = &none };

	(void)state;
	job(&launch, 2,
	    "srun --kill-on-bad-exit=0 --wait=10 --mpi=pmix --nodes=3 --ntasks-per-node=2 "
	    "--nodelist=n0,n1,m7 /x/traffic --plan=p");
	launch.mpi = SWEEP_MPICH;
	job(&launch, 1,
	    "srun --kill-on-bad-exit=0 --wait=10 --mpi=pmi2 --nodes=3 --ntasks-per-node=1 "
	    "--nodelist=n0,n1,m7 /x/traffic --plan=p");
}

static void jobs_of_hosts(void **state)
{
	struct command options = { 0 };
	struct launch launch = { .launcher = launcher_of("hosts"),
				 .rsh = "/x/rsh",
				 .mpirun = "mpirun",
				 .job_options = &options };

	char tls[] = "UCX_TLS=tcp,self", other[] = "HOME=/", *alone[] = { tls, other, NULL };
	char **before = environ;

	(void)state;
	environ = alone;
	command_split(&options, "--bind-to core");
	job(&launch, 2,
	    "mpirun --mca plm rsh --mca plm_rsh_no_tree_spawn 1 --mca plm_rsh_agent /x/rsh "
	    "-x UCX_TLS -n 6 -H n0:2,n1:2,m7:2 --bind-to core /x/traffic --plan=p");
	launch.mpi = SWEEP_MPICH;
	launch.mpirun = "mpiexec";
	job(&launch, 1,
	    "mpiexec -launcher rsh -launcher-exec /x/rsh -n 3 -ppn 1 -hosts n0,n1,m7 --bind-to core "
	    "/x/traffic --plan=p");
	launch.rsh = "ssh -q";
	job(&launch, 1, "mpiexec -n 3 -ppn 1 -hosts n0,n1,m7 --bind-to core /x/traffic --plan=p");
	environ = before;
	command_release(&options);
}

/* The other end of ssh is a shell. */
static void a_command_on_one_node(void **state)
{
	const struct launch hosts = { .launcher = launcher_of("hosts"), .rsh = "ssh -q" };
	const struct launch slurm = { .launcher = launcher_of("slurm") };
	struct command what = { 0 }, command = { 0 };

	(void)state;
	command_add(&what, "ls");
	command_add(&what, "a b");
	hosts.launcher->on_node(&hosts, "n1", &what, &command);
	assert_string_equal(command.words.data[3], "ls 'a b'");
	assert_line(&command, "ssh -q n1 'ls '\\''a b'\\'''");
	slurm.launcher->on_node(&slurm, "n1", &what, &command);
	assert_line(&command, "srun --overlap --nodes=1 --ntasks=1 --mpi=none "
			      "--unbuffered --nodelist=n1 ls 'a b'");
	command_release(&what);
	assert_null(launcher_of("pbs"));
}

static void collect(void *context, char *line)
{
	strcat(context, line);
	strcat(context, "|");
}

static void lines_come_in_pieces(void **state)
{
	struct line_input lines = { 0 };
	char got[2 * LINES_MAX] = "", longer[LINES_MAX + 4];
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	lines.fd = ends[0];
	assert_int_equal(write(ends[1], "before 0\nrea", 12), 12);
	assert_true(lines_read(&lines, collect, got));
	assert_string_equal(got, "before 0|");
	assert_int_equal(write(ends[1], "dy\n\n", 4), 4);
	assert_true(lines_read(&lines, collect, got));
	assert_string_equal(got, "before 0|ready||");
	/* what never ends is forgotten, what follows is not */
	memset(longer, 'x', sizeof(longer));
	assert_int_equal(write(ends[1], longer, sizeof(longer)), sizeof(longer));
	*got = '\0';
	assert_int_equal(write(ends[1], "\nend\n", 5), 5);
	close(ends[1]);
	assert_false(lines_read(&lines, collect, got));
	assert_string_equal(got, "xxxx|end|");
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_quoted),      cmocka_unit_test(jobs_of_slurm),
		cmocka_unit_test(a_command_on_one_node), cmocka_unit_test(lines_come_in_pieces),
		cmocka_unit_test(jobs_of_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
