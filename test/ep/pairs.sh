#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Dispatch and combine give what the reference gives, bit for bit, in all cases of test/ep/pairs.txt: every two values of
# mode, dtype, routing, PEs, emulated hosts, route, tokens, hidden, top-k, experts, path and halves that go together.
# One job for all cases of a path, number of PEs and of hosts.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
program=$(test_program test/ep/case)
table=$top_srcdir/test/ep/pairs.txt

SHMEM_SYMMETRIC_SIZE=512M
EFA_EMULATOR_QUIET=1
SHMEM_NICS_PER_PE=1
export SHMEM_SYMMETRIC_SIZE EFA_EMULATOR_QUIET SHMEM_NICS_PER_PE
began=$(date +%s)
jobs=$(sed 's/.*pes=\([0-9]*\) hosts=\([0-9]*\).*path=\([a-z]*\).*/\3:\1:\2/' "$table" | sort -u)
for job in $jobs; do
    WSH_TEST_PATH=${job%%:*}
    rest=${job#*:}
    pes=${rest%:*}
    WSH_TEST_HOSTS=${rest#*:}
    export WSH_TEST_PATH WSH_TEST_HOSTS
    case " ${WSH_TEST_PATHS:-$WSH_TEST_PATH} " in *" $WSH_TEST_PATH "*) ;; *) continue ;; esac
    [ "$pes" -le "${WSH_TEST_PES_MAX:-$pes}" ] || continue
    name="$WSH_TEST_PATH, $pes PEs, $WSH_TEST_HOSTS hosts"
    case $WSH_TEST_PATH in
        local) words= provider= ;;
        mixed) words="--nodes-emulated $WSH_TEST_HOSTS" provider=SHMEM_LIBFABRIC_PROVIDER=tcp ;;
        mixedefa) words="--emulate-efa --nodes-emulated $WSH_TEST_HOSTS" provider=
            [ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] || {
                tap_skip "$name" "the emulator is not built (libibverbs-dev)"
                continue
            }
            case ${WSH_TEST_VARIANT:-clang} in clang) ;; *)
                tap_skip "$name" "a preloaded library does not go with $WSH_TEST_VARIANT"
                continue ;;
            esac ;;
    esac
    # shellcheck disable=SC2086
    run_job 100 env $provider "$oshrun" $words -n "$pes" "$program" "$table"
    tap_comment "$out"
    tap_check "$name" test "$status" = 0
done
echo "# took $(($(date +%s) - began)) s"
tap_done
