// SPDX-License-Identifier: BSD-3-Clause
// Which symbols of a module can be found by name: those of a separate cubin, and those of this program's own kernels.
#include "probe.cuh"

#include <stdio.h>
#include <unistd.h>
#include <vector>

static __constant__ uint64_t own_private[8];
extern "C" {
__constant__ uint64_t probe_own_public[8];
}

static __global__ void use_own(uint64_t *out)
{
    *out = own_private[0] + probe_own_public[0];
}

cudaError_t fill_other_module()
{
    uint64_t value = 1;

    return cudaMemcpyToSymbol(own_private, &value, sizeof value);
}

// The file beside this program.
static std::vector<char> read_beside(const char *name)
{
    char self[4096];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    std::string path(self, len > 0 ? (size_t)len : 0);
    std::vector<char> data;
    FILE *file;
    int c;

    path = path.substr(0, path.rfind('/') + 1) + name;
    if (!(file = fopen(path.c_str(), "rb"))) {
        say("error", "failed: cannot open", path);
        return data;
    }
    while ((c = getc(file)) != EOF)
        data.push_back((char)c);
    fclose(file);
    return data;
}

static void look_up_symbol(const char *what, CUmodule module, const char *symbol)
{
    CUdeviceptr at = 0;
    size_t len = 0;
    CUresult r = cuModuleGetGlobal(&at, &len, module, symbol);

    say(std::string(what) + " " + symbol, name_of(r), r ? "" : text("%zu bytes", len));
}

// A value written through the address that cuModuleGetGlobal gave must be what the module's kernel reads.
static void fill_and_run(CUmodule module, const char *symbol, const char *kernel)
{
    uint64_t value[8] = {4711}, *out = (uint64_t *)pinned(64);
    void *args[] = {&out};
    CUdeviceptr at;
    CUfunction f;
    size_t len;

    if (!out || cuModuleGetGlobal(&at, &len, module, symbol) || !CHECK(cuMemcpyHtoD(at, value, sizeof value)))
        return;
    if (!CHECK(cuModuleGetFunction(&f, module, kernel)) ||
        !CHECK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL)) || !CHECK(cuCtxSynchronize()))
        return;
    say(std::string("filled by name: ") + symbol,
        *out == 4711 ? "the kernel sees it" : "the kernel does not see it");
}

// Relocatable code gives a private symbol a name of its own: prefix, hash, file, name. Whole-program code does not.
static std::string private_name(const std::vector<char> &image)
{
    std::string bytes(image.begin(), image.end()), prefix = "__nv_static_", name = "probe_module_private";

    for (size_t at = 0; (at = bytes.find(prefix, at)) != std::string::npos; at++) {
        std::string found = bytes.substr(at, bytes.find('\0', at) - at);

        if (found.size() > name.size() && found.compare(found.size() - name.size(), name.size(), name) == 0)
            return found;
    }
    return name;
}

static void ask_cubin(const char *file)
{
    std::vector<char> image = read_beside(file);
    std::string mangled = private_name(image);
    CUmodule module;

    if (image.empty() || !CHECK(cuModuleLoadData(&module, image.data())))
        return;
    look_up_symbol(file, module, "probe_module_public");
    look_up_symbol(file, module, "probe_module_private");
    if (mangled != "probe_module_private")
        look_up_symbol(file, module, mangled.c_str());
    fill_and_run(module, "probe_module_public", "read_public");
    fill_and_run(module, mangled.c_str(), "read_private");
    CHECK(cuModuleUnload(module));
}

// The module behind a kernel of the running program, and what can be found in it.
static void ask_own()
{
    cudaFunction_t function;
    CUmodule module;
    cudaError_t r;
    void *at = NULL;

    if (!CHECK(cudaGetFuncBySymbol(&function, (const void *)use_own)) ||
        !CHECK(cuFuncGetModule(&module, function)))
        return;
    look_up_symbol("own module", module, "probe_own_public");
    look_up_symbol("own module", module, "own_private");
    r = cudaGetSymbolAddress(&at, own_private);
    say("cudaGetSymbolAddress of a private symbol", name_of(r), text("%p", at));
}

void ask_module()
{
    uint64_t *out;

    if (!CHECK(cudaSetDevice(0)) || !CHECK(cudaFree(NULL)) || !(out = (uint64_t *)pinned(64)))
        return;
    use_own<<<1, 1>>>(out);
    CHECK(cudaDeviceSynchronize());
    ask_cubin("module.cubin");
    ask_cubin("module_rdc.cubin");
    ask_own();
}
