#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# perftest/cores prints each row once, also after a run that was cut off, beside the peer's and the goal. Scripts that write
# the results of a table take the place of the launchers.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
command -v python3 >/dev/null || tap_skip_all "no python3"
mkdir -p "$tap_dir/programs/peers"
for program in barrier alltoall_latency reduce_latency broadcast_latency collect_latency pingpong init; do
    for side in programs programs/peers; do
        printf '#!/bin/sh\n' >"$tap_dir/$side/$program"
        chmod +x "$tap_dir/$side/$program"
    done
done

# launch US -n N PROGRAM … --json FILE: every row takes so long; what was launched is counted.
cat >"$tap_dir/launch" <<'EOF'
#!/bin/sh
us=$1 rows='' sizes=0
echo "$*" >>"$(dirname "$0")/launched"
while [ "$#" -gt 1 ]; do
    case $1 in -m) row=$2 ;; -s) sizes=$(echo "$2" | tr , ' ') ;; esac
    shift
done
for size in $sizes; do
    rows="$rows${rows:+, }{\"op\": \"$row\", \"bytes\": $size, \"right\": true, \"p50\": $us}"
done
echo "{\"rows\": [$rows]}" >"$1"
EOF
chmod +x "$tap_dir/launch"
table=$tap_dir/table

cores()
{
    run_job 60 "$top_srcdir/perftest/compare" cores --ours-dir "$tap_dir/programs" --ours-run "$tap_dir/launch 0.3" \
        --peer-run "$tap_dir/launch 0.6" --pes 2,4 --rounds 1 --out "$table" "$@"
}

cores --minutes 0
tap_check "no time: nothing but the machine and the head" test "$status:$(grep -c '^#' "$table"):$(grep -vc '^#' "$table")" = 0:2:0
tap_check "what is left is said" grep -q "rows are left" "$err"
echo "sum 64Ki, 4 PEs                     us         1.0000" >>"$table"
cores
tap_check "the rest follows" test "$status:$(sort "$table" | uniq -d | wc -l)" = 0:0
tap_check "each row once" test "$(grep -c "^sum 64Ki, 4 PEs" "$table")" = 1
tap_check "both sides, ratio, goal" \
    grep -q "^barrier_all, 4 PEs  *us  *0.3000  *0.6000  *0.500  *0.35  reached" "$table"
tap_check "the start: the time of the launcher itself" grep -Eq "^start, 2 PEs +us +[0-9]{4,}[.]" "$table"
tap_check "a goal missed" grep -q "^alltoall 8, 2 PEs  .* 0.25  missed" "$table"
before=$(wc -l <"$tap_dir/launched")
cores
tap_check "all is there: nothing runs" test "$status:$(wc -l <"$tap_dir/launched")" = "0:$before"
rm "$tap_dir/programs/barrier" "$table"
cores
tap_check "a program of ours is missing: status 1" test "$status" = 1
tap_check "… and its row is not kept" sh -c "! grep -q barrier_all '$table'"
tap_done
