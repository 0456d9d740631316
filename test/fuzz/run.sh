#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the fuzz targets with clang, libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer in a build folder of
# their own, ./check-fuzz, and runs each for 10 s (with WSH_TEST_LONG=1: 10^7 inputs or 20 minutes), two at a time.
#   run.sh [TARGET…]          FUZZ_SECONDS=n  FUZZ_RUNS=n  FUZZ_JOBS=n  WSH_TEST_SEED=n
# With WSH_TEST_FUZZ=apart it is skipped: .ci/run has it beside the other tests.
# A finding is kept in check-fuzz/findings; what it prints names the command that repeats it.
# timeout: 900
. "${top_srcdir:-.}/test/common/tap.sh"

top_srcdir=$(cd "$top_srcdir" && pwd)
folder=$(cd "$top_builddir" && pwd)/check-fuzz
hint="apt-get install clang libclang-rt-14-dev"
flags="-O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all"
runs=${FUZZ_RUNS:--1}
seconds=${FUZZ_SECONDS:-10}
if [ "${WSH_TEST_LONG:-0}" = 1 ]; then
    runs=${FUZZ_RUNS:-10000000} seconds=${FUZZ_SECONDS:-1200}
fi

[ -z "${WSH_TEST_VARIANT:-}" ] || tap_skip_all "the fuzz targets have a build of their own"
[ "${WSH_TEST_FUZZ:-}" != apart ] || tap_skip_all "WSH_TEST_FUZZ=apart: make check-fuzz runs beside these tests"
command -v clang >/dev/null || tap_skip_all "no clang ($hint)"
echo 'int LLVMFuzzerTestOneInput(const char *data, long size) { return !data && size; }' >"$tap_dir/probe.c"
clang -fsanitize=fuzzer,address,undefined -o "$tap_dir/probe" "$tap_dir/probe.c" 2>"$err" ||
    tap_skip_all "clang has no libFuzzer ($hint)"
[ ! -f "$top_srcdir/config.status" ] || tap_skip_all "the source tree was configured in place"

build()
{
    mkdir -p "$folder"
    [ -f "$folder/Makefile" ] ||
        (cd "$folder" && "$top_srcdir/configure" --with-cuda=no --disable-hardening --enable-debug MPICC=no CC=clang CXX=clang++ "CFLAGS=$flags -DWSH_LIBFUZZER" "CXXFLAGS=$flags") ||
        return 1
    make -C "$folder" -j2 fuzz-targets fuzz_main=-fsanitize=fuzzer
}

# The seeds as libFuzzer reads them: hexadecimal files become bytes.
seeds_make() # TARGET
{
    mkdir -p "$folder/corpus/$1" "$folder/findings"
    for seed in "$top_srcdir/test/fuzz/corpus/$1"/*; do
        case $seed in
            *.hex) perl -ne 's/#.*//; s/\s//g; print pack("H*", $_)' "$seed" >"$folder/corpus/$1/$(basename "$seed" .hex)" ;;
            *) cp "$seed" "$folder/corpus/$1/" ;;
        esac
    done
    [ "$1" != topology ] || cp "$top_srcdir"/test/topo/*.xml "$folder/corpus/$1/"
}

# The innermost frames of a finding, down to the first of ours, are libhwloc's or what it has called.
is_hwloc() # LOG
{
    awk '/^ *#[0-9]+ 0x/ { if (/libhwloc/) { found = 1; exit } if (/\/(topo|test\/fuzz)\/[a-z_]*\.c:/) exit } END { exit !found }' "$1"
}

# libhwloc ends by a signal soon: each finding is repeated, and that library's own are counted apart.
run_topology()
{
    seeds_make topology
    rm -f "$folder/findings/topology-"*
    ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1" \
        nice timeout -k 10 $((seconds + 120)) "$folder/test/fuzz/topology" -fork=1 -ignore_crashes=1 -ignore_ooms=1 \
        -ignore_timeouts=1 -artifact_prefix="$folder/findings/topology-" -runs="$runs" -max_total_time="$seconds" \
        "$folder/corpus/topology" >"$folder/topology.log" 2>&1 </dev/null
    rc=$?
    # 1: the last of its processes was ended by a finding, which is judged below.
    if [ $rc = 1 ] && grep -q '^#[0-9]*: cov:' "$folder/topology.log"; then rc=0; fi
    echo $rc >"$folder/topology.rc"
    apart=0
    for file in "$folder/findings/topology-crash-"*; do
        [ -f "$file" ] || continue
        ASAN_OPTIONS="detect_leaks=0" timeout 60 "$folder/test/fuzz/topology" "$file" >"$folder/topology.one" 2>&1 </dev/null
        if is_hwloc "$folder/topology.one"; then
            apart=$((apart + 1))
            continue
        fi
        cat "$folder/topology.one" >>"$folder/topology.log"
        echo "Test unit written to $file" >>"$folder/topology.log"
        echo 1 >"$folder/topology.rc"
        break
    done
    echo "$apart" >"$folder/topology.apart"
}

# run_one TARGET: what libFuzzer prints goes to check-fuzz/TARGET.log.
run_one()
{
    if [ "$1" = topology ]; then
        run_topology
        return
    fi
    seeds_make "$1"
    set -- "$1" -artifact_prefix="$folder/findings/$1-" -runs="$runs" -max_total_time="$seconds" -timeout=20 \
        -print_final_stats=1 ${WSH_TEST_SEED:+-seed="$WSH_TEST_SEED"} "$folder/corpus/$1"
    target=$1
    shift
    ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1:detect_stack_use_after_return=0" \
        UBSAN_OPTIONS=print_stacktrace=1 \
        nice timeout -k 10 $((seconds + 120)) "$folder/test/fuzz/$target" "$@" >"$folder/$target.log" 2>&1 </dev/null
    echo $? >"$folder/$target.rc"
}

report() # TARGET
{
    log=$folder/$1.log
    seed=$(sed -n 's/^INFO: Seed: //p' "$log" | head -n 1)
    executions=$(sed -n -e 's/^stat::number_of_executed_units: *//p' -e 's/^#\([0-9]*\): cov:.*/\1/p' "$log" | tail -n 1)
    coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1)
    status=$(cat "$folder/$1.rc" 2>/dev/null || echo 99)
    echo "# $1: ${executions:-?} inputs, ${coverage:-cov: ?} edges, seed ${seed:-?}"
    [ "$1" != topology ] || echo "# topology: $(cat "$folder/topology.apart") inputs end libhwloc by a signal, which is not ours"
    if [ "$status" = 0 ]; then
        tap_ok "$1"
        return
    fi
    file=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    tail -n 60 "$log" >"$err"
    tap_fail "$1" "a finding: seed $seed, kept in ${file:-(none)}; repeat it with: $folder/test/fuzz/$1 ${file:-}"
}

build >"$tap_dir/build.log" 2>&1 </dev/null || { tail -n 30 "$tap_dir/build.log" >"$err"; tap_fail "builds" "see above"; tap_done; }
targets=$*
[ -n "$targets" ] || targets=$(make -s -C "$folder" print-fuzz-targets | tr ' ' '\n' | sed -n 's|^test/fuzz/||p')
running=0
for target in $targets; do
    run_one "$target" &
    running=$((running + 1))
    [ $((running % ${FUZZ_JOBS:-2})) != 0 ] || wait
done
wait
for target in $targets; do
    report "$target"
done
tap_done
