#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Spack's recipe passes to configure what configure knows, and asks for the versions that it asks for; Spack's own audit
# has nothing to say, where Spack is.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
command -v python3 >/dev/null || tap_skip_all "no python3"
run_job 60 python3 -B "$top_srcdir/test/packaging/spack.py" "$top_srcdir"
tap_check "the recipe and configure agree" test "$status" = 0
if command -v spack >/dev/null; then
    mkdir -p "$tap_dir/repo/packages/warpshmem"
    cp "$top_srcdir/packaging/spack/package.py" "$tap_dir/repo/packages/warpshmem"
    printf 'repo:\n  namespace: warpshmem\n' >"$tap_dir/repo/repo.yaml"
    run_job 200 env "SPACK_USER_CONFIG_PATH=$tap_dir/config" spack --config "repos:[$tap_dir/repo]" audit packages warpshmem
    tap_check "spack audit" test "$status" = 0
else
    tap_skip "spack audit" "no spack"
fi
tap_done
