/* tiles.c — the instructions of the tile interpreter: loads that gather or point, the loops of ops/loops.h, stores.
 *
 * A register is a vector of up to TILE elements of a compute type, or one value for the whole vector (step 0). Loads
 * of neighbouring elements are pointers into the buffer; the last computation before such a store writes the buffer
 * itself. */
#include "engine/kernel/tiles.h"

#include <string.h>

void tiles_index(int64_t at, const int64_t *size, int rank, int64_t *index) {
    for (int i = rank - 1; i > 0; i--) {
        index[i] = at % size[i];
        at /= size[i];
    }
    if (rank > 0) index[0] = at;
}

/* ---- where elements are ---- */

typedef struct walk {
    int rank;
    const int64_t *size, *stride;
    int64_t start; /* element offset of the first element */
    const int64_t *index;
} walk;

static walk walk_of(const tile_lane *t, int access) {
    const kernel_launch *l = t->l;
    const launch_access *a = &l->accesses[access];
    walk w = {.index = t->index, .start = t->base[access]};
    if (l->along_inner) {
        w.rank = t->k->inner_rank;
        w.size = l->inner;
        w.stride = a->inner;
    } else {
        w.rank = t->k->kept_rank;
        w.size = l->kept;
        w.stride = a->kept;
        for (int i = 0; i < t->k->inner_rank; i++) w.start += t->other[i] * a->inner[i];
    }
    if (a->shape == ACCESS_STILL) return w;
    for (int i = 0; i < w.rank; i++) w.start += t->index[i] * w.stride[i];
    return w;
}

static bool neighbours(const tile_lane *t, int access, const walk *w, int64_t n) {
    access_shape how = t->l->accesses[access].shape;
    if (how == ACCESS_DENSE) return true;
    return how == ACCESS_RUNS && w->index[w->rank - 1] + n <= w->size[w->rank - 1];
}

bool tiles_neighbours(const tile_lane *t, int access, int64_t n) {
    walk w = walk_of(t, access);
    return t->l->accesses[access].shape != ACCESS_STILL && neighbours(t, access, &w, n);
}

int64_t tiles_first(tile_lane *t, int access) {
    memset(t->other, 0, sizeof t->other);
    return walk_of(t, access).start;
}

/* Visits runs along the last axis: calls for (done, run, at) with the element offset of each run's start. */
#define EACH_RUN(w, n, body)                                                                                 \
    do {                                                                                                     \
        int64_t index_[MAX_RANK], at = (w)->start;                                                           \
        int last_ = (w)->rank - 1;                                                                           \
        memcpy(index_, (w)->index, sizeof index_);                                                           \
        for (int64_t done = 0; done < (n);) {                                                                \
            int64_t run = (w)->size[last_] - index_[last_], step = (w)->stride[last_];                       \
            if (run > (n)-done) run = (n)-done;                                                              \
            body;                                                                                            \
            done += run;                                                                                     \
            at += run * step;                                                                                \
            index_[last_] += run;                                                                            \
            for (int i_ = last_; i_ > 0 && index_[i_] == (w)->size[i_]; i_--) {                              \
                index_[i_] = 0;                                                                              \
                at += (w)->stride[i_ - 1] - (w)->size[i_] * (w)->stride[i_];                                 \
                index_[i_ - 1]++;                                                                            \
            }                                                                                                \
        }                                                                                                    \
    } while (0)

#define GATHER(type)                                                                                         \
    EACH_RUN(w, n,                                                                                           \
             for (int64_t i = 0; i < run; i++)((type *)to)[done + i] = ((const type *)from)[at + i * step])
#define SCATTER(type)                                                                                        \
    EACH_RUN(w, n,                                                                                           \
             for (int64_t i = 0; i < run; i++)((type *)to)[at + i * step] = ((const type *)from)[done + i])

static void gather(const walk *w, const void *from, size_t bytes, int64_t n, void *to) {
    switch (bytes) {
    case 1:
        GATHER(uint8_t);
        break;
    case 2:
        GATHER(uint16_t);
        break;
    case 4:
        GATHER(uint32_t);
        break;
    default:
        GATHER(uint64_t);
        break;
    }
}

