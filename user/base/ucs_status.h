/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of UCX's errors. */
#ifndef UCXBPF_BASE_UCS_STATUS_H
#define UCXBPF_BASE_UCS_STATUS_H

/* A static text: "UCS_ERR_CANCELED"; "unknown" for a number that UCX 1.13 to 1.22 do not have. */
const char *ucs_status_name(int status);

#endif
