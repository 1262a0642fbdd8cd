/* host_tensor.c — tensors with a host array's contents in every kind of layout, and back. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/host.h"

/* Strides, offset and storage size, in elements, of shape s laid out as l. */
static int64_t lay_out(const shape *s, layout l, int64_t stride[MAX_RANK], int64_t *offset) {
    int64_t n = 1;
    int last = s->rank - 1;
    *offset = 0;
    if (l == LAYOUT_TRANSPOSED) {
        for (int i = 0; i < s->rank; i++) {
            stride[i] = n;
            n *= s->size[i];
        }
        return n;
    }
    int64_t gap = l == LAYOUT_ROWS && s->rank > 1 ? 3 : 0;
    for (int i = last; i >= 0; i--) {
        stride[i] = n;
        n *= s->size[i];
        if (i == last) n += gap;
    }
    if (l == LAYOUT_REVERSED && s->rank && n) {
        *offset = s->size[last] - 1;
        stride[last] = -1;
    }
    if (l == LAYOUT_SPACED) {
        for (int i = 0; i < s->rank; i++) stride[i] *= 2;
        *offset = 2;
        n = 2 * n + 2;
    }
    if (l == LAYOUT_ROWS) *offset = s->rank > 1 && n ? 1 : 0;
    return n + 2;
}

/* Copies elements, element by element, between row-major memory and a strided view's memory. */
static void copy(const shape *s, size_t size, char *dense, char *view, const int64_t *stride, bool to_view) {
    int64_t count = shape_elements(s), index[MAX_RANK] = {0};
    for (int64_t i = 0; i < count; i++) {
        int64_t at = 0;
        for (int a = 0; a < s->rank; a++) at += index[a] * stride[a];
        char *d = dense + i * (int64_t)size, *v = view + at * (int64_t)size;
        memcpy(to_view ? v : d, to_view ? d : v, size);
        for (int a = s->rank - 1; a >= 0; a--) {
            if (++index[a] < s->size[a]) break;
            index[a] = 0;
        }
    }
}

tensor *host_tensor(context *c, const host *h, layout l) {
    int64_t stride[MAX_RANK] = {0}, offset;
    shape s = h->shape;
    if (l == LAYOUT_EXPANDED && !(h->repeats && s.rank && s.size[0] > 0)) l = LAYOUT_PLAIN;
    if (l == LAYOUT_EXPANDED) s.size[0] = 1;
    int64_t n = lay_out(&s, l, stride, &offset);
    tensor *base = tensor_new(c, h->dtype, &(shape){.rank = 1, .size = {n}});
    if (!base) return NULL;
    memset(tensor_data(base), 0x5a & (h->dtype == DT_BOOL ? 1 : 0xff), (size_t)n * dtype_size(h->dtype));
    size_t size = dtype_size(h->dtype);
    copy(&s, size, h->data, (char *)tensor_data(base) + offset * (int64_t)size, stride, true);
    if (l == LAYOUT_EXPANDED) stride[0] = 0;
    tensor *view = tensor_view(base, &h->shape, stride, offset);
    tensor_release(base);
    if (view) view->meta.weak = h->weak;
    return view;
}

host host_read(arena *m, const tensor *t) {
    host h = host_new(m, t->meta.dtype, &t->meta.shape);
    h.weak = t->meta.weak;
    if (h.count) copy(&h.shape, dtype_size(h.dtype), h.data, tensor_data(t), t->stride, false);
    return h;
}
