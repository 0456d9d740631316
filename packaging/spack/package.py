# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe for warpshmem: docs/guide/install.md says how to use it."""
import os
from typing import List

from spack.package import *


class Warpshmem(AutotoolsPackage, CudaPackage):
    """An OpenSHMEM 1.6 runtime for CPUs and GPUs over shared memory, NVLink and libfabric."""

    # The archive is what `make dist` writes, in the folder where spack is called, or in a mirror.
    manual_download = True
    url = f"file://{os.getcwd()}/warpshmem-0.1.0.tar.xz"

    license("BSD-3-Clause")
    version("0.1.0")

    variant("mpi", default=False, description="Programs may start from an MPI communicator")
    variant("emulator", default=False, description="Install the emulated EFA device")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("autoconf@2.69:", type="build")
    depends_on("automake@1.16:", type="build")
    depends_on("libtool", type="build")
    depends_on("libfabric@1.17:")
    depends_on("hwloc@2.5:")
    depends_on("pmix@4.2:")
    depends_on("mpi", when="+mpi")
    depends_on("rdma-core", when="+emulator", type="build")

    # Configure finds Spack's wrapper of the compiler, which is there during builds alone.
    filter_compiler_wrappers("oshcc", "oshc++", relative_root="bin")

    def configure_args(self) -> List[str]:
        """The options of ./configure."""
        spec = self.spec
        args = [f"--with-{name}={spec[name].prefix}" for name in ("libfabric", "hwloc", "pmix")]
        if "+cuda" in spec:
            args.append(f"--with-cuda={spec['cuda'].prefix}")
            archs = [arch for arch in spec.variants["cuda_arch"].value if arch != "none"]
            if archs:
                args.append(f"--with-cuda-archs={','.join(archs)}")
        else:
            args.append("--with-cuda=no")
        args.append(f"MPICC={spec['mpi'].mpicc if '+mpi' in spec else 'no'}")
        return args

    @run_after("install")
    def install_emulator(self) -> None:
        """The emulated EFA device has an installation target of its own."""
        if "+emulator" in self.spec:
            with working_dir(self.build_directory):
                make("install-emulator")

    def setup_dependent_build_environment(self, env, dependent_spec) -> None:
        """For packages that are built with oshcc: it calls the compiler that Spack chose for them."""
        env.set("SHMEM_CC", spack_cc)
        env.set("SHMEM_CXX", spack_cxx)

    def test_check(self) -> None:
        """What a job needs is there."""
        info = which(self.prefix.bin.join("warpshmem-info"))
        info("--check")
