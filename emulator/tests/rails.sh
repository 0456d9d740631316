#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Several NICs a PE on the machine of test/topo/p5.xml: which ones each PE opens and what it says of them, different
# numbers of them, and what becomes of a job when one goes away.
# timeout: 600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/emulator/tests/lib.sh"
program=$(test_program test/mp/many_nics)
for name in $(env | sed -n 's/^\(\(SHMEM\|SMA\|NVSHMEM\|FI\|EFA_EMULATOR\)_[A-Z_0-9]*\)=.*/\1/p'); do unset "$name"; done
unset CUDA_VISIBLE_DEVICES
SHMEM_SYMMETRIC_SIZE=64M
SHMEM_HANG_SECONDS=20
EFA_EMULATOR_QUIET=1
export SHMEM_SYMMETRIC_SIZE SHMEM_HANG_SECONDS EFA_EMULATOR_QUIET
slow=${WSH_TEST_SLOW:-1}

# job PES [NAME=value…] [-- ARGS…]: many_nics over the device.
job()
{
    pes=$1
    shift
    words=
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        words="$words $1"
        shift
    done
    [ $# = 0 ] || shift
    # shellcheck disable=SC2086
    run_job $((90 * slow)) env $words "$oshrun" --emulate-efa -n "$pes" "$program" "$@"
}

# passed NAME [PATTERN]: it ended well, and said so.
passed()
{
    if [ "$status" = 0 ] && { [ -z "${2:-}" ] || grep -q "$2" "$err"; }; then tap_ok "$1"
    else tap_fail "$1" "wanted status 0 and '${2:-}'"; fi
}

p5="SHMEM_TOPOLOGY=$top_srcdir/test/topo/p5.xml"
info="SHMEM_DEBUG=info,TOPO,TRANSPORT"
job 2 "$p5" "$info"
passed "each PE has the NICs of its GPU" \
    'PE 1 .*4 of 32 NICs for the GPU at .*: rdmap96s0 (switch), rdmap97s0 (switch), rdmap98s0 (switch), rdmap99s0 (switch)'
passed "… and opens them" 'PE 0 .*network: efa (rdmap79s0-rdm).* 4 NICs'
fabric=$(sed -n 's/.*network: efa .*fabric \([a-z-]*\),.*/\1/p' "$err" | head -n 1)
echo "# fabric $fabric"
# Nobody could guess that the first two share a GPU, and so its NICs: they tell each other.
cat >"$tap_dir/places" <<'END'
#!/bin/sh
case ${PMIX_RANK:-0} in 0 | 1) gpu=5 ;; 2) gpu=0 ;; *) gpu=7 ;; esac
SHMEM_PE_GPU=$gpu exec "$@"
END
chmod +x "$tap_dir/places"
run_job $((90 * slow)) env "$p5" "$info" "$oshrun" --emulate-efa -n 4 "$tap_dir/places" "$program"
passed "PEs of a host tell each other where they work" \
    'PE 0 .*2 of 32 NICs for the GPU at .*: rdmap164s0 (switch), rdmap165s0 (switch)$'
passed "… and share their NICs out" 'PE 1 .*2 of 32 NICs for the GPU at .*: rdmap166s0 (switch), rdmap167s0 (switch)$'
passed "… so that a third has its own" 'PE 3 .*4 of 32 NICs .*: rdmap198s0 (switch), '

# A topology XML in which processors 1 and 2 have changed places: of the NICs' two, this machine has one or all four.
sed 's/cpuset="0x00000003"/cpuset="0x00000005"/g; s/cpuset="0x0000000c"/cpuset="0x0000000a"/g
    s/cpuset="0x00000002"/cpuset="two"/g; s/cpuset="0x00000004"/cpuset="0x00000002"/g; s/cpuset="two"/cpuset="0x00000004"/g
    /type="PU"/{ s/os_index="1"/os_index="two"/; s/os_index="2"/os_index="1"/; s/os_index="two"/os_index="2"/; }' \
    "$top_srcdir/test/topo/p5.xml" >"$tap_dir/turned.xml"
job 2 "SHMEM_TOPOLOGY=$tap_dir/turned.xml" "$info" SHMEM_PROGRESS=thread
passed "the progress thread runs near the NICs" 'PE 0 .*the progress thread runs on processors 0\(,2\)*, near the NICs'
run_job $((90 * slow)) env "SHMEM_TOPOLOGY=$tap_dir/turned.xml" "$info" SHMEM_PROGRESS=thread taskset -c 1 \
    "$oshrun" --emulate-efa -n 2 "$program"
