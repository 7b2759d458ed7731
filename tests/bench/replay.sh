#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Times the replay of ten million records; `make bench` runs the scripts of this folder.
exec "$(dirname "$0")/replay" "$@"
