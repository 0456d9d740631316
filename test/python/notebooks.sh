#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The notebooks of examples/notebooks are well formed, and their cells print what is stored in them: as plain scripts, and
# with WSH_TEST_LONG in a kernel of Jupyter, with packages of PyPI in an environment of its own.
# timeout: 400
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/python/lib.sh"
need_oshrun
here=$(cd "$top_srcdir/test/python" && pwd)
PATH=$(cd "$top_builddir" && pwd):$PATH SHMEM_SYMMETRIC_SIZE=16M
WARPSHMEM_PYTHON_CALLS=${WARPSHMEM_PYTHON_CALLS:-ctypes}
export PATH SHMEM_SYMMETRIC_SIZE WARPSHMEM_PYTHON_CALLS

for book in "$top_srcdir"/examples/notebooks/*.ipynb; do
    run_job 60 "$python" "$here/notebook.py" plain "$book"
    tap_check "$(basename "$book"), as a script" test "$status" = 0 -a ! -s "$err"
done

tap_long "in a kernel of Jupyter" || tap_done
jupyter=$tap_dir/jupyter
"$python" -m venv "$jupyter" >"$out" 2>&1 && run_job 300 "$jupyter/bin/pip" install -q nbclient ipykernel numpy ||
    tap_skip_all "no environment of $python (apt-get install python3-venv)"
[ "$status" = 0 ] || tap_skip_all "pip install nbclient ipykernel failed"
export IPYTHONDIR="$tap_dir/ipython" JUPYTER_RUNTIME_DIR="$tap_dir/runtime"
for book in "$top_srcdir"/examples/notebooks/*.ipynb; do
    run_job 120 "$jupyter/bin/python" "$here/notebook.py" jupyter "$book"
    tap_check "$(basename "$book"), in Jupyter" test "$status" = 0
done
tap_done
