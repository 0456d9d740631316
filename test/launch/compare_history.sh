#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# compare --history keeps each run and prints what moved since the last one of its kind. Scripts that write the results of
# a table take the place of the launchers. Options that make no sense are refused by one line.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
command -v python3 >/dev/null || tap_skip_all "no python3"
mkdir "$tap_dir/programs"
for side in programs programs/peers; do
    mkdir -p "$tap_dir/$side"
    printf '#!/bin/sh\n' >"$tap_dir/$side/barrier"
    chmod +x "$tap_dir/$side/barrier"
done

# The row's time is in the file beside it; --json is its last argument.
cat >"$tap_dir/launch" <<'EOF'
#!/bin/sh
times=$1
shift
while [ "$#" -gt 1 ]; do shift; done
printf '{"rows": [{"op": "barrier_all", "bytes": 0, "right": true, "p50": %s}]}\n' "$(cat "$times")" >"$1"
EOF
chmod +x "$tap_dir/launch"
history=$tap_dir/history

# compare OURS PEER ARGUMENT…: times in us
compare()
{
    echo "$1" >"$tap_dir/ours"
    echo "$2" >"$tap_dir/peer"
    shift 2
    run_job 30 "$top_srcdir/perftest/compare" --ours-dir "$tap_dir/programs" --ours-run "$tap_dir/launch $tap_dir/ours" \
        --peer-run "$tap_dir/launch $tap_dir/peer" --rows 'barrier_all 2 PEs' --history "$history" "$@"
}

compare 1.0 2.0
tap_check "the first run has none before it" grep -q "has no earlier run" "$out"
tap_check "it is kept" test "$(wc -l <"$history")" = 1
compare 1.01 2.0
tap_check "a run like it: nothing moved" grep -q "^# moved since .*: no rows" "$out"
compare 3.0 6.0
tap_check "the machine was slower, the ratio did not move" grep -q "^# moved since .*: no rows" "$out"
compare 1.5 2.0
tap_check "a worse ratio" grep -q "0.500 -> *0.750 *1.500 worse" "$out"
compare 1.0 2.0
tap_check "a better one" grep -q "0.750 -> *0.500 *0.667 better" "$out"
compare 1.0 2.0 --ours-env SHMEM_SPIN_US=1
tap_check "other settings are another kind" grep -q "has no earlier run" "$out"
tap_check "all are kept" test "$(wc -l <"$history")" = 6
echo '{"kind": 1}' >>"$history"
compare 1.0 2.0
tap_check "a line that is no run: refused by its number" grep -q "line 7 is no run of compare" "$err"
tap_check "with status 2" test "$status" = 2

# refused ARGUMENT…: one line, status 2, nothing has run
refused()
{
    run_job 30 "$top_srcdir/perftest/compare" "$@"
    tap_check "$*: refused by one line" test "$status:$(wc -l <"$err"):$(wc -l <"$out")" = 2:1:0
}

mkdir "$tap_dir/build"
printf '#!/bin/sh\nexit 1\n' >"$tap_dir/build/oshrun"
chmod +x "$tap_dir/build/oshrun"
cd "$tap_dir" || exit 99
for pes in x '' 2, 0 -3 2.5; do
    refused builds build build --pes "$pes"
    refused cores --pes "$pes"
done
refused builds build none
refused builds build build --rows none
refused builds build build --paths none
refused builds build build --programs none
refused builds build build -r 0
refused builds build build --json none/file
tap_done
