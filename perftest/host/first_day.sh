#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# efa-first-day over the emulated device: each step ends as it says, it stops at the first surprise and says what to look
# at, and refuses bad options. make check runs those whose figures are published, make check-long all.
# timeout: 900
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
[ -z "${WSH_TEST_VARIANT:-}" ] || tap_skip_all "a preloaded library does not go with $WSH_TEST_VARIANT"
[ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] || tap_skip_all "the emulator is not built (libibverbs-dev)"
command -v python3 >/dev/null || tap_skip_all "no python3"
script=$top_srcdir/perftest/efa-first-day
report=$tap_dir/report

run_job 10 "$script" --list
tap_check "sixteen steps, each with what it expects" test "$(grep -c ' expected: ' "$out")" = 16
# refused WORDS…: one line, exit status 2
refused()
{
    run_job 10 "$script" "$@"
    tap_check "$(echo "$*" | sed "s|$tap_dir|TMP|g"): one line, exit status 2" \
        sh -c "[ $status = 2 ] && [ \$(grep -c '^efa-first-day: error: ' '$err') = 1 ] && ! grep -q Traceback '$err'"
}
for bad in "--hosts a" "--from nowhere" "--pes 0" "--hosts a,b --emulate p5" "--emulate p7"; do
    # shellcheck disable=SC2086
    refused $bad "$top_builddir" "$report"
done
refused "$top_builddir" "$tap_dir"
refused "$top_builddir" "$tap_dir/missing/report"

# A folder whose jobs end at once, or, in alltoall, stay until they are ended; without tests it is refused.
stub=$tap_dir/stub
mkdir -p "$stub/test/mp"
cat >"$stub/oshrun" <<'END'
#!/bin/sh
case $*:${STUB_STAYS:-} in *alltoall*:1) exec sleep 100 ;; esac
right=true
case $*:${STUB_WRONG:-} in *jacobi*:1) right=false ;; esac
echo '{"program": "stub", "library": "", "npes": 2, "rows": [{"op": "row", "bytes": 8, "p50": 1.5, "p99": 2.5, "right": '$right'}]}'
END
chmod +x "$stub/oshrun"
refused --emulate p5 "$stub" "$report"
touch "$stub/test/mp/hello"
steps_of()
{
    python3 -c 'import json, sys
data = json.load(open(sys.argv[1]))
print(" ".join(step["step"] for step in data["steps"]), len({run["step"] for run in data["runs"]}))' "$report.json"
}
# stopped SIGNAL: in alltoall, as by kill or by Ctrl-C; sets $status
stopped()
{
    rm -f "$report"*
    STUB_STAYS=1 env --default-signal=INT "$script" --emulate p5 --from put "$stub" "$report" >"$tap_dir/stays" 2>&1 &
    pid=$!
    for _ in $(seq 100); do
        grep -qs '^== alltoall' "$report" && break
        sleep 0.1
    done
    kill "-$1" "$pid"
    wait "$pid"
    status=$?
}
stopped KILL
tap_check "killed: figures of the steps before, in JSON and page" \
    sh -c "[ '$(steps_of)' = 'put 1' ] && grep -q '\"state\": \"unfinished: step put was' '$report.json' && grep -q '<svg ' '$report.html'"
for signal in INT:130 TERM:143; do
    stopped "${signal%:*}"
    tap_check "interrupted by ${signal%:*}: status, line, figures of the steps before, the others named" \
        sh -c "[ $status:'$(steps_of)' = '${signal#*:}:put 1' ] && grep -q '<b>interrupted in step alltoall</b>' '$report.html' &&
            grep -q '<td>jacobi</td><td></td><td>not run</td>' '$report.html' &&
            grep -q '^interrupted in step alltoall: go on by --from alltoall' '$tap_dir/stays'"
done
refused --emulate p5 --pes 4 --from alltoall "$stub" "$report"
run_job 10 "$script" --emulate p5 --from alltoall "$stub" "$report"
tap_check "--from goes on: figures of all steps in one JSON, both parts in one report" \
    sh -c "[ $status:'$(steps_of)' = '0:put alltoall jacobi experts 4' ] && [ \$(grep -c '^begun ' '$report') = 2 ] &&
        grep -q '^goes on with ' '$out' && grep -q '<b>every step as .*; not run: machine, .*, gda</b>' '$report.html' &&
        grep -q '<h2>experts, us, 2 PEs (emulated)</h2>' '$report.html'"
