#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: check_errors.py LEDGER COUNTED

LEDGER is what ucp_errors printed: "WHAT STATUS COUNT" lines, with UCX's words for the status. COUNTED has
"WHAT STATUS COUNT" lines of what was counted, of all reports alike. The endpoint and the operations must agree, but for
truncated messages that were sent by rendezvous, of which none is counted."""
import sys
from collections import Counter

NAMES = {"Message truncated": "UCS_ERR_MESSAGE_TRUNCATED", "Request canceled": "UCS_ERR_CANCELED",
         "Endpoint timeout": "UCS_ERR_ENDPOINT_TIMEOUT", "Connection reset by remote peer": "UCS_ERR_CONNECTION_RESET"}
KINDS = {"receive": "operation", "returned": "operation", "later": "operation", "endpoint": "endpoint"}
BY_RENDEZVOUS = 2


def main():
    ledger, counted = Counter(), Counter()
    for line in open(sys.argv[1]):
        kind, words = line.rstrip().split(" ", 1)
        status, count = words.rsplit(" ", 1)
        ledger[KINDS[kind], NAMES[status]] += int(count)
    for line in open(sys.argv[2]):
        kind, status, count = line.split()
        if kind != "transfer":
            counted[kind, status] += int(count)
    if "--rendezvous" in sys.argv:
        ledger["operation", "UCS_ERR_MESSAGE_TRUNCATED"] -= BY_RENDEZVOUS
    assert ledger and ledger == counted, f"ledger {dict(ledger)}, counted {dict(counted)}"


main()