static void scatter(const walk *w, const void *from, size_t bytes, int64_t n, void *to) {
    switch (bytes) {
    case 1:
        SCATTER(uint8_t);
        break;
    case 2:
        SCATTER(uint16_t);
        break;
    case 4:
        SCATTER(uint32_t);
        break;
    default:
        SCATTER(uint64_t);
        break;
    }
}

static void repeat(const void *value, size_t bytes, int64_t n, void *to) {
    switch (bytes) {
    case 1:
        memset(to, *(const uint8_t *)value, (size_t)n);
        break;
    case 4:
        for (int64_t i = 0; i < n; i++) ((uint32_t *)to)[i] = *(const uint32_t *)value;
        break;
    default:
        for (int64_t i = 0; i < n; i++) ((uint64_t *)to)[i] = *(const uint64_t *)value;
        break;
    }
}

/* ---- instructions ---- */

static size_t value_bytes(const kernel_instr *i) {
    return dtype_size(ctype_dtype(dtype_compute(i->dtype)));
}

static void *spare(const tile_lane *t, int which) {
    return t->scratch + t->layout->spare[which];
}

static void round_half(const tile_lane *t, dtype d, void *x, int64_t n) {
    if (d == DT_F16) t->loops->round_f16(x, n);
    if (d == DT_BF16) t->loops->round_bf16(x, n);
}

static tile_reg load(tile_lane *t, const kernel_instr *i, void *to, int64_t n) {
    const launch_access *a = &t->l->accesses[i->access];
    value_id v = t->k->accesses[i->access].value;
    walk w = walk_of(t, i->access);
    const char *from = t->buffers[v];
    bool half = dtype_is_half(i->dtype);
    const void *at = from + w.start * (int64_t)a->bytes;
    int step = a->shape != ACCESS_STILL;
    if (step && !neighbours(t, i->access, &w, n)) {
        void *packed = half ? spare(t, 0) : to;
        gather(&w, from, a->bytes, n, packed);
        at = packed;
    }
    if (!half) return (tile_reg){(void *)(uintptr_t)at, step};
    t->loops->cast[i->dtype][DT_F32](at, to, step ? n : 1);
    return (tile_reg){to, step};
}

static tile_reg index_of(tile_lane *t, const kernel_instr *i, int64_t *to, int64_t n) {
    walk walked = walk_of(t, i->access), *w = &walked;
    if (t->l->accesses[i->access].shape == ACCESS_STILL) {
        *to = w->start;
        return (tile_reg){to, 0};
    }
    EACH_RUN(w, n, for (int64_t j = 0; j < run; j++) to[done + j] = at + j * step);
    return (tile_reg){to, 1};
}

static tile_reg map(tile_lane *t, int number, void *to, int64_t n) {
    const kernel_instr *i = &t->k->code[number];
    const void *in[3] = {NULL, NULL, NULL};
    int step[3] = {0, 0, 0}, any = 0;
    for (int a = 0; a < i->nin; a++) {
        in[a] = t->regs[i->in[a]].data;
        any |= step[a] = t->regs[i->in[a]].step;
    }
    int64_t m = any || i->slot >= 0 ? n : 1;
    if (i->faults && i->phase == t->phase) {
        int64_t faults = op_faults[i->op][i->compute](in, step, any ? n : 1);
        if (faults) atomic_fetch_add_explicit(&t->l->faults[number], faults, memory_order_relaxed);
    }
    t->loops->elementwise[i->op][i->compute](in, step, to, m);
    if (dtype_is_half(i->dtype)) round_half(t, i->dtype, to, m);
    return (tile_reg){to, any || i->slot >= 0};
}

static tile_reg cast(tile_lane *t, const kernel_instr *i, void *to, int64_t n) {
    tile_reg in = t->regs[i->in[0]];
    int64_t m = in.step ? n : 1;
    dtype from = ctype_dtype(dtype_compute(i->from));
    if (dtype_is_half(i->dtype)) {
        t->loops->cast[from][i->dtype](in.data, spare(t, 0), m);
        t->loops->cast[i->dtype][DT_F32](spare(t, 0), to, m);
    } else
        t->loops->cast[from][i->dtype](in.data, to, m);
    if (in.step || i->slot < 0) return (tile_reg){to, in.step};
    repeat(to, value_bytes(i), n, to);
    return (tile_reg){to, 1};
}

