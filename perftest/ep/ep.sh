#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Expert parallelism in host memory: options, rows, published figures apart from measured ones; a reduced shape of every
# row, in one host and between emulated ones, with right rows and as few of them on the network as the route allows.
# timeout: 400
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
program=$(test_program perftest/ep/ep_host)
small='--tokens 8 --hidden 256 --experts 16 --topk 4 -n 3 -w 1 --compute 50'
SHMEM_SYMMETRIC_SIZE=64M
export SHMEM_SYMMETRIC_SIZE

run_job 20 "$program" --help
tap_check "--help names the rows" sh -c "[ $status = 0 ] && grep -q '^  overlap  ' '$out'"
run_job 20 "$program" --list
tap_check "--list prints each row once" sh -c "[ \$(sort -u '$out' | wc -l) = 28 ] && [ \$(wc -l <'$out') = 28 ] &&
    grep -qx decode.fp8.256.128.both '$out' && grep -qx prefill.bf16.288.4096.combine '$out'"
run_job 20 "$program" --list -m 'prefill.ue8m0.*.overlap,*.bf16.256.*.both' --tokens 1,64
tap_check "-m and --tokens choose" sh -c "[ \"\$(tr '\\n' ' ' <'$out')\" = 'decode.bf16.256.1.both decode.bf16.256.64.both \
prefill.bf16.256.1.both prefill.bf16.256.64.both prefill.ue8m0.256.1.overlap prefill.ue8m0.256.64.overlap \
prefill.ue8m0.288.1.overlap prefill.ue8m0.288.64.overlap ' ]"
run_job 20 "$program" --memory -m prefill
tap_check "--memory: a line for each shape and number of PEs that divides the experts" \
    sh -c "[ $status = 0 ] && [ \$(grep -c '^| prefill ' '$out') = 14 ] && grep -q '^| prefill | 256 | fp8 | 4096 | 256 | [1-9]' '$out'"
for bad in --nonsense '--hidden 100' '--topk 17' '--routing cold' '--route long' '-n 0' '--tokens 0' --graph --best \
    '--late -1' '--weights never' 'more'; do
    # shellcheck disable=SC2086
    run_job 20 "$program" $bad
    tap_check "$bad: exit status 2, one line" sh -c "[ $status = 2 ] && [ \$(wc -l <'$err') = 1 ]"
done
run_job 20 "$oshrun" -n 2 "$program" --tokens 16 --experts 8 --hidden 256 --topk 2 --capacity 1024 -m 'decode.bf16.*.both' -n 2 -w 0 --check
tap_check "room for more rows of an expert than can come" sh -c "[ $status = 0 ] && grep -q '^decode.bf16.8.16.both' '$out' && ! grep -q WRONG '$out'"
run_job 20 "$oshrun" -n 3 "$program" --experts 256
tap_check "experts that the PEs do not divide: one line" sh -c "[ $status = 2 ] && grep -q 'experts that 3 PEs divide' '$err'"

# shellcheck disable=SC2086
run_job 60 "$oshrun" -n 2 "$program" $small --check --published --json "$tap_dir/json" --csv "$tap_dir/csv"
tap_check "2 PEs: a line a row, none wrong" sh -c "[ $status = 0 ] && [ \$(grep -vc '^#' '$out') = 14 ] && ! grep -q WRONG '$out'"
tap_check "published figures say whose they are, and are comments" sh -c "grep -q '^# Published by others' '$out' &&
    [ \$(grep -c '^# decode .* read by 20..-..)' '$out') -gt 5 ] && ! grep -q 'UCCL' '$tap_dir/json'"
