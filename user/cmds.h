/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subcommands. Each lives in user/cmd_NAME.c and is documented in docs/ucxbpf-NAME.1.md; the build
 * makes the table of them from those two, so a new subcommand is two files and a line here.
 * argv[0] is the subcommand's name; the result is the exit status (exit_codes.h).
 */
#ifndef UCXBPF_CMDS_H
#define UCXBPF_CMDS_H

int cmd_run(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

#endif
