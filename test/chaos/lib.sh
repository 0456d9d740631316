# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced after test/common/tap.sh by the tests that run campaigns.
#   campaign NAME ARGUMENTS…    runs campaign.py with them; passed when all its jobs ended as the table says
# A sanitizer would turn a signal into an exit status of its own, and does not go with the emulated device.

need_oshrun
python=$(command -v python3) || tap_skip_all "no python3 (apt-get install python3)"
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0
TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0
export ASAN_OPTIONS TSAN_OPTIONS
load=$(test_program test/chaos/load)
no_efa=
chaos_slow=1
[ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] || no_efa="the emulator is not built (libibverbs-dev)"
case ${WSH_TEST_VARIANT:-clang} in
    clang) ;;
    *)
        no_efa="a preloaded library does not go with $WSH_TEST_VARIANT"
        chaos_slow=${WSH_TEST_SLOW:-1} ;;
esac

run_campaign()
{
    TMPDIR=$tap_dir $python -B "$top_srcdir/test/chaos/campaign.py" --build "$top_builddir" --program "$load" \
        --slow "$chaos_slow" ${no_efa:+--no-emulator "$no_efa"} ${WSH_TEST_SEED:+--seed "$WSH_TEST_SEED"} "$@" >"$out" 2>"$err"
}

campaign()
{
    name=$1
    shift
    run_campaign "$@"
    status=$?
    sed -n 's/^skipped \([^:]*\): \(.*\)/\1|\2/p' "$out" >"$tap_dir/skipped"
    if [ "$status" = 0 ]; then
        grep -v '^skipped ' "$out"
        tap_ok "$name"
    else tap_fail "$name" "not all jobs ended as expected"; fi
    while IFS='|' read -r what why; do
        tap_skip "$what" "$why"
    done <"$tap_dir/skipped"
}
