// SPDX-License-Identifier: BSD-3-Clause
// Is a 16-byte store ever seen in halves? GPU to CPU, CPU to GPU, GPU to itself, GPU to GPU; one lane and a warp,
// always the same slots and a ring of them. Both halves of every value are equal, so unequal halves are a torn read.
#include "device.cuh"
#include "probe.cuh"

#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>
#include <atomic>
#include <thread>

static const uint64_t limit_ns = 250000000;
static const int ring = 1024; // slots of a lane that uses a ring

struct tally {
    uint64_t reads, changes, torn, inside; // inside: a half itself is torn
};

struct shape {
    int lanes, slots;
};

static const shape shapes[] = {{1, 1}, {32, 1}, {1, ring}, {32, ring}};
static const char *const piece_names[] = {"v4.u32", "relaxed v2.u64", "relaxed b128"};

// A value whose 32-bit halves are equal too.
static __host__ __device__ uint64_t twice(uint64_t n)
{
    return (n & 0xffffffff) << 32 | (n & 0xffffffff);
}

// Slot k of a lane; the lanes of a warp are neighbours.
static __host__ __device__ size_t slot_of(int lane, uint64_t k, shape s)
{
    return (size_t)(k % s.slots) * s.lanes + lane;
}

template <int P> static __global__ void write_pieces(ulonglong2 *slots, shape s)
{
    uint64_t end = clock_ns() + limit_ns;

    for (uint64_t k = 0; k % 256 || clock_ns() < end; k++)
        store_piece<P>(slots + slot_of(threadIdx.x, k, s), twice(k / s.slots + 1), twice(k / s.slots + 1));
}

static __host__ __device__ void tally_pair(tally *t, uint64_t low, uint64_t high, uint64_t *last)
{
    t->reads++;
    t->changes += low != *last;
    t->torn += low != high;
    t->inside += (low >> 32) != (low & 0xffffffff) || (high >> 32) != (high & 0xffffffff);
    *last = low;
}

template <int P> static __global__ void read_pieces(const ulonglong2 *slots, shape s, tally *sum)
{
    uint64_t end = clock_ns() + limit_ns, low, high, last = 0;
    tally t = {};

    for (uint64_t k = 0; k % 256 || clock_ns() < end; k++) {
        load_piece<P>(slots + slot_of(threadIdx.x, k, s), low, high);
        tally_pair(&t, low, high, &last);
    }
    atomicAdd((unsigned long long *)&sum->reads, t.reads);
    atomicAdd((unsigned long long *)&sum->changes, t.changes);
    atomicAdd((unsigned long long *)&sum->torn, t.torn);
    atomicAdd((unsigned long long *)&sum->inside, t.inside);
}

static void report_tally(const std::string &name, const tally *t)
{
    std::string answer =
        t->torn ? (t->inside ? "TORN, inside a half too" : "TORN between the halves") : "whole";

    if (t->changes < 1000)
        answer = "too few changes seen";
    say(name, answer,
        text("%lu reads, %lu changes, %lu torn, %lu inside a half", (unsigned long)t->reads,
             (unsigned long)t->changes, (unsigned long)t->torn, (unsigned long)t->inside));
}

static std::string shape_name(shape s)
{
    return text("%d lane%s, %d slot%s", s.lanes, s.lanes > 1 ? "s" : "", s.slots, s.slots > 1 ? "s" : "");
}

// One 16-byte load; always one instruction.
static void cpu_load(const ulonglong2 *at, uint64_t *low, uint64_t *high)
{
    __m128i value;

    asm volatile("movdqa %1, %0" : "=x"(value) : "m"(*(const __m128i *)at) : "memory");
    *low = (uint64_t)_mm_cvtsi128_si64(value);
    *high = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(value, value));
}

static void cpu_store(ulonglong2 *at, uint64_t both)
{
    __m128i value = _mm_set1_epi64x((long long)both);

    asm volatile("movdqa %1, %0" : "=m"(*(__m128i *)at) : "x"(value) : "memory");
}

static void cpu_read(const ulonglong2 *slots, shape s, const std::atomic<bool> *stop, tally *t)
{
    uint64_t low, high, last = 0;

    // The order of the loads is nobody's: the flag only ends the loop.
    for (uint64_t k = 0; !stop->load(std::memory_order_relaxed); k++) {
        cpu_load(slots + slot_of((int)(k % s.lanes), k / s.lanes, s), &low, &high);
        tally_pair(t, low, high, &last);
    }
}

