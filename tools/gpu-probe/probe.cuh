// SPDX-License-Identifier: BSD-3-Clause
// What the questions share: how an answer is printed, how a CUDA error becomes one, and processes that answer together.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <string>

// printf into a string.
std::string text(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Prints `question.part | answer | figure` in one write.
void say(const std::string &part, const std::string &answer, const std::string &figure = "");

// The question that this process answers: its first argument.
extern const char *question;

// "ok", or the name of the error.
std::string name_of(CUresult result);
std::string name_of(cudaError_t result);

// True if result is success; else prints an answer `failed: …` that names the call. A CUDA error that a later call
// would report again is cleared.
bool checked(const char *call, CUresult result);
bool checked(const char *call, cudaError_t result);
#define CHECK(call) checked(#call, call)

// Microseconds of a monotonic clock.
double now_us();
void sleep_us(double us);

// Devices; -1 and an answer if CUDA does not work.
int device_count();

// Host memory that the GPU reaches, zeroed; NULL and an answer if there is none.
void *pinned(size_t len, unsigned flags = cudaHostAllocMapped | cudaHostAllocPortable);

// A second process of this question. Started before any CUDA call of this one; it ends with this one.
struct process {
    pid_t pid;
    int sock;
};
process start(int (*body)(int sock, int index), int index);
// Waits for its end, 25 s at most, and ends it then; its exit status, or -1.
int finish(process &child);
// Exactly len bytes, or false (the other side is gone, or 10 s have passed).
bool send_bytes(int sock, const void *buf, size_t len);
bool recv_bytes(int sock, void *buf, size_t len);
// A descriptor and nothing else; recv_fd returns -1 if none came.
bool send_fd(int sock, int fd);
int recv_fd(int sock);

// Fills a symbol of a module that nothing has loaded yet.
cudaError_t fill_other_module();

void ask_attributes();
void ask_init();
void ask_module();
void ask_vmm();
void ask_vmm_peer();
void ask_ipc();
void ask_hostreg();
void ask_dmabuf();
void ask_spin();
void ask_spin_full();
void ask_spin_queue();
void ask_torn_host();
void ask_torn_device();
void ask_torn_peer();
void ask_fence();
void ask_fence_peer();
void ask_stream();
void ask_flag_host();
void ask_flag_peer();
void ask_share_2();
void ask_share_4();
void ask_share_8();
