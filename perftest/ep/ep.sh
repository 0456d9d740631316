#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Expert parallelism in host memory: options, rows, published figures apart from measured ones; a reduced shape of every
# row, in one host and between emulated ones, with right rows and as few of them on the network as the route allows.
# timeout: 200
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
# shellcheck disable=SC2086
run_job 60 "$oshrun" -n 2 "$program" $small --check --in-place --routing hot -k 2 -m 'both'
tap_check "one hot expert, combined rows in the library's buffer" sh -c "[ $status = 0 ] && ! grep -q WRONG '$out'"
tap_done
