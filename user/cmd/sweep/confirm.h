/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests slow nodes again, with other partners, before a verdict blames them. */
#ifndef UCXBPF_CMD_SWEEP_CONFIRM_H
#define UCXBPF_CMD_SWEEP_CONFIRM_H

#include <stdbool.h>
#include <stddef.h>

struct command;
struct judge;
struct plan;
struct policy;
struct sweep_options;

/*
 * After the verdict on what first did: where it names suspects, they meet trusted nodes in the
 * folder's part SWEEP_CONFIRM, to be judged with the rest. False: there is nothing more to judge,
 * and it is said why, if there were suspects. whole: first came to its end. signal_number: what
 * interrupted it; 0: nothing.
 */
bool sweep_confirm(const struct sweep_options *first, const struct judge *judge, bool whole,
		   int *signal_number);

/*
 * The plan of that test, and the nodes that take part in it. NULL: no node is suspected, or the
 * test is not possible (printed).
 */
struct plan *sweep_confirming(const struct sweep_options *first, const struct judge *judge,
			      bool whole);
void sweep_confirming_nodes(const struct plan *plan, struct command *nodes);

/* Whether a sweep of so many nodes may need that test. */
bool sweep_may_confirm(const struct policy *policy, size_t nodes);

#endif
