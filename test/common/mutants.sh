# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2154
# Sourced after tap.sh: copies of the library with a mistake in one file.
#   library FOLDER                   FOLDER/lib has all of the library, with the objects in FOLDER in place of its own
#   mutate FOLDER FOLDER_OF_SOURCE NAME EDIT   compiles NAME.c after a sed EDIT and makes that library; says why it fails
archive=$top_builddir/.libs/libwsh.a
libs=$(sed -n "s/^dependency_libs='\(.*\)'$/\1/p" "$top_builddir/libwarpshmem.la")

# member ARCHIVE OBJECT: the archive's member that defines what the object does; files of two folders may have one name.
member()
{
    symbol=$(nm -g --defined-only "$2" | awk 'NR == 1 { print $3 }')
    nm -A -g --defined-only "$1" | awk -v symbol="$symbol" '$NF == symbol { split($1, part, ":"); print part[2]; exit }'
}

library()
{
    cp "$archive" "$1/all.a" || return 1
    for object in "$1"/*.o; do
        [ -e "$object" ] || continue
        ar d "$1/all.a" "$(member "$1/all.a" "$object")" && ar q "$1/all.a" "$object" || return 1
    done
    mkdir "$1/lib" && ar s "$1/all.a" || return 1
    # shellcheck disable=SC2086
    ${CC:-cc} -shared -o "$1/lib/libwarpshmem.so.0" -Wl,-soname,libwarpshmem.so.0 \
        "-Wl,--version-script=$top_srcdir/runtime/warpshmem.map" "$top_builddir"/runtime/api/.libs/*.o \
        "$top_builddir"/runtime/api/check/.libs/*.o \
        -Wl,--whole-archive "$1/all.a" -Wl,--no-whole-archive $libs -lpthread -ldl -lrt
}

mutate()
{
    object=$3.o
    sed "$4" "$top_srcdir/$2/$3.c" >"$1/$3.c"
    if cmp -s "$top_srcdir/$2/$3.c" "$1/$3.c"; then
        echo "the edit does not fit the source any more: $4"
        return 1
    fi
    # shellcheck disable=SC2086
    { ${CC:-cc} -std=gnu11 -O1 -fPIC "-I$top_srcdir" "-I$top_srcdir/include" ${LIBFABRIC_CFLAGS:-} -c "$1/$3.c" \
        -o "$1/$object" && library "$1"; } >"$out" 2>"$err" && return
    echo "does not compile"
    return 1
}
