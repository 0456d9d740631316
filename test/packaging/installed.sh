#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make install: CMake finds the package and its parts, Debian's packages take every file once, and make uninstall leaves
# nothing, not even a folder.
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
need_oshrun
prefix=$(sed -n 's/^prefix = //p' "$top_builddir/Makefile")
run_job 120 make -s -C "$top_builddir" install DESTDIR="$tap_dir/dest"
tap_check "make install" test "$status" = 0
emulator=
if [ -f "$top_builddir/emulator/.libs/libefa-emulator.so" ]; then
    emulator=install-emulator
    run_job 60 make -s -C "$top_builddir" $emulator DESTDIR="$tap_dir/dest"
    tap_check "make install-emulator" test "$status" = 0
fi
moved=$tap_dir/moved
cp -R "$tap_dir/dest$prefix" "$moved"

grep -rnE '@[A-Z_]+@' "$moved/lib/cmake" "$moved/lib/pkgconfig" "$moved/share/warpshmem/modulefiles" >"$out"
tap_check "the files for others have no name of configure's left" test ! -s "$out"

# --- A module, and Debian's own test, where the tree was moved to ---
# Loads the module, asks for what it leads to, and unloads it.
cat >"$tap_dir/load.sh" <<'END'
command -v module >/dev/null || . "$1" || exit 99
module use "$2" && module load warpshmem || exit 1
command -v oshcc
pkg-config --define-prefix --cflags warpshmem
echo "$WARPSHMEM_LIBRARY_DIR"
module unload warpshmem
command -v oshcc | grep -q "^${2%%/share/*}/" || echo unloaded
END
lmod=/usr/share/lmod/lmod/init/bash
if [ -f $lmod ]; then
    run_job 60 env -u LOADEDMODULES MODULEPATH= bash "$tap_dir/load.sh" $lmod "$moved/share/warpshmem/modulefiles"
    tap_check "Lmod loads the module, and unloads it" test "$(tr '\n' ' ' <"$out" | tr -s ' ')" = \
        "$moved/bin/oshcc -I$moved/include $moved/lib unloaded "
else
    tap_skip "Lmod loads the module, and unloads it" "no Lmod (Debian: lmod)"
fi
mkdir "$tap_dir/bin"
ln -s "$moved/bin/oshcc" "$tap_dir/bin/warpshmem-oshcc"
ln -s "$moved/bin/oshrun" "$tap_dir/bin/warpshmem-oshrun"
printf '#!/bin/sh\nexec %s --define-prefix "$@"\n' "$(command -v pkg-config)" >"$tap_dir/bin/pkg-config"
chmod +x "$tap_dir/bin/pkg-config"
run_job 60 env "PATH=$tap_dir/bin:$moved/bin:$PATH" "PKG_CONFIG_PATH=$moved/lib/pkgconfig" sh "$top_srcdir/debian/tests/two-pes"
tap_check "Debian's own test" test "$status" = 0

# --- CMake ---
# project NAME TEXT: configured, with the README's program beside it.
project()
{
    mkdir "$tap_dir/$1"
    awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$top_srcdir/README.md" >"$tap_dir/$1/ring.c"
    printf 'cmake_minimum_required(VERSION 3.18)\nproject(ring C)\n%s\n' "$2" >"$tap_dir/$1/CMakeLists.txt"
    run_job 60 cmake -S "$tap_dir/$1" -B "$tap_dir/$1/built" "-DCMAKE_PREFIX_PATH=$moved"
}

# refused NAME WHY TEXT: CMake does not find the package, and says why.
refused()
{
    project "$1" "$3"
    tap_check "CMake: $1: refused" sh -c "[ $status != 0 ] && tr '\n' ' ' <'$err' | tr -s ' ' | grep -qF '$2'"
}

