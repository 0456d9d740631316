#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A PE that comes 5 ms late to every barrier is named by the table at the end, by the file and its picture, and by --top;
# files of metrics are whole at every read, and go with their PEs.
# shellcheck disable=SC2317
set -u
. "${top_srcdir:-.}/test/common/tap.sh"

need_oshrun
late=$tap_dir/late
cp "$(test_program test/launch/helper/late)" "$late" || exit 99
SHMEM_SYMMETRIC_SIZE=16M
export SHMEM_SYMMETRIC_SIZE

# until_named COMMAND…: with PE 2 ever later, until the command finds it named. On a machine with other work PEs wait for
# those that have no core, and 5 ms are nothing.
until_named()
{
    for LATE_MS in 5 50 300; do
        export LATE_MS
        "$@" && break
        echo "# PE 2 is not named with $LATE_MS ms"
    done
    unset LATE_MS
}

json=$tap_dir/x.json
table_names()
{
    SHMEM_STATS=1 SHMEM_STATS_FILE=$json run_job 60 "$oshrun" -n 4 "$late" 40
    grep -q '^  imbalance: the others waited longest for PE 2,' "$err" &&
        test "$(grep -cE ' ms: PE [013] in shmem_[a-z_]* for PE 2$' "$err")" -ge 3
}
until_named table_names
tap_check "a job with SHMEM_STATS=1" test "$status" = 0
tap_check "a table of at most 30 lines" test "$(wc -l <"$err")" -le 30 -a "$(grep -c '^statistics of job' "$err")" = 1
tap_check "it names the late PE" grep -q '^  imbalance: the others waited longest for PE 2,' "$err"
tap_check "the longest waits are for it" test "$(grep -cE ' ms: PE [013] in shmem_[a-z_]* for PE 2$' "$err")" -ge 3
tap_check "puts are counted" grep -qE '^  puts, all PEs +160 ' "$err"
tap_comment "$err"
tap_check "the file is JSON of all PEs" python3 - "$json" <<'X'
import json, os, sys
data = json.load(open(sys.argv[1]))
assert data["n_pes"] == 4 and [pe["pe"] for pe in data["pes"]] == [0, 1, 2, 3]
assert all(pe["puts"] == 40 and pe["bytes_to"][(pe["pe"] + 1) % 4] == 40 * 4096 for pe in data["pes"])
assert oct(os.stat(sys.argv[1]).st_mode)[-3:] == "644"
X
# shellcheck disable=SC2016
tap_check "its picture names the late PE" sh -c '"$1" "$2" -o "$3" | grep -q "waited for longest: PE 2,"' sh \
    "$top_srcdir/perftest/plot" "$json" "$tap_dir/x.svg"
tap_check "which is XML with two matrices" python3 - "$tap_dir/x.svg" <<'X'
import sys, xml.etree.ElementTree as tree
cells = [r for r in tree.parse(sys.argv[1]).iter() if r.tag.endswith("}title")]
assert len(cells) == 32, len(cells)
X
SHMEM_STATS=1 run_job 60 "$oshrun" -n 4 "$(test_program test/mp/statistics)"
tap_check "puts, gets and atomics are counted by PE" test "$status" = 0
run_job 60 "$oshrun" -n 2 "$late" 2
tap_check "nothing is printed without the setting" test "$status" = 0 -a ! -s "$err"
SHMEM_STATS_FILE=$tap_dir/none/x.json run_job 60 "$oshrun" -n 2 "$late" 2
tap_check "a file that cannot be written: one line, and the job's end as it was" test "$status" = 0 -a \
    "$(grep -c "SHMEM_STATS_FILE: cannot write" "$err")" = 1 -a "$(wc -l <"$err")" = 1

