# SPDX-License-Identifier: BSD-3-Clause
"""xla_names.py LIBRARY [PLUGIN.whl…] [--run FILE RANK N]: what XLA looks up in libnvshmem_host.

The names are all there: those of the list below, and every routine that the stub inside each of JAX's plug-ins has. With
--run this is one of N PEs on a GPU and calls them as XLA's collectives do, on a stream; rank 0 hands the unique id
round by the file.
"""
import ctypes
import os
import re
import sys
import zipfile

from common import Words, start

# XLA's numbers, and a size in bytes; what its communicator does with them.
TYPES = {"int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8, "half": 2,
         "bfloat16": 2, "float": 4, "double": 8}
REDUCTIONS = ["nvshmemx_%s_%s_reduce_on_stream" % (t, op) for t in TYPES for op in ("sum", "prod", "min", "max")]
# The rest of the collectives, and what the kernels of Pallas need (Mosaic GPU).
OTHERS = """nvshmem_my_pe nvshmem_n_pes nvshmem_malloc nvshmem_free nvshmem_team_n_pes nvshmem_quiet
nvshmemx_init_status nvshmemx_get_uniqueid nvshmemx_set_attr_uniqueid_args nvshmemx_hostlib_init_attr
nvshmemx_hostlib_finalize nvshmemx_vendor_get_version_info nvshmemx_barrier_all_on_stream nvshmemx_sync_all_on_stream
nvshmemx_quiet_on_stream nvshmemx_putmem_nbi_on_stream nvshmemx_getmem_on_stream nvshmemx_putmem_signal_on_stream
nvshmemx_signal_wait_until_on_stream nvshmemx_cumodule_init nvshmemx_cumodule_finalize""".split()
NAME = re.compile(rb"\0(nvshmemx?_[a-z][a-z0-9_]*)(?=\0)")
# Strings of XLA itself that look like routines.
INTERNAL = re.compile(r".*(_thunks?|_tramp.*|_stub|_t|_collectives|_communicator|_save_regs_and_resolve|_init|_used|_ext)$")


def stub(wheel):
    """Names in the plug-in inside the wheel."""
    found, rest = set(), b""
    with zipfile.ZipFile(wheel) as archive:
        name = next(each for each in archive.namelist() if each.endswith("xla_cuda_plugin.so"))
        with archive.open(name) as plugin:
            while True:
                block = plugin.read(1 << 24)
                if not block:
                    break
                found.update(NAME.findall(rest + block))
                rest = block[-200:]
    names = {each.decode() for each in found}
    return {each for each in names if not INTERNAL.match(each) or hasattr(library, each)}


def check_names(wheels):
    lacking = [each for each in REDUCTIONS + OTHERS if not hasattr(library, each)]
    assert not lacking, lacking
    print("%d names of XLA's are there" % len(REDUCTIONS + OTHERS))
    for wheel in wheels:
        names = stub(wheel)
        lacking = sorted(each for each in names if not hasattr(library, each))
        assert names and not lacking, (len(names), lacking)
        print("%s: %d names, all there" % (os.path.basename(wheel).split("-py3")[0], len(names)))


def expected(op, n):
    values = [pe + 1 for pe in range(n)]
    product = 1
    for each in values:
        product *= each
    return {"sum": sum(values), "prod": product, "min": 1, "max": n}[op]


def reductions(torch, memory, stream, rank, n):
    """Each of the 48, of 64 elements, and what comes out."""
    kinds = {"half": "float16", "double": "float64", "float": "float32"}
    for name in REDUCTIONS:
        kind, op = name.split("_")[1:3]
        dtype = getattr(torch, kinds.get(kind, kind))
        room = memory.view(dtype)
        # Some numbers cannot be filled on a GPU: by way of the host.
        room[:64] = torch.full((64,), rank + 1, dtype=torch.int64).to(dtype).cuda()
        torch.cuda.synchronize()
        library.nvshmemx_barrier_all_on_stream(stream)
        status = getattr(library, name)(0, ctypes.c_void_p(room.data_ptr() + 1024), ctypes.c_void_p(room.data_ptr()),
                                        ctypes.c_size_t(64), stream)
        assert status == 0, name
        torch.cuda.synchronize()
        at = 1024 // TYPES[kind]
        got = room[at : at + 64].cpu().to(torch.float64).tolist()
        assert got == [expected(op, n)] * 64, (name, got[:3])
    return len(REDUCTIONS)


def moves(torch, memory, stream, rank, n):
    """Send and receive of a collective permute."""
    words, right, left = memory.view(torch.int32), (rank + 1) % n, (rank + n - 1) % n
    at, size = lambda i: ctypes.c_void_p(words.data_ptr() + 4 * i), ctypes.c_size_t
    words[:2048] = 0
    words[:64] = rank + 10
    torch.cuda.synchronize()
    library.nvshmemx_barrier_all_on_stream(stream)
    library.nvshmemx_putmem_nbi_on_stream(at(256), at(0), size(256), right, stream)
    library.nvshmemx_quiet_on_stream(stream)
    library.nvshmemx_putmem_signal_on_stream(at(512), at(0), size(256), at(1024), ctypes.c_uint64(3), 9, right, stream)
    library.nvshmemx_signal_wait_until_on_stream(at(1024), 0, ctypes.c_uint64(3), stream)
    library.nvshmemx_sync_all_on_stream(stream)
    library.nvshmemx_getmem_on_stream(at(1280), at(0), size(256), right, stream)
    torch.cuda.synchronize()
    got = [words[i].item() for i in (256 + 63, 512 + 63, 1280 + 63)]
    assert got == [left + 10, left + 10, right + 10], got


def run(file, rank, n):
    import torch

    torch.cuda.init()
    torch.cuda.synchronize()
    start(library, file, rank, n)
    address = library.nvshmem_malloc(16384)
    memory = torch.as_tensor(Words(address, 16384, "|u1"), device="cuda")
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    called = reductions(torch, memory, stream, rank, n)
    moves(torch, memory, stream, rank, n)
    library.nvshmemx_barrier_all_on_stream(stream)
    torch.cuda.synchronize()
    library.nvshmem_free(address)
    library.nvshmemx_hostlib_finalize()
    print("PE %d of %d: %d reductions, puts, gets and signals of XLA's" % (rank, n, called))


library = ctypes.CDLL(sys.argv[1])
if "--run" in sys.argv:
    run(sys.argv[-3], int(sys.argv[-2]), int(sys.argv[-1]))
else:
    check_names(sys.argv[2:])
