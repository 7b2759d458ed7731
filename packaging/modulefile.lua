-- SPDX-License-Identifier: BSD-3-Clause
-- Lmod modulefile of ucxbpf, for a folder that the static tarball was unpacked in, as it is there:
-- FOLDER/share/modulefiles/ucxbpf/VERSION.lua. Tried with Lmod 8.6 (tests/packages/files.bats). Add FOLDER/share/modulefiles to MODULEPATH, or copy this file to the site's
-- tree and set root.
local root = pathJoin(myFileName():match("^(.*)/share/modulefiles/") or "/opt/ucxbpf")

help([[ucxbpf shows how a UCX-driven job communicates. Reports need no privileges: ucxbpf replay FILE.ucxb.
Tracing does: ucxbpf doctor says what is missing.]])
whatis("Name: ucxbpf")
whatis("Version: " .. myModuleVersion())
whatis("Description: traces MPI and UCX communication on stock libraries")

prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
