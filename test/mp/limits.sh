#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Contexts up to the limit of docs/design/limits.md and one more, over emulated efa and tcp: refused in one line that names
# limit and cure, said once; those whose writes are not counted are announced once, and what they cost is printed.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
program=$(test_program test/mp/helper/contexts)

# limit NAME COMMAND…
limit()
{
    name=$1
    shift
    run_job 120 env SHMEM_SYMMETRIC_SIZE=1M SHMEM_NICS_PER_PE=1 EFA_EMULATOR_QUIET=1 "$@" -n 2 "$program"
    tap_comment "$out"
    tap_check "$name: contexts to the limit" test "$status" = 0
    tap_check "$name: the next is refused in one line" \
        test "$(grep -c 'messages name at most 4096 contexts' "$err")" = 2
}

limit tcp SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun"
if [ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] && [ "${WSH_TEST_VARIANT:-clang}" = clang ]; then
    limit efa SHMEM_TRANSPORTS=efa "$oshrun" --emulate-efa
    tap_check "efa: what is not counted is said once" test "$(grep -c 'name at most 512 contexts' "$err")" = 2
else
    tap_skip efa "the emulator is not built (libibverbs-dev), or does not go with ${WSH_TEST_VARIANT:-this build}"
fi
tap_done