cmake_parts()
{
    project parts "
find_package(warpshmem 0.1 REQUIRED COMPONENTS ep nvshmem)
foreach(target warpshmem ep nvshmem)
    add_executable(with_\${target} ring.c)
    target_link_libraries(with_\${target} PRIVATE warpshmem::\${target})
endforeach()
add_executable(with_openshmem ring.c)
target_link_libraries(with_openshmem PRIVATE OpenSHMEM::OpenSHMEM)
add_executable(moe $moved/share/doc/warpshmem/examples/moe/moe.c)
target_link_libraries(moe PRIVATE warpshmem::ep m)
add_custom_target(run COMMAND \${warpshmem_OSHRUN} -n 2 \$<TARGET_FILE:with_ep>)"
    tap_check "CMake: found where the tree was moved to" test "$status" = 0
    run_job 120 cmake --build "$tap_dir/parts/built"
    tap_check "CMake: warpshmem::warpshmem, ::ep and ::nvshmem: programs build" test "$status" = 0
    for name in with_warpshmem with_openshmem with_nvshmem moe; do
        run_job 60 "$oshrun" -n 2 "$tap_dir/parts/built/$name"
        tap_check "CMake: $name runs" test "$status" = 0
    done
    run_job 60 cmake --build "$tap_dir/parts/built" --target run
    tap_check "CMake: warpshmem_OSHRUN runs one" grep -q 'PE 1 of 2 got 100' "$out"
}

if ! tap_long "CMake finds the package"; then :
elif command -v cmake >/dev/null; then
    cmake_parts
    refused part 'component mpi is not installed, or is none' 'find_package(warpshmem 0.1 REQUIRED COMPONENTS mpi)'
    refused newer 'compatible with requested version "0.2"' 'find_package(warpshmem 0.2 REQUIRED)'
    mv "$moved/lib/libwarpshmem.so" "$tap_dir/kept"
    refused library 'install warpshmem as a whole' 'find_package(warpshmem REQUIRED)'
else
    tap_skip "CMake finds the package" "no cmake"
fi

# --- Debian's packages ---
# debian/rules configures without CUDA and MPI.
not_debian='/oshnvcc$|/libwarpshmem_bootstrap_mpi\.so$|/perftest/device/|\.(bc|ltoir)$'

# Where debian/rules has the folders put, of those here.
as_in_debian()
{
    (cd "$tap_dir/dest$prefix" && find . -type f -o -type l) | sed 's|^\./||' | sed 's|^bin/|lib/warpshmem/bin/|; t done
        s|^include/|include/warpshmem/|; s|^share/man/|share/warpshmem/man/|; s|^lib\(64\)\{0,1\}/|lib/ARCH/|
        :done
        s|^|usr/|' | grep -vxF usr/share/doc/warpshmem/LICENSE | grep -vE "$not_debian" | sort
}

# FILE PACKAGES, a line each: which packages take it. A pattern takes a folder whole.
taken()
{
    as_in_debian | awk '
        function as_expression(pattern)
        {
            gsub(/[.+]/, "[&]", pattern)
            gsub(/\*/, "[^/]*", pattern)
            return "^" pattern "(/|$)"
        }
        FILENAME != "-" { name = FILENAME; sub(/.*\//, "", name); sub(/\.install$/, "", name); package[as_expression($1)] = name; next }
        {
            takers = ""
            for (pattern in package)
                if ($0 ~ pattern && index(takers " ", " " package[pattern] " ") == 0)
                    takers = takers " " package[pattern]
            print $0 takers
        }' "$top_srcdir"/debian/*.install "$top_srcdir/debian/not-installed" -
}
taken >"$tap_dir/taken"
awk 'NF != 2' "$tap_dir/taken" >"$out"
tap_check "debian/*.install: $(wc -l <"$tap_dir/taken") files are in one package each" \
    test ! -s "$out" -a "$(wc -l <"$tap_dir/taken")" -gt 500
: >"$out"
version=$(cat "$top_srcdir/VERSION")
tap_check "debian/changelog is of version $version" grep -q "^warpshmem ($version)" "$top_srcdir/debian/changelog"
tap_check "Spack's recipe has version $version" grep -q "version(\"$version\"" "$top_srcdir/packaging/spack/package.py"

# --- make uninstall ---
run_job 60 make -s -C "$top_builddir" uninstall DESTDIR="$tap_dir/dest"
tap_check "make uninstall" test "$status" = 0
find "$tap_dir/dest" ! -type d >"$out"
tap_check "make uninstall leaves no file" test ! -s "$out"
find "$tap_dir/dest" -type d -path '*warpshmem*' -o -type d -path '*/include/*' >"$out"
tap_check "make uninstall leaves no folder of its own" test ! -s "$out"
tap_done
