#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A put that one NIC is to make with memory as another NIC knows it, or with the key of another NIC of the target, is
# refused by the emulated EFA devices, with a line that fails every test (test/run): what failed may go by another NIC, and
# the job end well. Shown with copies of the library that make these mistakes, for puts of the host, and for puts by
# reference of what stands for kernels. WSH_TEST_LONG=1: five mistakes, else three.
# timeout: 900
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
. "$top_srcdir/test/common/mutants.sh"
need_oshrun
[ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] || tap_skip_all "the emulator is not built (libibverbs-dev)"
need_plain "a preloaded library does not go with"
# with FOLDER LIMIT PROGRAM ENVIRONMENT…: two PEs on two hosts, with two NICs each.
with()
{
    folder=$1 limit=$2 program=$3
    shift 3
    run_job "$limit" env "LD_LIBRARY_PATH=$folder/lib:$LD_LIBRARY_PATH" EFA_EMULATOR_QUIET=1 SHMEM_NICS_PER_PE=2 "$@" \
        "$oshrun" --emulate-efa --nodes-emulated 2 -n 2 "$program"
}

# Rounds enough that every NIC carries some of them: which one a put takes depends on time.
host()
{
    with "$1" 60 "$(test_program test/mp/put_get_all_pairs)" WSH_TEST_PATH=rails WSH_TEST_ROUNDS=50
}

kernels()
{
    with "$1" 120 "$(test_program test/mp/device_proxy)" WSH_TEST_PATH=fakehmemrails SHMEM_HMEM=on \
        SHMEM_DEVICE_SYMMETRIC_SIZE=64M \
        "LD_LIBRARY_PATH=$1/lib:$top_builddir/test/fake_cuda:$top_builddir/test/fake_hmem:$LD_LIBRARY_PATH"
}

said='^efa-emulator: .*memory key of another NIC'

# fine NAME WHO FOLDER: the job passes, and no device complains.
fine()
{
    "$2" "$3"
    tap_check "$1: $2" test "$status $(cat "$out" "$err" | grep -c "$said")" = "0 0"
}

# caught NAME WHO FOLDER: a device refuses, or libfabric, which moves some puts by messages and does not survive a key that
# it does not know, or waits for ever: any end but a good one fails a test.
caught()
{
    "$2" "$3"
    if cat "$out" "$err" | grep -q "$said"; then
        grep -h "$said" "$out" "$err" | head -n 1 | tap_comment
        tap_ok "$1: caught, $2"
    elif [ "$status" != 0 ]; then
        tail -n 1 "$err" | tap_comment
        tap_ok "$1: caught, $2"
    else
        tap_fail "$1: caught, $2" "not noticed"
    fi
}

# mutant NAME FILE EDIT: of a file of transports/efa.
mutant()
{
    folder=$(mktemp -d "$tap_dir/mutant.XXXXXX")
    if ! why=$(mutate "$folder" "transports/efa/$(dirname "$2")" "$(basename "$2")" "$3"); then
        tap_fail "$1" "$why"
        return
    fi
    caught "$1" host "$folder"
    [ -z "$gpu" ] || caught "$1" kernels "$folder"
    rm -rf "$folder"
}

gpu=
[ -f "$top_builddir/transports/nvlink/agent_image.lo" ] && gpu=yes

mkdir "$tap_dir/same"
library "$tap_dir/same" >"$out" 2>"$err"
tap_check "the library is put together" test $? = 0
fine "as it is" host "$tap_dir/same"
if [ -n "$gpu" ]; then
    fine "as it is" kernels "$tap_dir/same"
else
    tap_skip "as it is: kernels" "built without nvcc: no atomics on device memory"
fi
side mutant "the descriptor of another rail" wire/batch 's/wsh_efa_mr_desc(set, wr->desc, rail)/wsh_efa_mr_desc(set, wr->desc, (rail + 1) % set->n_rails)/'
side mutant "the key of another rail" wire/batch 's/path\[rail\].key\[wr->key\]/path[(rail + 1) % set->n_rails].key[wr->key]/'
side mutant "a message buffer of another rail" wire/batch 's/wsh_efa_mr_desc(set, req->desc, rail)/wsh_efa_mr_desc(set, req->desc, (rail + 1) % set->n_rails)/'
if tap_long "descriptors and keys of the first rail for all"; then
    side mutant "descriptors of the first rail for all" nic/mr 's/fi_mr_desc(mr->mr\[i\])/fi_mr_desc(mr->mr[0])/'
    side mutant "keys of the first rail for all" set/memory 's/, keys\[wsh_topo_pair([^]]*\]/, keys[0]/'
fi
tap_done
