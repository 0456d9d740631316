#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What kernels run of expert parallelism, by lanes on CPUs in place of the host's code (test/ep/lanes): the cases of
# test/ep/pairs.txt with few PEs, and random calls, give what the reference gives.
# timeout: 600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
[ "${WSH_TEST_VARIANT:-clang}" = clang ] || tap_skip_all "lanes have stacks that $WSH_TEST_VARIANT does not know"
lanes=$(cd "$top_builddir" && pwd)/test/.libs/libeplanes.so
table=$top_srcdir/test/ep/pairs.txt

SHMEM_SYMMETRIC_SIZE=512M
export SHMEM_SYMMETRIC_SIZE

limit=100
[ "${WSH_TEST_LONG:-0}" = 0 ] || limit=300 # random calls of two hosts take 116 s on two cores

# run_lanes PROGRAM PES HOSTS ARGS…
run_lanes()
{
    program=$(test_program "test/ep/$1")
    pes=$2 WSH_TEST_HOSTS=$3 WSH_TEST_PATH=local words= provider=
    [ "$3" = 1 ] || words="--nodes-emulated $3" provider=SHMEM_LIBFABRIC_PROVIDER=tcp WSH_TEST_PATH=mixed
    name="$1, $2 PEs, $3 hosts"
    export WSH_TEST_HOSTS WSH_TEST_PATH
    shift 3
    # shellcheck disable=SC2086
    run_job "$limit" env $provider "$oshrun" $words -n "$pes" env "LD_PRELOAD=$lanes" "$program" "$@"
    tap_comment "$out"
    tap_check "$name" test "$status" = 0
}

began=$(date +%s)
for job in $(sed -n 's/.*pes=\([1-4]\) hosts=\([0-9]*\).*path=\(local\|mixed\) .*/\1:\2/p' "$table" | sort -u); do
    run_lanes case "${job%:*}" "${job#*:}" "$table"
done
# More tokens than a block numbers at a time.
run_job 100 "$oshrun" -n 2 env "LD_PRELOAD=$lanes" "$top_builddir/perftest/ep/ep_host" --check --tokens 600 --hidden 128 --experts 16 \
    -n 1 -w 0 -m 'prefill.fp8.*.dispatch'
tap_comment "$out"
tap_check "600 tokens, 2 PEs" test "$status" = 0
run_lanes random_calls 4 1
run_lanes random_calls 4 2
WSH_TEST_ROUNDS=4 run_lanes run_ahead 3 1
WSH_TEST_ROUNDS=2 run_lanes run_ahead 4 2
WSH_TEST_ROUNDS=4 run_lanes agreed 4 2
WSH_TEST_LANES=1 run_lanes late_hosts 4 2
WSH_TEST_LANES=1 WSH_TEST_ROUNDS=3 run_lanes signals 3 1
WSH_TEST_LANES=1 run_lanes late_weights 2 1
WSH_TEST_ROUNDS=4 run_lanes expanded 1 1
WSH_TEST_ROUNDS=3 run_lanes expanded 3 1

# What calls give to other hosts: as the host's code, and the least: puts in columns 2 and 3, rows in 7 and 8.
count()
{
    run_job 60 env SHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun" --nodes-emulated 2 -n 4 ${1:+env "LD_PRELOAD=$1"} \
        "$(test_program perftest/ep/ep_host)" --count --tokens 8 --hidden 256 --experts 16 --topk 4 --weights late -m 'decode.fp8.*'
    awk '/^decode/ && $2 == $3 && $7 == $8 { print $1, $2, $7 }' "$out"
}
count "$lanes" >"$tap_dir/lanes"
count '' >"$tap_dir/host"
tap_check "puts and rows to other hosts: the least, as by the host" \
    sh -c "[ \$(wc -l <'$tap_dir/host') = 3 ] && cmp '$tap_dir/host' '$tap_dir/lanes'"

# mutant NAME LIMIT PROGRAM PES HOSTS ARGS…: the mistake is noticed, or PEs wait for what does not come.
mutant()
{
    LANES_MUTANT=$1 limit=$2 program=$(test_program "test/ep/$3") pes=$4 WSH_TEST_HOSTS=$5 WSH_TEST_PATH=local words= provider=
    [ "$5" = 1 ] || words="--nodes-emulated $5" provider=SHMEM_LIBFABRIC_PROVIDER=tcp WSH_TEST_PATH=mixed
    export LANES_MUTANT WSH_TEST_HOSTS WSH_TEST_PATH
    shift 5
    # shellcheck disable=SC2086
    run_job "$limit" env $provider "$oshrun" $words -n "$pes" env "LD_PRELOAD=$lanes" "$program" "$@"
    tap_check "the mutant $LANES_MUTANT is noticed" test "$status" != 0
    unset LANES_MUTANT
}

mutant early_flags 20 random_calls 3 1
if tap_long "mutants that run ahead until others wait for ever"; then
    WSH_TEST_ROUNDS=4 mutant run_ahead 12 run_ahead 3 1
    WSH_TEST_ROUNDS=2 mutant run_ahead_high 6 run_ahead 3 1 high
    WSH_TEST_ROUNDS=2 mutant run_ahead_high 12 run_ahead 4 2 high
fi
WSH_TEST_ROUNDS=2 mutant early_flags 20 run_ahead 4 2 high
mutant early_images 20 random_calls 2 2
for name in quiet_decline forwards_twice; do WSH_TEST_ROUNDS=4 mutant $name 10 agreed 4 2; done
WSH_TEST_LANES=1 WSH_TEST_ROUNDS=3 mutant early_signals 20 signals 2 1
for name in lost_bits no_padding wrong_places; do WSH_TEST_ROUNDS=3 mutant $name 20 expanded 2 1; done
echo "# took $(($(date +%s) - began)) s"
tap_done
