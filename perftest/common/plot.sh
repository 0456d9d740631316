#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Whatever perftest programs and scripts write, plot draws or prints: JSON of every program that is built and runs here, and
# of kernels, compare and intranode as they were written elsewhere; rounds of gpu/compare; a report with runs in it.
# timeout: 600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
command -v python3 >/dev/null || tap_skip_all "no python3"
plot=$top_srcdir/perftest/plot
SHMEM_SYMMETRIC_SIZE=64M
export SHMEM_SYMMETRIC_SIZE

# printed NAME LINES PATTERN FILE…: as a table of so many rows, in which a line fits the pattern.
printed()
{
    name=$1 rows=$2 pattern=$3
    shift 3
    run_job 30 "$plot" --text "$@"
    tap_check "$name" sh -c "[ $status = 0 ] && [ \$(grep -vc '^#' '$out') = $rows ] && grep -q -- '$pattern' '$out'"
}

# ran PES PROGRAM ROWS OPTIONS…: its JSON is printed, with so many rows.
ran()
{
    pes=$1 program=$2 rows=$3
    shift 3
    json=$tap_dir/$(basename "$program")-$pes.json
    run_job 60 "$oshrun" -n "$pes" "$(test_program "perftest/$program")" "$@" --json "$json"
    if [ "$status" = 77 ]; then tap_skip "$program" "$(tail -n 1 "$err")"; return; fi
    printed "$program, $pes PEs" "$rows" "^# .*$(basename "$program" | sed "s/^libfabric\$/$1/") " "$json"
}

ran 2 put_latency 4 -s 8,1k -n 3 --seconds 0.01
ran 2 orders 14 -s 8,64 -n 3 --seconds 0.01
ran 2 amo_latency 7 -n 3 --seconds 0.01
ran 2 threads_rate 3 -n 3 --seconds 0.01
ran 2 init 2 -n 1
ran 2 barrier 2 -n 3 --seconds 0.01
ran 4 barrier 2 -n 3 --seconds 0.01
ran 2 ep/ep_host 28 --tokens 1,2 --hidden 256 --experts 16 --topk 4 -n 1 -w 1 --compute 50
ran 2 fabric/libfabric 8 write -s 8,64 -n 3 -p tcp
ran 1 proxy/queue 3 -n 1 -m 'put*' --threads 1 --producers 1
printed "PEs are the axis where nothing else changes" 4 '^# *pes ' "$tap_dir/barrier-2.json" "$tap_dir/barrier-4.json"
printed "tokens are that of experts" 28 '^# *tokens ' "$tap_dir/ep_host-2.json"
cp "$tap_dir/put_latency-2.json" "$tap_dir/again.json"
printed "the same rows of two files are two lines" 8 'put (2 PEs, .*again.json)$' "$tap_dir/put_latency-2.json" "$tap_dir/again.json"
run_job 20 "$plot" --text --bandwidth "$tap_dir/put_latency-2.json"
tap_check "bandwidth" sh -c "[ $status = 0 ] && grep -q 'GB/s$' '$out'"

{ echo "== step latency"; cat "$tap_dir/put_latency-2.json"; echo "exit status 0"; head -n 5 "$tap_dir/amo_latency-2.json"
    echo "no end within 5 s"; cat "$tap_dir/barrier-2.json"; } >"$tap_dir/report"
printed "a report's runs, without one that was cut off" 6 '^# barrier barrier_all ' "$tap_dir/report"

row='"p50": 4.5, "p99": 5, "right": true'
cat >"$tap_dir/kernels.json" <<END
{"program": "p2p", "library": "NVSHMEM", "npes": 2, "rows": [
  {"op": "put", "bytes": 8, "scope": "block", "blocks": 4, "threads": 256, $row}]}
END
cat >"$tap_dir/ours.json" <<END
{"program": "p2p", "library": "warpshmem", "npes": 2, "rows": [
  {"op": "put", "bytes": 8, "scope": "block", "blocks": 4, "threads": 256, $row}]}
END
printed "kernels, beside another library" 3 '^# put block 4x256 (2 PEs): warpshmem / NVSHMEM' "$tap_dir/kernels.json" "$tap_dir/ours.json"
cat >"$tap_dir/compare.json" <<END
{"reps": 3, "host": "a", "date": "2026-01-01T00:00:00Z", "rows": [{"row": "get 8", "ratio": 0.5}, {"row": "p", "ratio": null}]}
END
printed "compare" 1 '^get 8  *0.500 ' "$tap_dir/compare.json"
cat >"$tap_dir/intranode.json" <<END
{"reps": 3, "rows": [{"row": "put", "bytes": 8, "us": {"local": [1], "shm": [4]}, "ratio": {"local": 1.0, "shm": 4.0}}]}
END
printed "intranode" 1 '^put 8: local / shm  *0.250 ' "$tap_dir/intranode.json"
cat >"$tap_dir/rounds" <<END
# a comment
1 ours alltoall stream 4096 0 0 4.7 4.6 4.8 us
2 ours alltoall stream 4096 0 0 4.9 4.6 4.8 us
1 nccl-graph alltoall stream 4096 0 0 9.6 7.4 7.6 us
1 ours put_bulk block 4096 8 256 30 29 31 GB/s
END
printed "rounds of gpu/compare" 3 '^ *4096  *0.500$' "$tap_dir/rounds"

for bad in '{"program": "x"' '{"program": "x", "rows": [{"op": "a"}]}' 'text' '{"rows": 3}' ''; do
    printf '%s' "$bad" >"$tap_dir/bad"
    run_job 20 "$plot" --text "$tap_dir/bad"
    tap_check "'$bad' is refused with one line" \
        sh -c "[ $status = 1 ] && [ \$(wc -l <'$err') = 1 ] && grep -q 'bad is not what a perftest' '$err'"
done
tap_check "a file that is not there too" sh -c "! '$plot' --text '$tap_dir/none' 2>&1 | grep -v '^plot: cannot read'"

if ! python3 -c 'import matplotlib' 2>/dev/null; then tap_skip "images" "no matplotlib (apt-get install python3-matplotlib)"; tap_done; fi
for files in put_latency-2.json "barrier-2.json $tap_dir/barrier-4.json" ep_host-2.json compare.json intranode.json rounds report \
    "kernels.json $tap_dir/ours.json" "rounds $tap_dir/compare.json"; do
    # shellcheck disable=SC2086
    run_job 60 "$plot" $tap_dir/$files -o "$tap_dir/image.png"
    tap_check "an image of $(echo "$files" | sed "s|$tap_dir/||")" sh -c "[ $status = 0 ] && [ \$(wc -c <'$tap_dir/image.png') -gt 8000 ]"
    rm -f "$tap_dir/image.png"
done
tap_done
