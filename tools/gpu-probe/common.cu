// SPDX-License-Identifier: BSD-3-Clause
// Answers, errors and clocks, and the processes of one question with their sockets.
#include "probe.cuh"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int wait_ms = 10000;
static const int end_ms = 25000;

const char *question = "?";

std::string text(const char *format, ...)
{
    char buf[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(buf, sizeof buf, format, args);
    va_end(args);
    return buf;
}

// The columns are separated by bars, the answers by line ends.
static std::string one_column(std::string s)
{
    for (char &c : s)
        if (c == '|' || c == '\n')
            c = c == '|' ? '+' : ' ';
    return s;
}

void say(const std::string &part, const std::string &answer, const std::string &figure)
{
    std::string line = std::string(question) + "." + one_column(part) + " | " + one_column(answer) + " | " +
                       one_column(figure) + "\n";

    if (write(STDOUT_FILENO, line.data(), line.size()) != (ssize_t)line.size())
        _exit(3);
}

std::string name_of(CUresult result)
{
    const char *name = NULL;

    if (result == CUDA_SUCCESS)
        return "ok";
    if (cuGetErrorName(result, &name) || !name)
        return text("error %d", (int)result);
    return name;
}

std::string name_of(cudaError_t result)
{
    return result == cudaSuccess ? "ok" : cudaGetErrorName(result);
}

bool checked(const char *call, CUresult result)
{
    if (result != CUDA_SUCCESS)
        say("error", "failed: " + name_of(result), call);
    return result == CUDA_SUCCESS;
}

bool checked(const char *call, cudaError_t result)
{
    if (result == cudaSuccess)
        return true;
    cudaGetLastError();
    say("error", "failed: " + name_of(result), call);
    return false;
}

double now_us()
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

void sleep_us(double us)
{
    struct timespec t = {(time_t)(us / 1e6), (long)(us * 1e3) % 1000000000};

    nanosleep(&t, NULL);
}

int device_count()
{
    int count;

    return CHECK(cudaGetDeviceCount(&count)) ? count : -1;
}

void *pinned(size_t len, unsigned flags)
{
    void *at;

    if (!CHECK(cudaHostAlloc(&at, len, flags)))
        return NULL;
    memset(at, 0, len);
    return at;
}

process start(int (*body)(int sock, int index), int index)
{
    process child = {-1, -1};
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        say("error", text("failed: socketpair: %s", strerror(errno)));
        return child;
    }
    child.pid = fork();
    if (child.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pair[0]);
        alarm(45);
        _exit(body(pair[1], index));
    }
    close(pair[1]);
    child.sock = pair[0];
    return child;
}

int finish(process &child)
{
    double end = now_us() + end_ms * 1e3;
    int status = 0;
    pid_t got = 0;

    if (child.pid < 0)
        return -1;
    while ((got = waitpid(child.pid, &status, WNOHANG)) == 0 && now_us() < end)
        sleep_us(1000);
    if (got == 0) {
        kill(child.pid, SIGKILL);
        waitpid(child.pid, &status, 0);
    }
    close(child.sock);
    child.pid = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool ready(int sock, short events)
{
    struct pollfd p = {sock, events, 0};

    return poll(&p, 1, wait_ms) == 1;
}

bool send_bytes(int sock, const void *buf, size_t len)
{
    return ready(sock, POLLOUT) && send(sock, buf, len, MSG_NOSIGNAL) == (ssize_t)len;
}

bool recv_bytes(int sock, void *buf, size_t len)
{
    return ready(sock, POLLIN) && recv(sock, buf, len, MSG_WAITALL) == (ssize_t)len;
}

union fd_message {
    struct cmsghdr head;
    char space[CMSG_SPACE(sizeof(int))];
};

static struct msghdr fd_header(struct iovec *iov, union fd_message *control)
{
    struct msghdr msg = {};

    msg.msg_iov = iov;
    msg.msg_iovlen = 1;
    msg.msg_control = control->space;
    msg.msg_controllen = sizeof control->space;
    return msg;
}

bool send_fd(int sock, int fd)
{
    char byte = 0;
    struct iovec iov = {&byte, 1};
    union fd_message control = {};
    struct msghdr msg = fd_header(&iov, &control);

    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    return ready(sock, POLLOUT) && sendmsg(sock, &msg, MSG_NOSIGNAL) == 1;
}

int recv_fd(int sock)
{
    char byte;
    struct iovec iov = {&byte, 1};
    union fd_message control = {};
    struct msghdr msg = fd_header(&iov, &control);
    int fd = -1;

    if (!ready(sock, POLLIN) || recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&msg))
        return -1;
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof fd);
    return fd;
}
