/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects that own symmetric memory and free it in their destructors, which run in another order on each PE, and for
 * one of them after the end: with the setting below nvshmem_free meets nobody.
 * paths: fakegpu:2,4 gpu:2,4 gpu1:2,4
 * env: SHMEM_FREE_LATER=1
 * timeout: 120
 */
#include "program.cuh"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

class Tensor {
  public:
    explicit Tensor(size_t count) : data((long *)nvshmem_malloc(count * sizeof(long)))
    {
        CHECK(data);
    }
    ~Tensor()
    {
        nvshmem_free(data);
    }
    Tensor(const Tensor &) = delete;
    Tensor &operator=(const Tensor &) = delete;
    long *data;
};

static std::unique_ptr<Tensor> last; /* destroyed when the library has ended */

int main()
{
    begin_host();
    enum { LIVE = 40, ROUNDS = 20 };
    std::vector<std::unique_ptr<Tensor>> tensors;
    std::mt19937 random(me); /* each PE its own */
    long *base = symmetric<long>(1), *differs = symmetric<long>(1), sum = 0;

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LIVE; i++) {
            tensors.emplace_back(new Tensor(100 + 50 * i));
            sum = sum * 31 + (tensors.back()->data - base);
            nvshmem_long_p(tensors.back()->data, 1000 * round + i, right);
        }
        nvshmem_barrier_all();
        for (int i = 0; i < LIVE; i++)
            CHECK(nvshmem_long_g(tensors[i]->data, me) == 1000 * round + i);
        nvshmem_barrier_all();
        std::shuffle(tensors.begin(), tensors.end(), random);
        while (!tensors.empty()) {
            tensors.pop_back();
            if (tensors.size() % 8 == 0)
                Tensor temporary(10); /* here all PEs meet, having destroyed different ones */
        }
    }
    nvshmem_long_p(differs, sum, right);
    nvshmem_barrier_all();
    CHECK(nvshmem_long_g(differs, me) == sum);
    for (int round = 0; round < ROUNDS; round++) /* in memory that is free again */
        Tensor large((size_t)3 << 20);
    last.reset(new Tensor(10));
    return finish_host();
}