static void cpu_write(ulonglong2 *slots, shape s, const std::atomic<bool> *stop)
{
    for (uint64_t k = 0; !stop->load(std::memory_order_relaxed); k++)
        for (int lane = 0; lane < s.lanes; lane++)
            cpu_store(slots + slot_of(lane, k, s), twice(k / s.slots + 1));
}

template <int P> static void gpu_to_cpu(ulonglong2 *slots, shape s)
{
    std::atomic<bool> stop(false);
    tally t = {};

    memset(slots, 0, sizeof *slots * 32 * ring);
    std::thread reader(cpu_read, slots, s, &stop, &t);
    write_pieces<P><<<1, s.lanes>>>(slots, s);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    stop.store(true, std::memory_order_relaxed);
    reader.join();
    report_tally(text("GPU stores %s, CPU loads 16 bytes, ", piece_names[P]) + shape_name(s), &t);
}

template <int P> static void cpu_to_gpu(ulonglong2 *slots, shape s, tally *t)
{
    std::atomic<bool> stop(false);

    *t = {};
    memset(slots, 0, sizeof *slots * 32 * ring);
    std::thread writer(cpu_write, slots, s, &stop);
    read_pieces<P><<<1, s.lanes>>>(slots, s, t);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    stop.store(true, std::memory_order_relaxed);
    writer.join();
    report_tally(text("CPU stores 16 bytes, GPU loads %s, ", piece_names[P]) + shape_name(s), t);
}

void ask_torn_host()
{
    ulonglong2 *slots;
    tally *t;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    if (!CHECK(cudaSetDevice(0)) || !(slots = (ulonglong2 *)pinned(sizeof *slots * 32 * ring)))
        return;
    if (!(t = (tally *)pinned(sizeof *t)))
        return;
    for (shape s : shapes) {
        gpu_to_cpu<PIECE_V4>(slots, s);
        gpu_to_cpu<PIECE_V2>(slots, s);
        gpu_to_cpu<PIECE_B128>(slots, s);
        cpu_to_gpu<PIECE_V4>(slots, s, t);
        cpu_to_gpu<PIECE_V2>(slots, s, t);
        cpu_to_gpu<PIECE_B128>(slots, s, t);
    }
}

struct path {
    const char *name;
    int writer, reader; // devices
    ulonglong2 *slots;
    cudaStream_t write_stream, read_stream;
    tally *sum;
};

template <int W, int R> static void gpu_to_gpu(path *r, shape s)
{
    *r->sum = {};
    CHECK(cudaMemset(r->slots, 0, sizeof *r->slots * 32 * ring));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(r->writer));
    write_pieces<W><<<1, s.lanes, 0, r->write_stream>>>(r->slots, s);
    CHECK(cudaGetLastError());
    CHECK(cudaSetDevice(r->reader));
    read_pieces<R><<<1, s.lanes, 0, r->read_stream>>>(r->slots, s, r->sum);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(r->read_stream));
    CHECK(cudaStreamSynchronize(r->write_stream));
    report_tally(text("%s: stores %s, loads %s, ", r->name, piece_names[W], piece_names[R]) + shape_name(s),
           r->sum);
}

static void ask_path(const char *name, int writer, int reader, int owner)
{
    path r = {name, writer, reader, NULL, NULL, NULL, NULL};

    if (!CHECK(cudaSetDevice(owner)) || !CHECK(cudaMalloc(&r.slots, sizeof *r.slots * 32 * ring)))
        return;
    if (!CHECK(cudaSetDevice(writer)) ||
        !CHECK(cudaStreamCreateWithFlags(&r.write_stream, cudaStreamNonBlocking)))
        return;
    if (!CHECK(cudaSetDevice(reader)) ||
        !CHECK(cudaStreamCreateWithFlags(&r.read_stream, cudaStreamNonBlocking)))
        return;
    if (!(r.sum = (tally *)pinned(sizeof *r.sum)))
        return;
    for (shape s : shapes) {
        gpu_to_gpu<PIECE_V4, PIECE_V4>(&r, s);
        gpu_to_gpu<PIECE_V2, PIECE_V2>(&r, s);
        gpu_to_gpu<PIECE_B128, PIECE_B128>(&r, s);
        gpu_to_gpu<PIECE_B128, PIECE_V2>(&r, s);
    }
}

void ask_torn_device()
{
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    ask_path("one GPU, own memory", 0, 0, 0);
}

void ask_torn_peer()
{
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    for (int d = 0; d < 2; d++)
        if (!CHECK(cudaSetDevice(d)) || !CHECK(cudaDeviceEnablePeerAccess(1 - d, 0)))
            return;
    ask_path("writer stores over NVLink", 0, 1, 1);
    ask_path("reader loads over NVLink", 0, 1, 0);
}