# The files of metrics, read while they are written and while --top shows the PEs on a terminal.
metrics=$tap_dir/metrics
mkdir "$metrics"
rounds=250
[ "${WSH_TEST_LONG:-0}" = 1 ] && rounds=4000
screen=$tap_dir/screen
screen_names()
{
    SHMEM_METRICS_FILE=$metrics/%j.%h.%p.prom SHMEM_METRICS_SECONDS=0.01 \
        python3 "$top_srcdir/test/launch/helper/metrics.py" "$metrics" 4 \
        script -qec "stty rows 40 cols 120; '$oshrun' --top -n 4 '$late' $((rounds * 5 / LATE_MS))" "$screen" \
        >"$out" 2>"$err" </dev/null
    status=$?
    grep '^#' "$out"
    [ "$status" != 0 ] || grep -aq 'most waited for: PE 2,' "$screen"
}
until_named screen_names
tap_check "metrics: every file whole at every read, and none left" test "$status" = 0
tap_check "rewrites of 4 PEs" test "$(sed -n 's/.* \([0-9]*\) rewrites.*/\1/p' "$out")" -ge $((rounds / 8))
tap_check "--top on a terminal names the late PE" grep -aq 'most waited for: PE 2,' "$screen"
tap_check "and has a line for each PE" test "$(grep -aoE '\[[3-6];1H.\[2K +[0-3] +[0-9]+' "$screen" | sort -u | wc -l)" = 4

SHMEM_METRICS_FILE=$metrics/%j.%h.%p.prom SHMEM_METRICS_SECONDS=0.01 run_job 60 "$oshrun" -n 4 "$late" 20 killed
tap_check "oshrun removes the files of PEs that died" test "$status" = 137 -a -z "$(ls -A "$metrics")"
line_names()
{
    run_job 60 "$oshrun" --top -n 4 "$late" 20
    grep -q 'most waited for: PE 2, ' "$err"
}
until_named line_names
tap_check "--top without a terminal: a line" test "$status" = 0 -a \
    "$(grep -c '^oshrun: 4 PEs, .* most waited for: PE 2, ' "$err")" = 1 -a "$(wc -l <"$err")" = 1

# What a person sees on a terminal.
tmux_names()
{
    tmux -L "wsh.$$" -f /dev/null new-session -d -x 120 -y 30 "'$oshrun' --top -n 4 '$late' $((20 + 4000 / LATE_MS))"
    sleep 3
    tmux -L "wsh.$$" capture-pane -p >"$tap_dir/pane"
    tmux -L "wsh.$$" kill-server
    grep -q '^most waited for: PE 2,' "$tap_dir/pane"
}
if command -v tmux >/dev/null && tap_long "--top in tmux"; then
    until_named tmux_names
    tap_check "--top in tmux names the late PE, also in the rows of the others" \
        test "$(grep -c '^most waited for: PE 2,' "$tap_dir/pane"):$(grep -c '^  *[013] .* PE 2 ' "$tap_dir/pane")" = 1:3
    tap_comment "$tap_dir/pane"
fi

# warpshmem-info finds the PEs of a job by one of them.
info_names()
{
    "$oshrun" -n 4 "$late" $((20 + 300 / LATE_MS)) >"$out" 2>"$err" &
    job=$!
    until grep -q '^PE 3 is' "$out"; do
        kill -0 "$job" || break
        sleep 0.05
    done
    sleep 0.2
    timeout 5 "$top_builddir/warpshmem-info" --top "$(sed -n 's/^PE 3 is //p' "$out")" >"$tap_dir/top" 2>&1 &
    viewer=$!
    wait "$job"
    kill "$viewer" 2>/dev/null
    wait "$viewer" 2>/dev/null
    grep -q '^4 PEs, .*most waited for: PE 2, ' "$tap_dir/top"
}
until_named info_names
tap_check "warpshmem-info --top names the late PE" grep -q '^4 PEs, .*most waited for: PE 2, ' "$tap_dir/top"
tap_comment "$tap_dir/top"
run_job 9 "$top_builddir/warpshmem-info" --top $$
tap_check "--top of a process that is no PE" test "$status" = 1 -a "$(grep -c "is no PE" "$err")" = 1
run_job 9 "$top_builddir/warpshmem-info" --top x
tap_check "--top of no number" test "$status" = 2 -a "$(grep -c "write the process id" "$err")" = 1