static void store(tile_lane *t, const kernel_instr *i, int64_t n) {
    const launch_access *a = &t->l->accesses[i->access];
    tile_reg in = t->regs[i->in[0]];
    walk w = walk_of(t, i->access);
    char *buffer = t->buffers[t->k->accesses[i->access].value];
    void *at = buffer + w.start * (int64_t)a->bytes;
    if (in.data == at) return; /* computed in place */
    bool still = a->shape == ACCESS_STILL, near = !still && neighbours(t, i->access, &w, n);
    int64_t m = still ? 1 : n;
    if (!in.step && m > 1) {
        repeat(in.data, value_bytes(i), m, spare(t, 1));
        in.data = spare(t, 1);
    }
    if (dtype_is_half(i->dtype)) {
        void *to = still || near ? at : spare(t, 0);
        t->loops->cast[DT_F32][i->dtype](in.data, to, m);
        if (still || near) return;
        in.data = to;
    }
    if (still || near)
        memcpy(at, in.data, (size_t)m * a->bytes);
    else
        scatter(&w, in.data, a->bytes, m, buffer);
}

/* Adds the vector to the accumulators of reduction number `number`. */
static void accumulate(tile_lane *t, int number, int64_t n) {
    const kernel_instr *i = &t->k->code[number];
    const tile_layout *y = t->layout;
    const tile_reduce *r = &y->reduces[y->first_reduce[t->phase]];
    while (r->instr != number) r++;
    tile_reg in = t->regs[i->in[0]];
    ctype have = dtype_compute(i->from);
    if (have != i->compute) {
        t->loops->cast[ctype_dtype(have)][ctype_dtype(i->compute)](in.data, spare(t, 0), in.step ? n : 1);
        in.data = spare(t, 0);
    }
    if (!in.step && n > 1) {
        repeat(in.data, r->bytes, n, spare(t, 1));
        in.data = spare(t, 1);
    }
    char *acc = t->scratch + r->acc;
    if (t->l->along_inner)
        r->fns->lanes(acc, in.data, n);
    else
        r->fns->columns(acc + (size_t)(t->position % REDUCE_LANES) * (size_t)n * r->bytes, in.data, n);
}

/* Where instruction `number`, n-th of the list, puts its result. */
static void *target(tile_lane *t, const tile_list *list, int place, const kernel_instr *i, int64_t n) {
    if (i->slot >= 0) {
        int64_t at = t->l->along_inner ? t->position : t->position * t->layout->vector;
        char *base = t->l->split.by_blocks ? t->shared : t->scratch;
        return base + t->layout->slot[i->slot] + (size_t)at * value_bytes(i);
    }
    int direct = list->direct[place];
    if (direct >= 0) {
        const kernel_instr *s = &t->k->code[direct];
        const launch_access *a = &t->l->accesses[s->access];
        walk w = walk_of(t, s->access);
        bool vector = false;
        for (int k = 0; k < i->nin; k++) vector |= t->regs[i->in[k]].step != 0;
        if (vector && a->shape != ACCESS_STILL && neighbours(t, s->access, &w, n))
            return (char *)t->buffers[t->k->accesses[s->access].value] + w.start * (int64_t)a->bytes;
    }
    return t->scratch + list->at[place];
}

void tiles_execute(tile_lane *t, const tile_list *list, int64_t n) {
    for (int place = 0; place < list->count; place++) {
        int number = list->code[place];
        const kernel_instr *i = &t->k->code[number];
        if (i->code == K_STORE) {
            store(t, i, n);
            continue;
        }
        if (i->code == K_REDUCE) {
            accumulate(t, number, n);
            continue;
        }
        if (i->level == LEVEL_UNIFORM && t->regs[number].data) continue; /* once a task */
        void *to = target(t, list, place, i, n);
        tile_reg *reg = &t->regs[number];
        if (i->slot >= 0 && i->phase < t->phase) {
            *reg = (tile_reg){to, 1};
            continue;
        }
        switch (i->code) {
        case K_LOAD:
            *reg = load(t, i, to, n);
            break;
        case K_INDEX:
            *reg = index_of(t, i, to, n);
            break;
        case K_CONST:
            *reg = (tile_reg){(void *)(uintptr_t)&i->number, 0};
            break;
        case K_SIZE:
            *reg = (tile_reg){&t->l->sizes[number], 0};
            break;
        case K_MAP:
            *reg = map(t, number, to, n);
            break;
        default:
            *reg = cast(t, i, to, n);
            break;
        }
    }
}
