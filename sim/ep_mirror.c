/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Images, results and counters of expert parallelism that come back where few hosts run in full. Rows of a host are
 * those of every host and choices are the same seen from each, so that what comes back differs in experts alone.
 */
#include "ep/ep.h"
#include "sim/programs/program.h"

#include <string.h>

static const struct shmemx_ep *ep_of(const struct sim_reflection *reflection)
{
    return *(const shmemx_ep_t *)reflection->giver->program;
}

/* Of PE `me` among the far peers of `pe`. */
static int far_number(const struct ep_shape *shape, const struct sim_pe *me, const struct sim_pe *pe)
{
    struct ep_shape its = *shape;

    its.me = me->number;
    its.host = me->host;
    its.local = me->number - sim.host[me->host].first;
    return ep_far_me(&its, pe->number);
}

/* Item `at` of a row of `each` for every far peer: that of the source at the sink. */
static size_t item_turned(const struct sim_reflection *reflection, size_t at, size_t each)
{
    const struct ep_shape *shape = &ep_of(reflection)->shape;
    size_t given = (size_t)far_number(shape, reflection->giver, reflection->target);

    if (at / each != given)
        sim_violation("PE %d has put to PE %d as its far peer %zu", reflection->giver->number,
                      reflection->target->number, at / each);
    return (size_t)far_number(shape, reflection->source, reflection->sink) * each + at % each;
}

static size_t word(const struct sim_reflection *reflection, size_t off)
{
    const struct shmemx_ep *ep = ep_of(reflection);
    const struct ep_shape *shape = &ep->shape;
    const struct {
        int first, each;
    } rows[] = {{shape->c_far, shape->slots},
                {shape->c_credit, 1},
                {shape->c_result, shape->slots},
                {shape->c_result_credit, 1}};
    size_t begin = (size_t)ep->counters[0] - 1, number = (off - begin) / sizeof(uint64_t);

    for (size_t i = 0; off >= begin && i < sizeof rows / sizeof *rows; i++) {
        size_t at = number - (size_t)rows[i].first;

        if (number >= (size_t)rows[i].first && at < (size_t)shape->far * (size_t)rows[i].each)
            return begin + ((size_t)rows[i].first + item_turned(reflection, at, (size_t)rows[i].each)) *
                               sizeof(uint64_t);
    }
    sim_violation("PE %d signals offset %zu of PE %d", reflection->giver->number, off,
                  reflection->target->number);
    return off;
}

/*
 * Whether the word at that offset of an image is the number of an expert. Low latency counts them from the first one
 * behind the far peer on, alike for all.
 */
static bool is_expert(const struct ep_shape *shape, size_t at)
{
    size_t in_record = at < shape->head ? 0 : (at - shape->head) % shape->record;

    return !shape->pushes && in_record >= sizeof(struct ep_meta) && in_record < shape->meta &&
           (in_record - sizeof(struct ep_meta)) % sizeof(struct ep_entry) == 0;
}

static void image_turn(const struct sim_reflection *reflection, size_t at, char *image, size_t len)
{
    const struct ep_shape *shape = &ep_of(reflection)->shape;
    int ahead = (reflection->source->host - reflection->giver->host) * shape->near * shape->mine;

    for (size_t i = 0; i + sizeof(int32_t) <= len; i += sizeof(int32_t)) {
        int32_t expert;

        memcpy(&expert, image + i, sizeof expert);
        if (!is_expert(shape, at + i) || expert < 0)
            continue;
        expert = (expert + ahead + shape->experts) % shape->experts;
        memcpy(image + i, &expert, sizeof expert);
    }
}

static void data(const struct sim_reflection *reflection, size_t off, const char *from, size_t len)
{
    const struct shmemx_ep *ep = ep_of(reflection);
    const struct ep_shape *shape = &ep->shape;
    size_t at = off - (size_t)(ep->arena - reflection->giver->heap);
    bool image =
        at >= shape->window_in && at < shape->window_in + (size_t)(shape->far * shape->slots) * shape->image;
    size_t base = image ? shape->window_in : shape->result_in,
           each = image ? shape->image : shape->result_image;
    char *to;

    if (at < base || at + len > base + (size_t)(shape->far * shape->slots) * each) {
        sim_violation("PE %d puts to offset %zu of PE %d", reflection->giver->number, off,
                      reflection->target->number);
        return;
    }
    to = reflection->sink->heap + (off - at) + base +
         item_turned(reflection, at - base, each * (size_t)shape->slots);
    memcpy(to, from, len);
    if (image)
        image_turn(reflection, (at - base) % each, to, len);
}

const struct sim_reflect sim_ep_reflect = {data, word};
