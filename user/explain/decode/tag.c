// SPDX-License-Identifier: BSD-3-Clause
/*
 * UCP's tags as MPI libraries make them. Open MPI 4.x and 5.x
 * (ompi/mca/pml/ucx/pml_ucx_request.h): 24 bits of MPI's tag, signed, which collectives have below
 * 0; 20 of the source's rank in the communicator; 20 of its context. MPICH 3.4 to 4.2
 * (src/mpid/ch4/netmod/ucx/ucx_types.h): 16 of the context, 16 of the rank, 32 of the tag, whose
 * upper ones tell errors.
 */
#include <string.h>

#include "explain/decode/decode.h"

/*
 * The lowest bit marks collectives, the next two the part of a communicator (all, the ranks of a
 * node, one of each node); bits from the fifth on number it, from 0 for MPI_COMM_WORLD
 * (src/include/mpir_contextid.h, 3.4 to 4.3).
 */
#define MPICH_PARTS 7u

/*
 * Blocking collectives have constant tags in both libraries. Non-blocking ones of a communicator
 * are counted in their tags: by Open MPI 4.1 down from -27 (ompi/mca/coll/base/coll_tags.h), by
 * MPICH 4.0 up from 287 (src/include/mpir_tags.h). Other versions start elsewhere. MPICH may use
 * several tags for one operation.
 */
#define OPENMPI_BLOCKING 26
#define MPICH_BLOCKING 286

static bool is_version(const struct process *process, const char *version)
{
	return process->mpi && !strncmp(process->mpi, version, strlen(version));
}

static uint64_t number_above(int tag, int blocking)
{
	return tag > blocking ? (uint64_t)(tag - blocking) : 0;
}

#define MPICH_TAG 0x1fffffffu /* all but bits of errors and of synchronous sends */

static bool covers(uint64_t mask, uint64_t bits)
{
	return (mask & bits) == bits;
}

struct mpi_tag decoder_tag(const struct process *process, uint64_t tag, uint64_t mask)
{
	struct mpi_tag told = { .source = -1, .tag = -1 };

	if (process->mpich) {
		told.context = tag >> 48;
		told.whole = told.context & ~(uint64_t)MPICH_PARTS;
		told.world = told.context <= 1;
		told.of_world = !(told.context & ~MPICH_PARTS);
		told.collective = covers(mask, 1ull << 48) && (told.context & 1);
		if (covers(mask, 0xffffull << 32))
			told.source = (int)(tag >> 32 & 0xffff);
		if (covers(mask, 0xfffff))
			told.tag = (int)(tag & MPICH_TAG);
		if (told.collective && is_version(process, "MPICH 4.0"))
			told.number = number_above(told.tag, MPICH_BLOCKING);
		return told;
	}
	told.context = told.whole = tag & 0xfffff;
	told.world = told.of_world = !told.context;
	told.collective = covers(mask, 1ull << 63) && tag >> 63;
	if (covers(mask, 0xfffffull << 20))
		told.source = (int)(tag >> 20 & 0xfffff);
	if (covers(mask, 0x7fffffull << 40) && !(tag >> 63))
		told.tag = (int)(tag >> 40);
	if (told.collective && covers(mask, 0x7fffffull << 40) &&
	    is_version(process, "Open MPI 4.1"))
		told.number = number_above((int)(0x1000000 - (tag >> 40)), OPENMPI_BLOCKING);
	return told;
}
