#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Counted puts that the target's NIC counts: libfabric of 2026-08 over emulated devices that keep counters, which begin
# 64 before they wrap, with one NIC and with several, and with copies of the library that make mistakes, one of them with
# doorbells; what is said where NICs keep none, or fewer than were asked for.
# Needs root and the root of Debian forky that direct.sh makes (WSH_FORKY_ROOT). For `make check-long` alone.
# timeout: 1800
# shellcheck disable=SC2034,SC2154
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
. "$top_srcdir/test/common/mutants.sh"
. "$top_srcdir/emulator/tests/root.sh"
root=${WSH_FORKY_ROOT:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/warpshmem/forky}
log=$tap_dir/log

[ "${WSH_TEST_LONG:-0}" = 1 ] || tap_skip_all "takes 3 minutes (make check-long)"
[ "$(id -u)" = 0 ] || tap_skip_all "needs root"
[ -x "$root/opt/libfabric/bin/fi_info" ] || tap_skip_all "no libfabric of 2026-08 (emulator/tests/direct.sh makes $root)"
in_root true 2>"$log" || tap_skip_all "no mounts here: $(tail -n 1 "$log")"
# The root sees nothing else of this machine.
mutants=$(mktemp -d "$top_builddir/counters.XXXXXX") || exit 99
trap 'rm -rf "$tap_dir" "$mutants"' EXIT

# over LIMIT WORD=VALUE… COMMAND…: in the root.
over()
{
    seconds=$1
    shift
    in_root env -i PATH=/opt/libfabric/bin:/usr/bin:/bin HOME=/root LANG=C LD_LIBRARY_PATH=/opt/libfabric/lib \
        top_srcdir="$top_srcdir" top_builddir="$top_builddir" WSH_TEST_EFA_PROFILE=p5en WSH_TEST_EFA=all \
        WSH_TEST_NIC_COUNTERS=1 WSH_TEST_PES_MAX=4 WSH_TEST_SLOW="${WSH_TEST_SLOW:-1}" \
        timeout -k 10 $((seconds * ${WSH_TEST_SLOW:-1})) env "$@" >"$out" 2>"$err" </dev/null
    status=$?
}

# job LIBRARIES NICS PROGRAM: a job of two PEs, with the library in that folder first.
job()
{
    over 30 EFA_EMULATOR_QUIET=1 SHMEM_HANG_SECONDS=10 SHMEM_SYMMETRIC_SIZE=64M SHMEM_PROGRESS=call \
        "LD_LIBRARY_PATH=$1:$top_builddir/.libs:/opt/libfabric/lib" SHMEM_NICS_PER_PE="$2" \
        "$top_builddir/oshrun" --emulate-efa=p5en -n 2 "$(test_program "test/mp/$3")"
}

# mutant NAME FOLDER FILE EDIT PROGRAM
mutant()
{
    folder=$(mktemp -d "$mutants/XXXXXX")
    if why=$(mutate "$folder" "$2" "$3" "$4"); then
        job "$folder/lib" 4 "$5"
        tail -n 1 "$err" | tap_comment
        tap_check "$1: caught by $5" test "$status" != 0
    else
        tap_fail "$1" "$why"
    fi
}

# says NAME PATTERN WORD=VALUE…: hello says so.
says()
{
    name=$1 pattern=$2
    shift 2
    over 60 EFA_EMULATOR_QUIET=1 SHMEM_SYMMETRIC_SIZE=64M "LD_LIBRARY_PATH=$top_builddir/.libs:/opt/libfabric/lib" \
        "$@" "$top_builddir/oshrun" --emulate-efa="$profile" -n 2 "$(test_program test/mp/hello)"
    tap_check "$name" grep -q "$pattern" "$out" "$err"
}

for direct in 1 0; do
    for program in counted_by_nics litmus_counted counted_puts; do
        over 300 FI_EFA_USE_DATA_PATH_DIRECT=$direct WSH_TEST_PATHS="efa rails setsefa mixedefa" \
            sh "$top_srcdir/test/run" "$top_builddir/test/mp/$program"
        tap_check "$program, direct data path $direct" test $status = 0
    done
done

mkdir "$mutants/same"
library "$mutants/same" >"$out" 2>"$err"
tap_check "the library is put together" test $? = 0
job "$mutants/same/lib" 4 counted_by_nics
tap_check "as it is" test $status = 0
mutant "a wrap of the NIC's word is not seen" runtime nic_counters \
    's/^#define MEMBERS_MAX/#undef WSH_NIC_WORD_EXTEND\n#define WSH_NIC_WORD_EXTEND(kept, raw) (((kept) \& ~WSH_NIC_WORD_MASK) | (raw))\n&/' \
    counted_by_nics
mutant "the base of another NIC's word" runtime nic_counters \
    's/word->base = here ? kept\[i\] : look(word, host_words(job, number) + i)/word->base = nic->read[number][0].kept/' counted_by_nics
mutant "the base of the counter's life before" runtime nic_counters 's/rc = rebase(job, number, first)/rc = first ? rebase(job, number, first) : 0/' counted_by_nics
mutant "one NIC's word alone" runtime nic_counters 's/i < nic->n_words/i < 1/' counted_by_nics
mutant "to the ordinary queue pair" transports/efa batch 's/wsh_unlikely(req->wr.counter))$/false)/' counted_by_nics
mutant "a quiet does not wait for the put" transports/efa counter_put \
    's/if (!may_start(flow))/if (!may_start(flow) || (wsh_srd_put_refused(\&flow->ctx->srd, \&flow->srd), false))/' \
    litmus_counted
mutant "no doorbell behind FI_MORE" transports/efa batch 's/more ? FI_MORE : 0)/FI_MORE)/' nbi_many
tap_check "the device says so" grep -q 'work requests wait for a doorbell' "$err"

profile=p5en
says "more than the NIC's queue pairs" 'SHMEM_NIC_COUNTERS=300: .* has room for 255 ' SHMEM_NIC_COUNTERS=300
says "the library is told not to" 'keep no counters' SHMEM_NIC_COUNTERS=8 FI_EFA_USE_HW_CNTR=0
profile=p5
says "NICs that keep none" 'keep no counters' SHMEM_NIC_COUNTERS=8
tap_done