tap_check "CSV and JSON have all rows" sh -c "[ \$(grep -c ',yes,' '$tap_dir/csv') = 14 ] && python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))[\"rows\"]
fit = all(r[\"right\"] and r[\"p50\"] > 0 and r[\"rows\"] > 0 and r[\"network_rows\"] == 0 for r in rows)
limits = all(r[\"limit_us\"] > 0 and 0 < r[\"link_rows\"] < r[\"rows\"] for r in rows)
halves = all((r[\"combine_send_us\"] is not None) == (r[\"what\"] == \"overlap\") for r in rows)
sys.exit(not (len(rows) == 14 and fit and limits and halves))' '$tap_dir/json'"
# Of 2 PEs: a token that PE 0 has alone crosses the link once, or not at all; PE 1 gets and sends nothing else.
# shellcheck disable=SC2086
run_job 60 "$oshrun" -n 2 "$program" $small --check --routing alone --late 100000 -m 'decode.*.dispatch' --json "$tap_dir/json"
tap_check "tokens on PE 0 alone, the last PE late: right, its time apart" sh -c "[ $status = 0 ] && python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))[\"rows\"]
fit = all(r[\"right\"] and r[\"late_us\"] == 100000 and r[\"routing\"] == \"alone\" and r[\"min\"] < 100000 for r in rows)
once = all(2 * r[\"link_rows\"] <= 8 and 2 * r[\"rows\"] == 8 * 4 and r[\"link_bytes\"] == r[\"link_rows\"] * 512
           for r in rows if r[\"dtype\"] == \"bf16\")
sys.exit(not (len(rows) == 2 and fit and once))' '$tap_dir/json'"
# shellcheck disable=SC2086
run_job 60 "$oshrun" -n 2 "$program" $small --check --weights late -m 'decode.*.both' --json "$tap_dir/json"
tap_check "weights that come with combine: right" sh -c "[ $status = 0 ] && [ \$(grep -c 'weights\": \"late' '$tap_dir/json') = 2 ]"
# shellcheck disable=SC2086
run_job 60 "$oshrun" -n 2 "$program" $small --tokens 1,2,4 -m both --json "$tap_dir/json"
run_job 20 "$top_srcdir/perftest/plot" --text --only '*decode fp8*' "$tap_dir/json"
tap_check "plot draws numbers of tokens as one line" sh -c "[ $status = 0 ] && [ \$(grep -vc '^#' '$out') = 3 ] &&
    grep -q '^# ep_host decode fp8 16 experts both (2 PEs' '$out'"

SHMEM_LIBFABRIC_PROVIDER=tcp
export SHMEM_LIBFABRIC_PROVIDER
for route in one_copy direct; do
    # shellcheck disable=SC2086
    run_job 100 "$oshrun" -n 4 --nodes-emulated 2 "$program" $small --check --route $route --routing zipf \
        -m '*.dispatch,*.combine' --json "$tap_dir/json"
    tap_check "4 PEs on 2 emulated hosts, $route: right, no more rows than needed, few puts" sh -c "[ $status = 0 ] && python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
fit = all(r[\"right\"] and r[\"network_rows\"] == r[\"network_rows_least\"] > 0 and r[\"route\"] == sys.argv[2] and
          1 <= r[\"puts_a_peer\"] <= 4 and r[\"limit_us\"] is None for r in report[\"rows\"])
sys.exit(not (len(report[\"rows\"]) == 8 and fit and report[\"hosts\"].startswith(\"emulated\")))' '$tap_dir/json' $route"
done
# What a PE gives to NICs, of 16 PEs on 2 hosts, 8 a host. counted OVERHEAD: each row's messages and doorbells are at most
# that times the least, puts and rows are the least; puts by arithmetic, and rows by the chance that a token of uniform
# routing chooses the other host, within five deviations of the 16 x 8 tokens.
counted()
{
    awk '/^decode/ { print $1, $2, $3, $4, $5, $6, $7, $8 }' "$out" >"$tap_dir/counted"
    python3 - "$1" "$tap_dir/counted" <<'END'
import math, sys

most, rows = float(sys.argv[1]), [line.split() for line in open(sys.argv[2], encoding="utf-8")]
pes, near, tokens, experts, topk = 16, 8, 8, 256, 8
chance = 1 - math.comb(experts - experts * near // pes, topk) / math.comb(experts, topk)
for name, *figures in rows:
    puts, least, messages, doorbells, fewest_messages, sent, fewest = map(float, figures)
    calls = 2 if name.endswith(".both") else 1
    off = abs(sent / calls - tokens * chance) / math.sqrt(tokens * chance * (1 - chance) / pes)
    right = puts == least == calls * (pes // near - 1) and sent == fewest and off <= 5
    if not right or messages > most * fewest_messages or doorbells > messages or fewest_messages != least:
        sys.exit(f"{name}: {figures}, {off:.1f} deviations off")
sys.exit(len(rows) != 3)
END
}
count='--count --check --tokens 8 --hidden 256 --experts 256 -m decode.fp8.*'
# shellcheck disable=SC2086
run_job 100 "$oshrun" -n 16 --nodes-emulated 2 "$program" $count
tap_check "--count, 16 PEs: puts and rows are the least, which arithmetic finds too" sh -c "[ $status = 0 ]"
counted 10
tap_check "… row by row" test $? = 0
if [ -e "${WSH_LIBFABRIC:-}/lib/libfabric.so.1" ] && [ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ]; then
    for faults in '' 'reorder 300us; drop 5% late 2ms'; do
        # shellcheck disable=SC2086
        run_job 100 env "EFA_EMULATOR_FAULTS=$faults" EFA_EMULATOR_QUIET=1 SHMEM_LIBFABRIC_PROVIDER=efa SHMEM_NICS_PER_PE=1 \
            "LD_LIBRARY_PATH=$WSH_LIBFABRIC/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
            "$oshrun" --emulate-efa=p5en -n 16 --nodes-emulated 2 "$program" $count
        counted 1.2 && [ "$status" = 0 ]
        tap_check "where NICs count, ${faults:-no faults}: messages and doorbells at most 1.2 times the least, right" test $? = 0
        tap_comment "$out"
    done
else
    tap_skip "messages and doorbells where NICs count" \
        "no libfabric of 2026-08 (emulator/tests/libfabric makes one, WSH_LIBFABRIC names it), or no emulator"
fi
# Where CPUs count. few PES HOSTS NICS MESSAGES [WORD=VALUE…]: so many messages a call are the least of puts of 0.5 and 1 MiB.
few()
{
    pes=$1 hosts=$2 nics=$3 fewest=$4
    shift 4
    run_job 100 env "$@" EFA_EMULATOR_QUIET=1 SHMEM_LIBFABRIC_PROVIDER=efa "SHMEM_NICS_PER_PE=$nics" SHMEM_SYMMETRIC_SIZE=256M \
        "$oshrun" --emulate-efa=p5en -n "$pes" --nodes-emulated "$hosts" "$program" --count --nics "$nics" --check \
        --tokens 128 --hidden 4096 --experts 64 -m 'decode.fp8.*.dispatch,decode.fp8.*.combine'
    tap_check "$pes PEs on $hosts hosts, $nics NICs a PE${1:+, $1}: $fewest messages and doorbells a call, $((hosts - 1)) puts" \
        sh -c "[ $status = 0 ] && [ \$(awk '/^decode/ && \$2 == \$3 && \$3 == $((hosts - 1)) && \$6 == $fewest &&
            \$4 <= 1.2 * \$6 && \$5 <= \$4 && \$7 == \$8' '$out' | wc -l) = 2 ]"
    tap_comment "$out"
}
if [ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ]; then
    few 2 2 2 2
    few 2 2 4 4 'EFA_EMULATOR_FAULTS=reorder 300us; drop 5% late 2ms'
    few 4 4 2 3 'EFA_EMULATOR_FAULTS=reorder 300us; drop 5% late 2ms'
else
    tap_skip "messages and doorbells of several NICs" "the emulator is not built (libibverbs-dev)"
fi
# shellcheck disable=SC2086
run_job 60 "$oshrun" -n 2 "$program" $small --check --in-place --routing hot -k 2 -m 'both'
tap_check "one hot expert, combined rows in the library's buffer" sh -c "[ $status = 0 ] && ! grep -q WRONG '$out'"
tap_done
