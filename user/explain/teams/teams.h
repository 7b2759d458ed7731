/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective operations of libraries other than MPI that count them in their tags (struct
 * identity). The members follow from the messages with one number: an operation is over once all of
 * its messages are known and each of its processes went on by OUTSTANDING numbers.
 */
#ifndef UCXBPF_TEAMS_H
#define UCXBPF_TEAMS_H

#include "explain/attribute/attribute.h"
#include "explain/facts/facts.h"
#include "explain/match/match.h"

/* Most collective operations of one team that a program may have under way. */
#define OUTSTANDING 64

struct teams;

struct teams_sink {
	void *arg;
	void (*collective)(void *arg, const struct fact_collective *collective);
};

/* The sink is copied, the decoder outlives it. */
struct teams *teams_new(struct decoder *decoder, const struct teams_sink *sink);
void teams_free(struct teams *teams);

void teams_op_start(struct teams *teams, const struct op *op);
/* As match_sink.message. */
void teams_message(struct teams *teams, const struct message *message);

/* Call once, after the last message and before teams_free(): ends the operations that are left. */
void teams_finish(struct teams *teams);

#endif
