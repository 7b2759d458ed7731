// SPDX-License-Identifier: BSD-3-Clause
#include "base/kept.h"

#include <fnmatch.h>

const char *const environment_patterns[] = {
	"UCX_*",
	/* Open MPI reads UCX's configuration with a prefix of its own (ompi/mca/common/ucx) */
	"MPI_UCX_*",
	"OMPI_MCA_pml*",
	"OMPI_MCA_mtl*",
	"OMPI_MCA_btl*",
	"OMPI_MCA_osc*",
	/* MPICH takes each of its variables by three prefixes (src/util/cvar) */
	"MPIR_CVAR_*NETMOD*",
	"MPIR_PARAM_*NETMOD*",
	"MPICH_*NETMOD*",
	"CUDA_VISIBLE_DEVICES",
	"ROCR_VISIBLE_DEVICES",
	"HIP_VISIBLE_DEVICES",
	"ZE_AFFINITY_MASK",
	NULL,
};

bool environment_kept(const char *name)
{
	for (int i = 0; environment_patterns[i]; i++)
		if (!fnmatch(environment_patterns[i], name, 0))
			return true;
	return false;
}
