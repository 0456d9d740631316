#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The version: `git describe`, the header, Python's form and an archive say the same, with a tag, after it, without one, and in
# folders of others; every built program prints that of its build. In the long form a tree with a tag is built, its archive builds
# by the README's two commands, and library, tools and wheel of both print what git describe says.
# timeout: 3600
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
need_oshrun
command -v git >/dev/null || tap_skip_all "no git"
unset GIT_DIR GIT_WORK_TREE
GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@test.invalid
GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
export GIT_CONFIG_GLOBAL GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
release=$(cat "$top_srcdir/VERSION")
: >"$out"
: >"$err"

# A small tree of its own, since who tests may have no history.
tree=$tap_dir/tree
mkdir -p "$tree/base"
cp "$top_srcdir/VERSION" "$top_srcdir/.gitattributes" "$tree"
cp "$top_srcdir/base/make-version" "$tree/base"
# shellcheck disable=SC2016
printf '$Format:%%H %%(describe:match=[0-9]*)$\n' >"$tree/base/commit"
git init -q "$tree" && git -C "$tree" add -A && git -C "$tree" commit -qm first
of() { "$1/base/make-version" ${2:+"$2"}; }
# says NAME VERSION PYTHON: of the tree, the header, and an archive of git, in a folder of another repository.
says()
{
    rm -rf "$tap_dir/other/archive"
    mkdir -p "$tap_dir/other/archive"
    git -C "$tree" archive HEAD | tar -C "$tap_dir/other/archive" -xf -
    "$tree/base/make-version" --header "$tap_dir/version.h"
    {
        of "$tree"
        of "$tree" --python
        of "$tap_dir/other/archive"
        sed -n 's/^#define WSH_\(RELEASE\|VERSION\) "\(.*\)"/\2/p' "$tap_dir/version.h"
        of "$tree" --commit
        of "$tap_dir/other/archive" --commit
    } >"$out"
    head=$(git -C "$tree" rev-parse HEAD)
    tap_check "$1" test "$(tr '\n' ' ' <"$out")" = "$2 $3 $2 $release $2 $head $head "
}
git init -q "$tap_dir/other" && git -C "$tap_dir/other" commit -qm other --allow-empty && git -C "$tap_dir/other" tag -am other 9.9.9
says "without a tag: the release" "$release" "$release"
git -C "$tree" tag 7.7.7
says "a tag without a text is none" "$release" "$release"
git -C "$tree" tag -d 7.7.7 >/dev/null
git -C "$tree" tag -am "warpshmem $release" "$release"
says "at the tag" "$(git -C "$tree" describe)" "$release"
git -C "$tree" commit -qm second --allow-empty
described=$(git -C "$tree" describe)
says "after it: $described" "$described" "$release.post1+${described##*-}"
before=$(stat -c %y "$tap_dir/version.h")
"$tree/base/make-version" --header "$tap_dir/version.h"
tap_check "what has not changed is not written" test "$before" = "$(stat -c %y "$tap_dir/version.h")"
"$tree/base/make-version" --archive "$tap_dir/other/archive/base/commit"
tap_check "as make dist writes it" test "$(of "$tap_dir/other/archive")" = "$described"
rm -rf "$tree/.git"
tap_check "without git and archive: the release" test "$(of "$tree"):$(of "$tree" --commit)" = "$release:unknown"

# built FOLDER VERSION: what was built there prints it.
built()
{
    {
        "$1/oshrun" --version | sed 's/.* //'
        "$1/oshcc" --showme:version | sed 's/.* //'
        "$1/warpshmem-info" --version | sed -n '1s/^warpshmem \([^ ,]*\).*/\1/p'
        "$1/warpshmem-trace" --version | sed 's/.* //'
        SHMEM_VERSION=1 "$(top_builddir=$1 test_program perftest/barrier)" -n 1 -w 1 2>/dev/null | sed -n 's/^warpshmem \([^ ,]*\), .*/\1/p'
    } >"$out" 2>"$err"
    tap_check "the programs print $2" test "$(tr '\n' ' ' <"$out")" = "$2 $2 $2 $2 $2 "
}
built "$top_builddir" "$(sed -n 's/^#define WSH_VERSION "\(.*\)"/\1/p' "$top_builddir/base/version.h")"
tap_long "an archive of a tagged tree builds" || tap_done

# --- In full ---
mkdir "$tap_dir/full"
(cd "$top_srcdir" && tar --exclude='./build*' --exclude='./check-*' --exclude=./.git -cf - .) | tar -C "$tap_dir/full" -xf -
git init -q "$tap_dir/full" && git -C "$tap_dir/full" add -A && git -C "$tap_dir/full" commit -qm release &&
    git -C "$tap_dir/full" tag -am "warpshmem $release" "$release"
described=$(git -C "$tap_dir/full" describe)
run_job 1500 sh -c "cd '$tap_dir/full' && autoreconf -fi && mkdir build && cd build && ../configure --with-cuda-archs=no && make -j$(nproc) && make wheel && make dist"
tail -n 20 "$err" >"$err.tail" && mv "$err.tail" "$err" && : >"$out"
tap_check "the tagged tree builds, its wheel and its archive" test "$status" = 0
built "$tap_dir/full/build" "$described"
tap_check "the wheel is of $described" test -n "$(ls "$tap_dir/full/build/wheel" | grep "^warpshmem-$described-py3")"
tar -C "$tap_dir" -xf "$tap_dir/full/build/warpshmem-$release.tar.xz"
archive=$tap_dir/warpshmem-$release
run_job 1500 env -C "$archive" ./quickstart
tail -n 20 "$out" >"$out.tail" && mv "$out.tail" "$out"
tap_check "README's first command builds the archive" test "$status" = 0
run_job 1200 env -C "$archive" "MAKEFLAGS=-- TESTS=test/mp/hello second_row=" ./quickstart check
tail -n 20 "$out" >"$out.tail" && mv "$out.tail" "$out"
tap_check "README's second command runs its tests" test "$status" = 0
built "$archive/build" "$described"
tap_done
