#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# include/nvshmem has every public routine of NVSHMEM's headers with its result and parameters (signatures beside this).
# WSH_NVSHMEM_HEADERS names the folder of NVIDIA's nvshmem.h; under make check-long pip fetches it to the build folder.
# timeout: 600
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
version=3.8.0
wheel=$top_builddir/test/nvshmem/wheel

command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
[ -f "${CUDA_HOME:-/usr/local/cuda}/include/cuda_runtime.h" ] || { echo "skip: no CUDA headers (CUDA_HOME)"; exit 77; }
if [ -z "${WSH_NVSHMEM_HEADERS:-}" ] && [ -n "${WSH_TEST_LONG:-}" ]; then
    WSH_NVSHMEM_HEADERS=$wheel/nvidia/nvshmem/include
    if [ ! -f "$WSH_NVSHMEM_HEADERS/nvshmem.h" ]; then
        mkdir -p "$wheel" && python3 -m pip download -q --no-deps -d "$wheel" "nvidia-nvshmem-cu13==$version" &&
            python3 -m zipfile -e "$wheel"/*.whl "$wheel" && rm -f "$wheel"/*.whl ||
            { echo "skip: nvidia-nvshmem-cu13 $version cannot be fetched by pip"; exit 77; }
    fi
    export WSH_NVSHMEM_HEADERS
fi
exec python3 "$top_srcdir/test/nvshmem/signatures"
