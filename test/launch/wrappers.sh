#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshcc and oshc++ compile, link, make shared libraries and answer questions, from the build folder, installed, under
# their other names, and after the installed tree was moved.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
unset SHMEM_CC SHMEM_CXX LD_LIBRARY_PATH
# A program linked with a sanitized library needs the sanitizer itself, which is no matter of the wrappers.
grep -q '^CFLAGS = .*-fsanitize' "$top_builddir/Makefile" && tap_skip_all "built with a sanitizer"
abs_build=$(cd "$top_builddir" && pwd -P)
cd "$tap_dir" || exit 99
mkdir inc
cat >hello.c <<'END'
#include <shmem.h>
#include <stdio.h>
int main(void)
{
    shmem_init();
    printf("hello %d of %d\n", shmem_my_pe(), shmem_n_pes());
    shmem_finalize();
    return 0;
}
END
sed 's/<stdio.h>/<cstdio>/' hello.c >hello.cc
printf '#include <shmem.h>\nint half(void) { return shmem_n_pes(); }\n' >half.c
cat >wrong.c <<'END'
#include <shmem.h>
static char text[8];
int main(void)
{
    shmem_init();
    shmem_putmem(text, text + 1, 4, 0);
    shmem_finalize();
    return 0;
}
END
printf 'int half(void);\n#include <shmem.h>\nint main(void) { shmem_init(); int n = half(); shmem_finalize(); return n != 1; }\n' >use.c

# try NAME COMMAND…: it must succeed
try()
{
    name=$1
    shift
    "$@" >"$out" 2>"$err"
    status=$?
    tap_check "$name" test "$status" = 0
}

# all CC CXX WHERE
all()
{
    rm -f hello hello.o hello.s libhalf.so use
    try "$3: compile and link" "$1" -g hello.c -o hello
    try "$3: run" ./hello
    tap_check "$3: output" grep -qx 'hello 0 of 1' "$out"
    try "$3: C++" "$2" hello.cc -o hello
    try "$3: run C++" ./hello
    try "$3: -c" "$1" -c hello.c
    try "$3: link objects" "$1" hello.o -o hello
    try "$3: run objects" ./hello
    try "$3: -S" "$1" -S hello.c -o hello.s
    try "$3: -E" "$1" -E hello.c -o hello.i
    try "$3: -M" "$1" -M hello.c
    tap_check "$3: -M names the header" grep -q 'shmem\.h' "$out"
    try "$3: -MMD -c" "$1" -MMD -MF hello.d -c hello.c
    try "$3: -shared" "$1" -shared -fPIC half.c -o libhalf.so
    try "$3: link with it" "$1" use.c -L. -lhalf -Wl,-rpath,"$PWD" -o use
    try "$3: run with it" ./use
    try "$3: --version" "$1" --version
    try "$3: --help" "$1" --help
    tap_check "$3: our help, then the compiler's" \
        sh -c "head -n 3 '$out' | grep -q 'oshcc \[options' && grep -q '^Help of the compiler:' '$out' && [ \$(wc -l <'$out') -gt 20 ]"
    try "$3: no link flags with -c" "$1" -show -c hello.c
    tap_check "$3: none" sh -c "! grep -q -- -lwarpshmem '$out'"
    try "$3: -show" "$1" -show hello.c -o hello
    tap_check "$3: -show has all" grep -qE -- '-I.* hello.c -o hello .*-L.* -Wl,-rpath,.* -lwarpshmem' "$out"
    try "$3: --showme" "$1" --showme hello.c
    try "$3: --showme:compile" "$1" --showme:compile
    tap_check "$3: compile" grep -qE -- '^-I[^ ]+' "$out"
    try "$3: --showme:link" "$1" --showme:link
    tap_check "$3: link" grep -qE -- '^-L.* -Wl,-rpath,.* -lwarpshmem$' "$out"
    cp "$out" link
    try "$3: -showlibs" "$1" -showlibs
    tap_check "$3: the same" cmp link "$out"
    try "$3: --showme:incdirs" "$1" --showme:incdirs
    tap_check "$3: incdirs hold shmem.h" test -f "$(cut -d' ' -f1 "$out")/shmem.h"
    try "$3: --showme:libdirs" "$1" --showme:libdirs
    tap_check "$3: libdirs hold the library" test -f "$(cat "$out")/libwarpshmem.so"
    try "$3: --showme:libs" "$1" --showme:libs
    tap_check "$3: libs" grep -qx warpshmem "$out"
    try "$3: --showme:version" "$1" --showme:version
    tap_check "$3: version" grep -qE 'warpshmem [0-9]' "$out"
    "$1" --showme:colour >"$out" 2>"$err"
    tap_check "$3: an unknown question" test $? = 2 -a "$(wc -l <"$err")" = 1
    try "$3: SHMEM_CC" env SHMEM_CC='echo my cc' "$1" -c hello.c
    tap_check "$3: is used" grep -qE '^my cc -I.* -c hello.c$' "$out"
    try "$3: SHMEM_CXX" env SHMEM_CXX='echo my c++' "$2" -c hello.cc
    tap_check "$3: is used for C++" grep -qE '^my c\+\+ -I' "$out"
    try "$3: --debug-library" "$1" --debug-library wrong.c -o wrong
    ./wrong >"$out" 2>"$err"
    tap_check "$3: the debug library checks" grep -q "dest and source overlap" "$err"
    try "$3: unless SHMEM_DEBUG is set" env SHMEM_DEBUG=warn ./wrong
    try "$3: without it" "$1" wrong.c -o wrong
    try "$3: nothing is checked" ./wrong
    mkdir -p "with space"
    cp hello.c "with space/hello there.c"
    try "$3: spaces in names" "$1" -DTEXT='"a b"' "with space/hello there.c" -o "with space/hello"
    "$1" nothing.c >"$out" 2>"$err"
    tap_check "$3: a failing compiler's status" test $? != 0
}

