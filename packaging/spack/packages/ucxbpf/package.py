# SPDX-License-Identifier: BSD-3-Clause
# Untested: no Spack was here, so this is checked for its syntax alone.
# From a checkout: spack repo add packaging/spack && spack dev-build -d . ucxbpf@0.1.0
from spack.package import *


class Ucxbpf(MakefilePackage):
    """Traces how MPI calls become UCX operations and transfers, on stock libraries, by eBPF."""

    homepage = "https://example.org/ucxbpf"
    license("BSD-3-Clause")

    version("0.1.0")  # follows VERSION

    depends_on("c", type="build")
    depends_on("llvm+clang targets=bpf", type="build")
    depends_on("bpftool", type="build")
    depends_on("node-js", type="build")
    depends_on("npm", type="build")
    depends_on("pandoc", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("protobuf-c", type=("build", "link"))
    depends_on("python@3.9:", type="build")
    depends_on("elfutils")
    depends_on("jansson")
    depends_on("libbpf@1.4:")
    depends_on("libevent")
    depends_on("libyaml")
    depends_on("ncurses")
    depends_on("nettle")
    depends_on("otf2")
    depends_on("sqlite")
    depends_on("xxhash")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("zydis")

    def build(self, spec, prefix):
        make("all", "man", "completion")

    def install(self, spec, prefix):
        make("install-built", f"PREFIX={prefix}")
