# SPDX-License-Identifier: BSD-3-Clause
"""`import warpshmem.deep_ep.install`: from then on `import deep_ep` is warpshmem's, whatever lies in
site-packages."""

import warpshmem_front

warpshmem_front.install()
