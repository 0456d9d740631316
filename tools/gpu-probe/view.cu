// SPDX-License-Identifier: BSD-3-Clause
// Do kernels of every translation unit, and of libraries opened before and after, see what a library without CUDA
// filled in? Built with static and shared cudart, as relocatable code and with link-time optimisation: `view NAME`.
#define UNIT_NAME "unit a"
#include "view_unit.cuh"
#include "probe.cuh"

#include <dlfcn.h>
#include <unistd.h>

uint64_t other_sees();

static const char *const plug_files[] = {"libplug_static.so", "libplug_shared.so"};

struct plug {
    void *handle;
    uint64_t (*sees)();
};

static struct view make_view(uint64_t version)
{
    struct view view = {};

    view.version = version;
    return view;
}

static std::string beside_self(const char *name)
{
    char self[4096];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    std::string path(self, len > 0 ? (size_t)len : 0);

    return path.substr(0, path.rfind('/') + 1) + name;
}

static bool open_plug(plug *p, const char *file)
{
    p->handle = dlopen(beside_self(file).c_str(), RTLD_NOW | RTLD_LOCAL);
    p->sees = p->handle ? (uint64_t(*)())dlsym(p->handle, "plug_sees") : NULL;
    if (!p->sees)
        say(std::string("open ") + file, std::string("failed: ") + dlerror());
    return p->sees;
}

static void compare_seen(const std::string &part, uint64_t seen, uint64_t wanted)
{
    if (seen >> 32)
        say(part, "failed: " + name_of((cudaError_t)(seen & 0xffffffff)));
    else
        say(part, seen == wanted ? "ok" : "WRONG",
            text("saw %lu, wanted %lu", (unsigned long)seen, (unsigned long)wanted));
}

static void report_units(const char *when)
{
    for (view_unit *u = view_units(); u; u = u->next)
        say(std::string(when) + ": fill of " + u->name,
            u->last < 0 ? "not filled" : name_of((cudaError_t)u->last));
}

static void compare_all(const char *when, uint64_t wanted, const plug *plugs, int count)
{
    std::string w = when;

    compare_seen(w + ": unit a", unit_sees(), wanted);
    compare_seen(w + ": unit b", other_sees(), wanted);
    for (int i = 0; i < count; i++)
        if (plugs[i].sees)
            compare_seen(w + ": " + plug_files[i], plugs[i].sees(), wanted);
}

static int copy_by_driver(uint64_t to, const void *from, size_t len)
{
    return (int)cuMemcpyHtoD((CUdeviceptr)to, from, len);
}

// A graph captured once and replayed after the view has changed.
static void ask_graph(uint64_t next)
{
    uint64_t *out = (uint64_t *)pinned(64);
    struct view view = make_view(next);
    cudaGraphExec_t exec;
    cudaGraph_t graph;
    cudaStream_t stream;

    if (!out || !CHECK(cudaStreamCreate(&stream)) ||
        !CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal)))
        return;
    unit_read<<<1, 1, 0, stream>>>(out);
    if (!CHECK(cudaStreamEndCapture(stream, &graph)) || !CHECK(cudaGraphInstantiate(&exec, graph, 0)))
        return;
    view_fill(&view);
    if (CHECK(cudaGraphLaunch(exec, stream)) && CHECK(cudaStreamSynchronize(stream)))
        compare_seen("graph captured before the fill", *out, next);
}

static void ask_second_device(plug *plugs, uint64_t next)
{
    struct view view = make_view(next);
    int count = 0;

    if (!CHECK(cudaGetDeviceCount(&count)) || count < 2 || !CHECK(cudaSetDevice(1)))
        return;
    view_fill(&view);
    compare_all("on device 1 after a fill there", next, plugs, 2);
    if (CHECK(cudaSetDevice(0)))
        compare_all("on device 0 after it", next - 1, plugs, 2);
}

// Opened after the view is set: its constructor registers, and is filled at once; then its first kernel.
static void ask_late(plug *plugs, int i, uint64_t now)
{
    if (!open_plug(&plugs[i], plug_files[i]))
        return;
    report_units(i ? "opened late, shared" : "opened late, static");
    compare_seen(std::string("opened late: ") + plug_files[i], plugs[i].sees(), now);
}

static void close_all(plug *plugs)
{
    for (int i = 0; i < 2; i++)
        if (plugs[i].handle)
            say(std::string("close ") + plug_files[i], dlclose(plugs[i].handle) ? dlerror() : "ok");
    plugs[0] = plugs[1] = {NULL, NULL};
}

int main(int argc, char **argv)
{
    struct view views[6];
    plug plugs[2] = {};
    double start;
    int filled;

    question = argc > 1 ? argv[1] : "view";
    alarm(45);
    for (uint64_t i = 0; i < 6; i++)
        views[i] = make_view(i);
    open_plug(&plugs[0], plug_files[0]);
    if (!CHECK(cudaSetDevice(0)) || !CHECK(cudaFree(NULL)))
        return 0;
    start = now_us();
    filled = view_fill(&views[1]);
    say("first fill", "units filled", text("%d, %.0f us", filled, now_us() - start));
    report_units("first fill");
    compare_all("first fill", 1, plugs, 1);
    ask_late(plugs, 1, 1);
    say("second fill", "units filled", text("%d", view_fill(&views[2])));
    compare_all("second fill", 2, plugs, 2);
    close_all(plugs);
    say("fill after closing", "units filled", text("%d", view_fill(&views[3])));
    ask_late(plugs, 0, 3);
    ask_late(plugs, 1, 3);
    say("fill by address", "units filled", text("%d", view_fill_by_address(&views[4], copy_by_driver)));
    compare_all("fill by address", 4, plugs, 2);
    ask_graph(5);
    ask_second_device(plugs, 6);
    close_all(plugs);
    return 0;
}
