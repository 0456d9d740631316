# SPDX-License-Identifier: BSD-3-Clause
# read_bitcode.py llvmlite|triton FILE: has that package's LLVM read and check the bitcode; prints its version.
import sys


def by_llvmlite(path):
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    with open(path, "rb") as file:
        module = llvm.parse_bitcode(file.read())
    module.verify()
    target = llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(cpu="sm_90", features="+ptx80", opt=0)
    target.emit_assembly(module)
    print("LLVM", ".".join(map(str, llvm.llvm_version_info)))


def by_triton(path):
    import triton
    from triton._C.libtriton import ir, llvm

    llvm.init_targets()
    source = """
module attributes {llvm.target_triple = "nvptx64-nvidia-cuda"} {
  llvm.func @nvshmem_my_pe() -> i32
  llvm.func @step() -> i32 {
    %0 = llvm.call @nvshmem_my_pe() : () -> i32
    llvm.return %0 : i32
  }
}
"""
    import tempfile

    context = ir.context()
    ir.load_dialects(context)
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(source)
        file.flush()
        module = ir.parse_mlir_module(file.name, context)
    code = llvm.to_module(module, llvm.context())
    llvm.link_extern_libs(code, [path])
    assert "wsh_device_view" in str(code)
    print("Triton", triton.__version__)


{"llvmlite": by_llvmlite, "triton": by_triton}[sys.argv[1]](sys.argv[2])
