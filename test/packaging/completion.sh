#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The shells complete what the programs' own --help names, no more and no less; values, settings, and a program behind
# the options.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
made=$top_builddir/packaging/completion
[ -f "$made/oshrun" ] || tap_skip_all "packaging/completion is not made (run make first)"
command -v bash >/dev/null || tap_skip_all "no bash"

# The options that a program's help names, a line each.
helped()
{
    "$top_builddir/$1" --help | grep -E '^ +-' | sed 's/  *[A-Z].*//; s/\[=.*/=/' | grep -oE -e '--?[A-Za-z][A-Za-z-]*=?' | sort -u
}

# complete WORD…: what bash offers for the last of the words of a command line, a line each.
complete_words()
{
    bash -c '
        source "$1" || exit
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        "_${1//-/_}" && printf "%s\n" "${COMPREPLY[@]}"' bash "$made/$1" "$@" 2>&1 | sort -u
}

# offers WANTED WORD…: exactly these words, separated by spaces
offers()
{
    wanted=$1
    shift
    complete_words "$@" >"$out"
    tap_check "$* [TAB]: ${wanted:-nothing}" test "$(echo $(cat "$out"))" = "$wanted"
}

for program in oshrun warpshmem-info; do
    tap_check "$program: the function loads without a word" test -z "$(bash -c "source '$made/$program'" 2>&1)"
    helped "$program" >"$tap_dir/helped"
    [ "$(wc -l <"$tap_dir/helped")" -gt 10 ] || tap_fail "$program --help" "names $(wc -l <"$tap_dir/helped") options"
    complete_words "$program" - | diff "$tap_dir/helped" - >"$out"
    tap_check "$program: bash offers the options of --help" test ! -s "$out"
    # The first character of a specification of _arguments is *; an option with = ends in =-.
    sed -n "s/^    '\*\(-[A-Za-z-]*=\{0,1\}\)-\{0,1\}\[.*/\1/p" "$made/_$program" | sort -u | diff "$tap_dir/helped" - >"$out"
    tap_check "$program: zsh offers them" test ! -s "$out"
    : >"$out"
done

touch "$tap_dir/hosts.txt" "$tap_dir/p5.xml"
offers "core" oshrun --bind c
offers "hwthread" oshrun -n 4 --bind hw
offers "p5 p5en" oshrun --emulate-efa = p5
offers "minimal p4d p5 p5en p6" oshrun -n 2 --emulate-efa =
offers "SHMEM_SYMMETRIC_SIZE" oshrun -x SHMEM_SYMM
offers "$tap_dir/hosts.txt" oshrun --hostfile "$tap_dir/ho"
offers "$tap_dir/p5.xml" oshrun -n 4 ./program "$tap_dir/p5"
offers "" oshrun -n ""
offers "$tap_dir/p5.xml" warpshmem-info --topology "$tap_dir/"
offers "--check" warpshmem-info --ch
complete_words oshrun -x SHMEM_ >"$tap_dir/offered"
tap_check "every setting is offered" sh -c "
    sh '$top_srcdir/test/lint/settings' --print | grep -oE '^\| .SHMEM_[A-Z_]+' | tr -d '|\` ' | sort | comm -23 - '$tap_dir/offered' | grep . && exit 1
    test \$(wc -l <'$tap_dir/offered') -gt 20"

if command -v zsh >/dev/null; then
    for program in oshrun warpshmem-info; do
        tap_check "$program: zsh reads it" zsh -fc '_arguments() { (( $# > 10 )) }; source "$1"' zsh "$made/_$program"
    done
else
    tap_skip "zsh reads them" "no zsh"
fi
tap_done
