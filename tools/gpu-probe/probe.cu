// SPDX-License-Identifier: BSD-3-Clause
// Asks one question of this machine's GPUs and prints the answers: `probe QUESTION`. `probe --gpus` counts the GPUs.
#include "probe.cuh"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    void (*ask)();
} questions[] = {
    {"attributes", ask_attributes},
    {"init", ask_init},
    {"module", ask_module},
    {"vmm", ask_vmm},
    {"vmm2", ask_vmm_peer},
    {"ipc", ask_ipc},
    {"hostreg", ask_hostreg},
    {"dmabuf", ask_dmabuf},
    {"spin", ask_spin},
    {"spinfull", ask_spin_full},
    {"spinqueue", ask_spin_queue},
    {"torn", ask_torn_host},
    {"torngpu", ask_torn_device},
    {"torn2", ask_torn_peer},
    {"fence", ask_fence},
    {"fence2", ask_fence_peer},
    {"stream", ask_stream},
    {"flag", ask_flag_host},
    {"flag2", ask_flag_peer},
    {"share2", ask_share_2},
    {"share4", ask_share_4},
    {"share8", ask_share_8},
    {"mps2", ask_share_2},
    {"mps4", ask_share_4},
    {"mps8", ask_share_8},
};

int main(int argc, char **argv)
{
    int count;

    if (argc == 2 && !strcmp(argv[1], "--gpus")) {
        printf("%d\n", cudaGetDeviceCount(&count) ? 0 : count);
        return 0;
    }
    for (const auto &q : questions)
        if (argc == 2 && !strcmp(argv[1], q.name)) {
            question = q.name;
            alarm(45); // a question ends, whatever the driver does
            q.ask();
            return 0;
        }
    fprintf(stderr, "probe: %s is no question; usage: probe QUESTION | --gpus\n",
            argc > 1 ? argv[1] : "(none)");
    return 2;
}