# Values that are wrong, and files that others have laid there.
SHMEM_METRICS_FILE=$metrics/x.prom run_job 60 "$oshrun" -n 1 "$late" 1
tap_check "SHMEM_METRICS_FILE without %p" test "$status" != 0 -a "$(grep -c "has no %p" "$err")" = 1
SHMEM_METRICS_FILE=$metrics/%p.prom SHMEM_METRICS_SECONDS=0 run_job 60 "$oshrun" -n 1 "$late" 1
tap_check "SHMEM_METRICS_SECONDS=0" test "$status" != 0 -a "$(grep -c "SHMEM_METRICS_SECONDS: '0' is less" "$err")" = 1
SHMEM_METRICS_FILE=$tap_dir/none/%p.prom run_job 60 "$oshrun" -n 3 "$late" 1
tap_check "a folder that is not there: one line of all PEs" test "$status" = 0 -a "$(grep -c "SHMEM_METRICS_FILE: cannot write" "$err")" = 1
echo kept >"$tap_dir/victim"
ln -s "$tap_dir/victim" "$tap_dir/y.json.tmp"
SHMEM_STATS_FILE=$tap_dir/y.json run_job 60 "$oshrun" -n 1 "$late" 1
tap_check "no link is followed to write" test "$(cat "$tap_dir/victim")" = kept -a \
    "$(grep -c "SHMEM_STATS_FILE: cannot write" "$err")" = 1
rm "$tap_dir/y.json.tmp"
ln -s "$tap_dir/victim" "$tap_dir/y.json"
SHMEM_STATS_FILE=$tap_dir/y.json run_job 60 "$oshrun" -n 1 "$late" 1
tap_check "a link of that name is replaced" test "$(cat "$tap_dir/victim")" = kept -a ! -L "$tap_dir/y.json"

# Prometheus' own programs, with two jobs of 4 PEs at a time.
both_jobs()
{
    for job in one two; do
        SLURM_JOB_ID=$job OSHRUN_LAUNCHER=local SHMEM_METRICS_FILE=$metrics/%j.%h.%p.prom SHMEM_METRICS_SECONDS=0.1 \
            "$oshrun" -n 4 "$late" 600 >"$tap_dir/out.$job" 2>&1 &
        echo $!
    done >"$tap_dir/jobs"
    for _ in $(seq 100); do
        [ "$(find "$metrics" -name '*.prom' | wc -l)" = 8 ] && break
        sleep 0.1
    done
}

if tap_long "promtool and node_exporter take the files"; then
    both_jobs
    cp "$metrics"/*.prom "$tap_dir"
    if command -v promtool >/dev/null; then
        for file in "$tap_dir"/*.prom; do
            promtool check metrics <"$file" >>"$tap_dir/promtool" 2>&1 || echo "$file" >>"$tap_dir/promtool"
        done
        tap_check "promtool takes the files" test ! -s "$tap_dir/promtool"
        tap_comment "$tap_dir/promtool"
    else
        tap_skip "promtool takes the files" "no promtool (Debian: prometheus)"
    fi
    if command -v prometheus-node-exporter >/dev/null; then
        prometheus-node-exporter --collector.disable-defaults --collector.textfile --collector.textfile.directory="$metrics" \
            --web.listen-address=127.0.0.1:19847 2>"$tap_dir/exporter" &
        exporter=$!
        sleep 1
        python3 - >"$tap_dir/scraped" <<'X'
from urllib.request import urlopen
for _ in range(100):
    text = urlopen("http://127.0.0.1:19847/metrics").read().decode()
    series = [line for line in text.splitlines() if line.startswith("warpshmem_waits_total{")]
    print(len(series), "node_textfile_scrape_error 0" in text)
X
        kill "$exporter"
        tap_check "node_exporter has the series of 8 PEs at each of 100 scrapes" test \
            "$(sort "$tap_dir/scraped" | uniq -c | tr -s ' ')" = " 100 8 True"
        tap_comment "$tap_dir/scraped"
    else
        tap_skip "node_exporter takes the files" "no prometheus-node-exporter"
    fi
    wait
fi
tap_done
