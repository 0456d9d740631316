# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154
# Sourced by the tests of the emulated device after test/common/tap.sh: how a command is run over it, and what may be left
# afterwards. Sets $emulate, $fabrics and $TMPDIR.
#   over OPTIONS… -- COMMAND…   runs it over the device for at most $limit s; sets $status, $out, $err, and $left (what is
#                               left of it: files, processes)

emulate=$top_srcdir/emulator/efa-emulate
emulator=$top_builddir/emulator/.libs/libefa-emulator.so
fabrics="efa efa-direct"
limit=60
[ -e "$emulator" ] || tap_skip_all "the emulator is not built (libibverbs-dev)"
case ${WSH_TEST_VARIANT:-clang} in clang) ;; *) tap_skip_all "a preloaded library does not go with $WSH_TEST_VARIANT" ;; esac
mkdir "$tap_dir/tmp"
TMPDIR=$tap_dir/tmp
WSH_OVER=$tap_dir
export TMPDIR WSH_OVER

# Notes the folder of the device, and becomes the command.
cat >"$tap_dir/note" <<'END'
#!/bin/sh
echo "$EFA_EMULATOR_DIR" >"$WSH_OVER/folder"
exec "$@"
END
chmod +x "$tap_dir/note"

# Processes of the last command, by their environment.
processes()
{
    for process in /proc/[0-9]*; do
        { tr "\0" "\n" <"$process/environ"; } 2>/dev/null | grep -qx "WSH_OVER=$tap_dir" && echo "${process#/proc/}"
    done
}

leftovers()
{
    left=$(processes)
    if [ -n "$left" ]; then
        sleep 0.5
        left=$(processes)
    fi
    [ -z "$left" ] || echo "processes: $left"
    find "$TMPDIR" -mindepth 1
    [ ! -s "$tap_dir/folder" ] || find "$(cat "$tap_dir/folder")" 2>/dev/null
}

over()
{
    words=$#
    noted=
    for word; do
        set -- "$@" "$word"
        if [ "$word" = -- ] && [ -z "$noted" ]; then
            noted=1
            set -- "$@" "$tap_dir/note"
        fi
    done
    shift "$words"
    rm -f "$tap_dir/folder"
    timeout -k 10 $((limit * ${WSH_TEST_SLOW:-1})) "$emulate" "$@" >"$out" 2>"$err" </dev/null
    status=$?
    left=$(leftovers)
}

# judge NAME: the last command passed, was skipped with a reason, or failed; nothing may be left of it.
judge()
{
    if [ -n "$left" ]; then
        tap_fail "$1" "left behind: $left"
    elif [ "$status" = 77 ]; then
        tap_skip "$1" "$(cat "$out" "$err" | sed -n 's/^.*skip: \(process [0-9]*: \)*//p' | tail -n 1)"
    elif [ "$status" = 0 ]; then
        tap_comment "$out"
        tap_ok "$1"
    else
        tap_fail "$1" "see above"
    fi
}
