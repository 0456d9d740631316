#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshrun --emulate-efa: what the PEs are given, what a wrong or missing one is answered, and that nothing is left however
# the job ends.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"
emulator=$(cd "$top_builddir" && pwd)/emulator/.libs/libefa-emulator.so
for name in $(env | sed -n 's/^\(\(SHMEM\|SMA\|NVSHMEM\|FI\|EFA_EMULATOR\)_[A-Z_0-9]*\)=.*/\1/p'); do unset "$name"; done
SHMEM_NICS_PER_PE=1 # several: rails.sh
export SHMEM_NICS_PER_PE

job 3000 --emulate-efa=p7 -n 2 true
ended "a wrong profile" 2 '--emulate-efa=p7: unknown profile; write p4d, p5, p5en, p6 or minimal'
job 3000 --emulate-efa= -n 2 true
ended "an empty profile" 2 'unknown profile; write p4d'
job 3000 -n 2 --emulate-efa p5 true
ended "a profile without =" 2 "'p5' stands where the program should; write --emulate-efa=p5"
run_job 10 "$oshrun" --help
tap_check "--help tells of it" grep -q -- '--emulate-efa' "$out"
run_job 10 env OSHRUN_LAUNCHER=mpirun PATH="$tap_dir:$PATH" "$oshrun" --emulate-efa -n 2 true
tap_check "other launchers have no word for it" grep -qE 'no option that does what --emulate-efa does|not on PATH' "$err"

# An oshrun that lies in no build folder looks where make install-emulator puts it.
cp "$oshrun" "$tap_dir/oshrun"
built=$oshrun
oshrun=$tap_dir/oshrun
job 3000 --emulate-efa -n 2 "$course" hello
oshrun=$built
if [ "$status" = 0 ]; then tap_skip "no library" "an emulator is installed"
else ended "no library" 1 'no emulator at .*/libefa-emulator.so .*; make install-emulator'; fi
if [ ! -e "$emulator" ]; then
    tap_skip "the rest" "the emulator is not built (libibverbs-dev)"
    tap_done
fi
case ${WSH_TEST_VARIANT:-clang} in
    clang) ;;
    *) tap_skip "the rest" "a preloaded library does not go with $WSH_TEST_VARIANT"
        tap_done ;;
esac

# given NAME COMMAND-WORDS… : the words PEs see of it are in $out
given()
{
    # shellcheck disable=SC2016
    run_job 20 env "$@" sh -c 'env | grep -E "^(EFA_EMULATOR_(DIR|PROFILE)|LD_PRELOAD|SHMEM_TRANSPORTS|SHMEM_LIBFABRIC_PROVIDER|FI_EFA_ENABLE_SHM_TRANSFER)="; stat -c "mode %a" "$EFA_EMULATOR_DIR"'
    sort -u "$out" | sed "s|=$TMPDIR/oshrun\.[^/]*/|=|; s|=.*/libefa|=libefa|" | tr '\n' ' ' >"$tap_dir/given"
    cp "$tap_dir/given" "$out"
}

shown()
{
    if [ "$(cat "$out")" = "$2" ] && [ -z "$(leftovers)" ]; then tap_ok "$1"; else tap_fail "$1" "wanted $2, left $(leftovers)"; fi
}

base="LD_PRELOAD=libefa-emulator.so"
given "$oshrun" --emulate-efa -n 2
shown "what PEs are given" \
    "EFA_EMULATOR_DIR=efa EFA_EMULATOR_PROFILE=p5 FI_EFA_ENABLE_SHM_TRANSFER=0 $base SHMEM_LIBFABRIC_PROVIDER=efa SHMEM_TRANSPORTS=efa mode 700 "
given "$oshrun" --emulate-efa=p4d -n 1
shown "one PE, p4d" \
    "EFA_EMULATOR_DIR=efa EFA_EMULATOR_PROFILE=p4d FI_EFA_ENABLE_SHM_TRANSFER=0 $base SHMEM_LIBFABRIC_PROVIDER=efa SHMEM_TRANSPORTS=efa mode 700 "
given "$oshrun" --emulate-efa=p6 --nodes-emulated 2 -n 4
shown "shared memory inside emulated hosts" \
    "EFA_EMULATOR_DIR=efa EFA_EMULATOR_PROFILE=p6 FI_EFA_ENABLE_SHM_TRANSFER=0 $base SHMEM_LIBFABRIC_PROVIDER=efa mode 700 "
given SHMEM_TRANSPORTS=local FI_EFA_ENABLE_SHM_TRANSFER=1 NVSHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun" --emulate-efa -n 2
shown "what the user chose stays" \
    "EFA_EMULATOR_DIR=efa EFA_EMULATOR_PROFILE=p5 FI_EFA_ENABLE_SHM_TRANSFER=1 $base SHMEM_TRANSPORTS=local mode 700 "

run_job 30 "$oshrun" --emulate-efa -n 2 env SHMEM_DEBUG=info,TRANSPORT "$course" hello
if [ "$status" = 0 ] && grep -q "network: efa (rdmap" "$err"; then tap_ok "the PEs talk through provider efa"
else tap_fail "the PEs talk through provider efa" "wanted a line of the transport that says so"; fi
for profile in p4d p5en p6 minimal; do
    job 20000 --emulate-efa=$profile -n 3 "$course" hello
    ended "3 PEs on $profile" 0 ''
done

# A NIC's handles.
run_job 30 env EFA_EMULATOR_HANDLES=4 "$oshrun" --emulate-efa -n 4 "$course" hello
tap_check "as many NICs as a device has address handles for" test "$status" = 0
run_job 30 env EFA_EMULATOR_HANDLES=3 "$oshrun" --emulate-efa -n 4 "$course" hello
handles='PE [0-3] .*(rdmap[0-9s]*-.*) refuses the address of PE [0-3] after those of [23] others .*handles.*SHMEM_NICS_PER_PE'
tap_check "one more: a line with the NIC, how many, and the cure" sh -c "[ $status != 0 ] && grep -q '$handles' '$err'"
grep -m 1 'address handles' "$err" | tap_comment

# However it ends.
job 20000 --emulate-efa -n 4 "$course" again 2
ended "shmem_init and shmem_finalize twice" 0 ''
job 20000 --emulate-efa -n 4 "$course" raise 9
ended "kill -9 of a PE" 137 'PE 3 .* killed by signal 9'
job 20000 --emulate-efa -n 4 "$course" global 7
ended "shmem_global_exit" 7 'PE 3 .* status 7'
for sig in KILL TERM INT; do
    start_job 4 --emulate-efa -n 4 "$course" wait
    began=$(now_ms)
    kill "-$sig" "$job"
    end_job 15000 2>/dev/null
    if [ -s "$left_file" ]; then tap_fail "kill -$sig of oshrun" "left behind: $(cat "$left_file")"
    else tap_ok "kill -$sig of oshrun leaves nothing"; fi
done
for delay in 0.01 0.05 0.15 0.3; do
    : >"$tap_dir/start"
    "$oshrun" --emulate-efa -n 4 "$course" wait >"$out" 2>"$err" </dev/null &
    job=$!
    sleep $delay
    began=$(now_ms)
    kill -9 "$job"
    end_job 15000 2>/dev/null
    if [ -s "$left_file" ]; then tap_fail "kill -9 after $delay s" "left behind: $(cat "$left_file")"
    else tap_ok "kill -9 after $delay s leaves nothing"; fi
done
tap_done
