# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced after tap.sh: a copy of examples/ in $tap_dir, and words to build and run what is in it.
#   build SOURCE WARNINGS…         by the command in its head, `oshcc OPTIONS && oshrun -n 4 ./PROGRAM`
#   right FILE PES HOSTS ARGS…     the program prints one line, which says that nothing is wrong
top_builddir=$(cd "$top_builddir" && pwd)
cp -R "$top_srcdir/examples" "$tap_dir/examples" && chmod -R u+w "$tap_dir/examples" || exit 99

build()
{
    source=$1
    command=$(sed -n 's/^ \*   \(osh[a-z+]* .*\) && oshrun -n 4 .*/\1/p' "$tap_dir/examples/$source")
    shift
    run_job 120 sh -c "cd '$tap_dir/examples/$(dirname "$source")' && '$top_builddir'/$command $*"
    tap_check "$source compiles by: $command" test "$status" = 0
}

right()
{
    program=$1 pes=$2 hosts=$3
    shift 3
    run_job 60 "$oshrun" -n "$pes" --nodes-emulated "$hosts" "$tap_dir/examples/$program" "$@"
    tap_check "$program, $pes PEs on $hosts host(s)" \
        sh -c "[ $status = 0 ] && [ \$(wc -l <'$out') = 1 ] && grep -q '^${program##*/}: $pes PEs, .*\<0 wrong\$' '$out'"
}