STUB_WRONG=1 run_job 10 "$script" --emulate p5 --from alltoall "$stub" "$report"
tap_check "wrong data: the page has the row, the cure and no time of it" \
    sh -c "[ $status = 1 ] && grep -q '<h2>Wrong data</h2>.*<td>jacobi</td><td>host</td><td>row 8 B</td>' '$report.html' &&
        grep -q 'wrong data in row; look at the variant that is wrong' '$report.html' && ! grep -q '<h2>jacobi, us' '$report.html'"
cp "$report.json" "$tap_dir/kept"
touch "$report.1"
run_job 10 "$script" --emulate p5 "$stub" "$report"
tap_check "without --from: begins anew, and keeps what was there" \
    sh -c "cmp '$tap_dir/kept' '$report.2.json' && grep -q '^begins anew; the report that was there is now .*/report.2$' '$out'"
run_job 10 "$script" --emulate p5 --from put "$stub" "$report"
refused --emulate p5en --from alltoall "$stub" "$report"
echo '{}' >"$report.json"
refused --emulate p5 --from alltoall "$stub" "$report"
rm -f "$report"*

# With libfabric of 2026-08 (WSH_LIBFABRIC) NICs count, and kernels post to them: without a GPU a thread plays the kernel.
begin=put profile=p5
[ -z "${WSH_LIBFABRIC:-}" ] || begin=nic-counts profile=p5en
[ -z "${WSH_TEST_LONG:-}" ] || begin=machine # all steps, with tests of their usual length
run_job 800 env -u WSH_TEST_LONG "$script" --emulate $profile --pes 2 --from $begin "$top_builddir" "$report"
tap_check "from $begin to the end" test "$status" = 0
[ "$status" = 0 ] && tap_comment "$out"
for step in nic-counts gda; do
    if [ $profile = p5en ]; then
        tap_check "$step: as expected" sh -c "grep -A 1 '^== $step:' '$out' | grep -q '^   as expected: '"
    else
        tap_skip "$step: as expected" "no libfabric of 2026-08 (emulator/tests/libfabric makes one, WSH_LIBFABRIC names it)"
    fi
done
tap_check "the report has commands, output and the word emulated" \
    sh -c "grep -q '^\\$ .*alltoall_latency' '$report' && grep -q '^exit status 0' '$report' && grep -q '^EMULATED' '$report'"
# shellcheck disable=SC2016
run_job 20 python3 -c '
import json, re, sys, xml.dom.minidom
data, page = json.load(open(sys.argv[1] + ".json")), open(sys.argv[1] + ".html").read()
assert data["emulated"] == sys.argv[2] and "EMULATED" in data["note"] and all(s["verdict"] != "surprise" for s in data["steps"])
assert all(run["emulated"] == sys.argv[2] and run["rows"] for run in data["runs"])
assert all(len({run["by"] for run in data["runs"] if run["step"] == "rails"}) == 3 for step in data["steps"] if step["step"] == "rails")
plots = {re.match("[a-z]*", title)[0]: plot for title, plot in re.findall("<svg [^>]*aria-label=\"([^\"]*)(\".*?</svg>)", page)}
assert {"put", "alltoall", "jacobi", "experts"} <= set(plots), plots.keys()
for plot in re.findall("<svg .*?</svg>", page):
    xml.dom.minidom.parseString(plot)
    assert ">EMULATED" in plot and "(emulated)" in plot
assert "EMULATED device" in page and "put_signal" in plots["put"]
' "$report" $profile
tap_check "one JSON and one page: put, alltoall, Jacobi and experts have plots, each says that it is emulated" test "$status" = 0
[ "$status" = 0 ] || tap_comment "$err"
run_job 20 "$top_srcdir/perftest/plot" --text "$report.json"
tap_check "plot draws that JSON" sh -c "[ $status = 0 ] && grep -qE '^# (warpshmem )?jacobi_host iteration ' '$out'"

# A provider that lists nothing is a surprise.
rm -f "$report"*
mkdir "$tap_dir/bin"
printf '#!/bin/sh\nexit 1\n' >"$tap_dir/bin/fi_info"
chmod +x "$tap_dir/bin/fi_info"
run_job 60 env WSH_LIBFABRIC= "PATH=$tap_dir/bin:$PATH" "$script" --emulate p5 --from devices "$top_builddir" "$report"
tap_check "a surprise ends it with status 1, what was expected, seen, and what to look at" \
    sh -c "[ $status = 1 ] && [ -s '$report.html' ] && grep -q '^   surprise: 0 domains' '$out' && grep -q '^stopped at step devices: look at .*fi_info' '$out'"
tap_done
