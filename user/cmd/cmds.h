/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subcommands, in the order of --help; the build makes the program's table from the declarations
 * here and the help line from each manual page (docs/ucxbpf-NAME.1.md). argv[0] is the subcommand's
 * name; the result is the exit status (exit_codes.h).
 */
#ifndef UCXBPF_CMD_CMDS_H
#define UCXBPF_CMD_CMDS_H

/* Each returns the exit status (docs/exit-codes.md). */
int cmd_run(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_pending(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_schema(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_policy(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_inventory(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

#endif
