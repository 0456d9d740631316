#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A set-user-ID program does not let its caller name files that it writes or objects that it loads: neither by settings of
# the library nor by those of the libraries that it loads.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"

[ "$(id -u)" = 0 ] || tap_skip_all "only root can make a program of another user"
command -v setpriv >/dev/null || tap_skip_all "no setpriv (apt-get install util-linux)"
need_plain "a set-user-ID program does not go with"

chmod 755 "$tap_dir"
mkdir -m 755 "$tap_dir/lib" && cp -P "$top_builddir"/.libs/libwarpshmem.so* "$tap_dir/lib" || exit 99
mkdir -m 777 "$tap_dir/theirs"
mkdir -m 700 "$tap_dir/roots"
cat >"$tap_dir/program.c" <<'END'
#include <shmemx.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
    void *comm = NULL;

    attr.mpi_comm = &comm;
    if (argc > 1 && !strcmp(argv[1], "mpi"))
        return shmemx_init_attr(SHMEMX_INIT_WITH_MPI_COMM, &attr) ? 3 : 0;
    shmem_init();
    printf("heap %d\n", shmem_n_pes());
    shmem_finalize();
    return 0;
}
END
cat >"$tap_dir/evil.c" <<'END'
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void take(void)
{
    if (!geteuid())
        close(open(EVIL, O_CREAT | O_WRONLY, 0600));
}
END
"$top_builddir/oshcc" -o "$tap_dir/program" "$tap_dir/program.c" "-Wl,-rpath,$tap_dir/lib" || exit 99
${CC:-cc} -shared -fPIC "-DEVIL=\"$tap_dir/roots/evil\"" -o "$tap_dir/theirs/evil.so" "$tap_dir/evil.c" || exit 99
cp "$tap_dir/theirs/evil.so" "$tap_dir/theirs/pmix_mca_pcompress_evil.so"
cp "$tap_dir/theirs/evil.so" "$tap_dir/theirs/libevil-fi.so"
cp "$tap_dir/program" "$tap_dir/plain"
chmod 4755 "$tap_dir/program"

# theirs VARIABLE=value… PROGRAM: another user runs it.
theirs()
{
    # shellcheck disable=SC2086
    run_job 60 setpriv --reuid=65534 --regid=65534 --clear-groups env -i "PATH=$PATH" "$@" $words
    tap_comment "$err"
}

words=
theirs "$tap_dir/program"
[ "$status" = 0 ] || tap_skip_all "another user cannot run a set-user-ID program here (mounted nosuid?)"
tap_check "without settings: no line" test ! -s "$err"

theirs SHMEM_DEBUG=info "SHMEM_DEBUG_FILE=$tap_dir/theirs/log" "$tap_dir/program"
tap_check "SHMEM_DEBUG_FILE writes nothing as root" test "$status" = 0 -a ! -e "$tap_dir/theirs/log"
tap_check "… and one line says that settings do not count" sh -c \
    "[ \$(grep -c '' '$err') = 1 ] && grep -qE 'SHMEM_DEBUG.* and other settings in the environment do not count: this program has rights' '$err'"
theirs NVSHMEM_DEBUG=info "NVSHMEM_DEBUG_FILE=$tap_dir/theirs/log" SMA_INFO=1 "$tap_dir/program"
tap_check "nor by other names of it" test "$(cat "$out")" = "heap 1" -a ! -e "$tap_dir/theirs/log"

words=mpi
theirs "SHMEM_BOOTSTRAP_MPI_PLUGIN=$tap_dir/theirs/evil.so" "$tap_dir/program"
tap_check "SHMEM_BOOTSTRAP_MPI_PLUGIN loads nothing" test "$status" = 3 -a ! -e "$tap_dir/roots/evil"
words=
theirs PMIX_NAMESPACE=none PMIX_RANK=0 "PMIX_MCA_mca_base_component_path=$tap_dir/theirs" "$tap_dir/program"
tap_check "PMIX_MCA_* loads nothing" test ! -e "$tap_dir/roots/evil"
theirs SHMEM_TRANSPORTS=efa "FI_PROVIDER_PATH=$tap_dir/theirs" FI_LOG_LEVEL=info "$tap_dir/program"
tap_check "FI_* loads nothing" test ! -e "$tap_dir/roots/evil"

# Files of settings: the site's alone.
mkdir -p "$tap_dir/theirs/.config" "$tap_dir/etc"
echo SHMEM_INFO=1 >"$tap_dir/etc/warpshmem.conf"
echo SHMEM_VERSION=yes >"$tap_dir/theirs/.config/warpshmem.conf"
chmod 644 "$tap_dir/theirs/.config/warpshmem.conf"
theirs "HOME=$tap_dir/theirs" "WARPSHMEM_CONF=$tap_dir/theirs/.config/warpshmem.conf" "$tap_dir/program"
tap_check "its caller's files of settings are not read" test "$(cat "$out")" = "heap 1" -a ! -s "$err"
if unshare -m true 2>/dev/null; then
    # shellcheck disable=SC2016
    run_job 60 unshare -m sh -c 'mount --make-rprivate / && mount --bind "$0" /etc && exec "$@"' "$tap_dir/etc" \
        setpriv --reuid=65534 --regid=65534 --clear-groups env -i WARPSHMEM_CONF=none "$tap_dir/program"
    tap_check "/etc/warpshmem.conf is" grep -qE '^SHMEM_INFO +1 +set by /etc/warpshmem.conf:1' "$out"
fi

theirs "SHMEM_DEBUG_FILE=$tap_dir/theirs/log" SHMEM_DEBUG=info "$tap_dir/plain"
tap_check "the program without the bit takes its settings" test "$status" = 0 -a -s "$tap_dir/theirs/log"
tap_done
