#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A cffi module built by our oshcc as bindings for Python build theirs: it imports without starting anything, has the
# handles as values and every kind of routine, and ends cleanly from an exit handler, also after start_pes, also when the
# interpreter ends by an exception or sys.exit.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "${top_srcdir:-.}/test/mp/python_lib.sh"

# ends NAME STATUS MODE: the job's exit status is STATUS, and every PE has said that its handler ran.
ends()
{
    name=$1 wanted=$2 mode=$3
    for path in "SHMEM_STATIC=auto" "SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp"; do
        run_python 60 2 "$path WSH_PYTHON_MODE=$mode" python_exit.py
        if [ "$status" = "$wanted" ] && [ "$(grep -c '^handler of PE' "$out")" = 2 ]; then tap_ok "$name, $path"
        else tap_fail "$name, $path" "wanted exit status $wanted and two handlers"
        fi
    done
}

ends "finalize from atexit" 0 atexit
ends "finalize from atexit after sys.exit(3)" 3 exit
ends "finalize from atexit after an exception" 1 raise
ends "start_pes, no finalize" 0 start_pes
tap_done
