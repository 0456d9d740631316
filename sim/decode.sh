#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sim/decode: right results at full width, by kernels that post and by a proxy; what a PE gives to its NICs is at most the least
# of messages (by kernels) and the least of rows; each line says simulated; figures of others are apart. WSH_TEST_LONG: 128 tokens, to 128 PEs.
# timeout: 120
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
sim=$(test_program sim/sim)
case ${WSH_TEST_VARIANT:-} in
    *asan* | *tsan* | valgrind) tap_skip_all "fibers do not go with ${WSH_TEST_VARIANT}" ;;
esac
command -v python3 >/dev/null || tap_skip_all "no python3"

shape="--tokens 4 --pes 16,32 --rounds 1" limit=100 rows=4
if [ "${WSH_TEST_LONG:-0}" = 1 ]; then
    shape="" limit=3600 rows=8
fi
# shellcheck disable=SC2086
run_job $limit "$top_srcdir/sim/decode" --sim "$sim" $shape
tap_check "both instances" test "$status:$(grep -cE '^\| p(5en|6-b200) \|' "$out")" = "0:$rows"
tap_comment "$out"
# By kernels; KiB at most a fifteenth over the least, and in a combine none: heads of parts and metas of rows.
python3 - "$out" >"$tap_dir/wrong" <<'END'
import sys

for line in open(sys.argv[1], encoding="utf-8"):
    cells = [cell.strip().replace(",", "") for cell in line.split("|")[1:-1]]
    if len(cells) < 11 or not cells[1].isdigit():
        continue
    given, _, least, kib, least_kib = ([int(number) for number in cell.split(" + ")] for cell in cells[5:10])
    if any(n > low for n, low in zip(given, least)) or not all(low <= number <= 1.07 * low for number, low in zip(kib, least_kib)) or kib[1] != least_kib[1]:
        print(line)
END
tap_check "messages and rows of kernels that post: the least" test ! -s "$tap_dir/wrong"
tap_comment "$tap_dir/wrong"
tap_check "the table says simulated, and whose the other figures are" \
    sh -c "grep -q '^# SIMULATED, not measured' '$out' && grep -q 'us, simulated' '$out' && grep -q 'measured by others' '$out'"
run_job 10 "$top_srcdir/sim/decode" --constants
tap_check "each constant has what it rests on" \
    sh -c "[ $status = 0 ] && ! grep -E '^  --' '$out' | grep -qvE ': (measured|assumed|one write|the same|in copy|no CPU|the NIC|the simulator)'"
for bad in "--pes 12" "--machines p9" "--sim $tap_dir/none"; do
    # shellcheck disable=SC2086
    run_job 10 "$top_srcdir/sim/decode" $bad
    tap_check "$(echo "$bad" | sed "s|$tap_dir|TMP|"): one line, exit status 2" \
        sh -c "[ $status = 2 ] && [ \$(grep -c '^decode: error: ' '$err') = 1 ]"
done
tap_done