passed "… on no processor that the process may not use" 'PE 0 .*the progress thread runs on processors 1, as this process may'
job 2 "$p5" "$info" SHMEM_NICS_EXCLUDE=rdmap80s0,rdmap97s0
passed "SHMEM_NICS_EXCLUDE leaves NICs out" 'PE 0 .*: rdmap79s0 (switch), rdmap81s0 (switch), rdmap82s0 (switch)$'
job 2 "$p5" "$info" SHMEM_NICS=rdmap7?s0,rdmap96s0
passed "SHMEM_NICS lets only some in" 'PE 1 .*1 of 32 NICs .*: rdmap96s0 (switch)$'
job 4 "$p5" "$info" SHMEM_NICS_PER_PE=8
passed "eight NICs a PE" 'network: efa .* 8 NICs'
job 2 SHMEM_NICS=mlx5_0
if [ "$status" != 0 ] && [ "$(grep -c "SHMEM_NICS='mlx5_0'.*leave no NIC" "$err")" -ge 1 ]; then
    tap_ok "a list that leaves none is reported"
else tap_fail "a list that leaves none is reported" "wanted a line that names it"; fi
job 2 "$p5" EFA_EMULATOR_NICS=rdmap79s0,rdmap96s0
passed "a machine that offers fewer NICs than its topology XML has" 'NICs that libfabric.s provider efa does not offer: rdmap80s0, '
if [ "$(grep -c 'does not offer' "$err")" = 1 ]; then tap_ok "… says so once"; else tap_fail "… says so once" "wanted one line"; fi
if tap_long "policies"; then
    for policy in fixed roundrobin; do
        job 2 "$p5" SHMEM_NICS_POLICY=$policy
        passed "policy $policy"
    done
fi

# Different numbers of NICs: each position works with one of the peer's.
cat >"$tap_dir/differ" <<'END'
#!/bin/sh
case ${PMIX_RANK:-0} in 0) n=4 ;; 1) n=1 ;; 2) n=3 ;; *) n=8 ;; esac
SHMEM_NICS_PER_PE=$n exec "$@"
END
chmod +x "$tap_dir/differ"
run_job $((90 * slow)) "$oshrun" --emulate-efa -n 4 "$tap_dir/differ" "$program"
passed "4, 1, 3 and 8 NICs in one job"

# Index of a NIC of PE 0 and of PE 1 on the machine; both work with each other.
faults='at 2s from 1.5 remove'
tap_long "other faults" && faults="at 2s from 0.1 remove|$faults|at 2s to 1.5 down"
while [ -n "$faults" ]; do
    fault=${faults%%|*}
    case $faults in *\|*) faults=${faults#*|} ;; *) faults= ;; esac
    run_job $((90 * slow)) env "$p5" "EFA_EMULATOR_FAULTS=$fault" "$oshrun" --emulate-efa -n 2 "$program" 5
    if [ "$status" = 0 ] && [ "$(grep -c 'is left out from now on, and 3 of 4 NICs go on' "$err")" = 2 ]; then
        tap_ok "$fault: goes on, and each PE says so in one line"
    elif [ "$fabric" = efa ] && [ "$status" != 0 ] && grep -q 'rdmap' "$err"; then
        tap_skip "$fault" "fabric efa needs packets that nobody repeats: the job ended with a line"
    else
        tap_fail "$fault" "wanted status 0 and a line of each PE"
    fi
done

# Large signals count their data at the target: going on would be unsafe for what was under way.
run_job $((90 * slow)) env "$p5" "EFA_EMULATOR_FAULTS=at 2s from 0.1 remove" "$oshrun" --emulate-efa -n 2 "$program" 5 signals
if [ "$status" = 0 ] || { ! grep -q 'wrong\|took effect\|signals$' "$err" && grep -q 'rdmap' "$err"; }; then
    tap_ok "with counted puts: right to the end, or one line"
else tap_fail "with counted puts: right to the end, or one line" "wanted no wrong data"; fi
tap_long "a peer whose links are all down ends the job" || tap_done
run_job $((90 * slow)) env "$p5" "EFA_EMULATOR_FAULTS=at 2s to 1 down" "$oshrun" --emulate-efa -n 2 "$program" 20
if [ "$status" != 0 ] && grep -q 'is PE 1 alive' "$err"; then tap_ok "a peer whose links are all down ends the job"
else tap_fail "a peer whose links are all down ends the job" "wanted a line that names PE 1"; fi
tap_done