# pkg_config PREFIX: its flags are those of oshcc, and programs start without ldconfig or LD_LIBRARY_PATH.
pkg_config()
{
    command -v pkg-config >/dev/null || {
        tap_skip "pkg-config" "no pkg-config"
        return
    }
    ask="env PKG_CONFIG_PATH=$1/lib/pkgconfig pkg-config --define-variable=prefix=$1"
    try "pkg-config" $ask --cflags --libs warpshmem
    tr -s ' ' <"$out" | sed 's/ $//' >flags
    try "oshcc's flags" "$1/bin/oshcc" -show hello.c -o by_flags
    tap_check "pkg-config gives the flags of oshcc" \
        sh -c "sed 's/^[^ ]* *//; s/hello.c -o by_flags //' '$out' | grep -qxF -- \"\$(cat flags)\""
    try "compiled with them" ${CC:-cc} hello.c $(cat flags) -o by_flags
    try "and run" ./by_flags
}

all "$abs_build/oshcc" "$abs_build/oshc++" "build folder"
ln -s "$abs_build/oshcc" shmemcc
ln -s "$abs_build/oshc++" oshcxx
try "through a link" ./shmemcc hello.c -o hello
try "C++ through a link" ./oshcxx hello.cc -o hello

prefix=$(sed -n 's/^prefix = //p' "$abs_build/Makefile")
if make -s -C "$abs_build" install DESTDIR="$tap_dir/dest" >"$out" 2>"$err"; then
    moved=$tap_dir/dest$prefix
    all "$moved/bin/oshcc" "$moved/bin/oshc++" "installed and moved"
    for name in shmemcc oshcxx shmemcxx shmemc++; do
        tap_check "$name is there" test -x "$moved/bin/$name"
    done
    try "shmemcc" "$moved/bin/shmemcc" hello.c -o hello
    tap_check "PATH alone" sh -c "PATH='$moved/bin:$PATH' oshcc --showme:incdirs | grep -qx '$moved/include'"
    try "an installed oshrun" "$moved/bin/oshrun" -n 2 ./hello
    tap_check "runs" test "$(wc -l <"$out")" = 2
    mv "$tap_dir/dest" "$tap_dir/elsewhere"
    moved=$tap_dir/elsewhere$prefix
    try "moved again" "$moved/bin/oshcc" hello.c -o hello
    pkg_config "$moved"
    for page in man3/shmem_put.3 man3/shmem_int_put.3 man3/shmemx_free_device.3 man3/shmem_put_block.3 man7/warpshmem.7 man7/pshmem.7; do
        tap_check "$page is installed" test -s "$moved/share/man/$page"
    done
    for page in README.md NEWS.md LICENSE docs/guide/install.md docs/guide/settings.md; do
        tap_check "$page is installed" test -s "$moved/share/doc/warpshmem/$page"
    done
    for file in lsan tsan valgrind; do
        tap_check "$file.supp is installed" test -s "$moved/share/warpshmem/$file.supp"
    done
    try "and run" ./hello
    try "an installed example" "$moved/bin/oshcc" "$moved/share/doc/warpshmem/examples/moe/moe.c" -o moe -lwarpshmem-ep -lm
    try "and run" "$moved/bin/oshrun" -n 2 ./moe
    if [ -x "$moved/bin/oshnvcc" ]; then
        try "that for GPUs" "$moved/bin/oshnvcc" "$moved/share/doc/warpshmem/examples/moe/moe.cu" -o moe_gpu -lwarpshmem-ep
    fi
else
    tap_fail "make install DESTDIR" "see above"
fi
tap_done
