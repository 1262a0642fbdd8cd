/* names.c — what a name means where it stands, and what to say when it means nothing.
 *
 * A name is looked for among the locals of the running function, what it captured, the function itself when
 * it was made in another one, the top level's names, then the language's own. Text of the prelude skips the
 * top level's names, so that nobody can break it by rebinding one. */
#include <string.h>

#include "engine/base/distance.h"
#include "repl/lang/eval.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/freeze_impl.h"

static const value *find_local(const local *list, size_t count, uint64_t hash) {
    for (size_t i = 0; i < count; i++)
        if (list[i].hash == hash) return &list[i].value;
    return NULL;
}

static const value *in_frame(session *s, uint64_t hash) {
    const frame *f = s->frame;
    if (!f) return NULL;
    const value *v = find_local(f->locals, f->count, hash);
    if (v) return v;
    v = find_local(f->function->capture, f->function->captured, hash);
    if (v) return s->freezing ? freezing_captured(s, v) : v;
    const symbol *own = f->function->proto->name;
    return own && f->function->nested && own->hash == hash ? &f->self : NULL;
}

const value *lookup(session *s, uint64_t hash) {
    const value *v = in_frame(s, hash);
    if (v) return v;
    const symbol *name = symbol_find(&s->symbols, hash);
    if (!name || name->index >= s->env.capacity) return NULL;
    binding *b = &s->env.items[name->index];
    if (!s->in_prelude && s->freezing) {
        v = freezing_read(s, name);
        if (v || s->c->err.code) return v;
        b = &s->env.items[name->index];
    } else if (!s->in_prelude) {
        if (b->user.kind != VALUE_ABSENT) return &b->user;
        if (name == s->known.underscore) return session_output(s, s->output_count);
    }
    return b->base.kind != VALUE_ABSENT ? &b->base : NULL;
}

/* The known name nearest to `name`, or NULL. */
static const symbol *nearest(session *s, const char *name, size_t length) {
    int most = name_slips(length), best = most + 1;
    const symbol *found = NULL;
    for (uint32_t i = 0; i < s->symbols.count && i < s->env.capacity; i++) {
        const symbol *other = s->symbols.items[i];
        const binding *b = &s->env.items[other->index];
        if (b->user.kind == VALUE_ABSENT && b->base.kind == VALUE_ABSENT) continue;
        int d = name_distance(name, length, other->text, other->length, most);
        if (d > 0 && d < best) {
            best = d;
            found = other;
        }
    }
    for (const frame *f = s->frame; f; f = NULL)
        for (size_t i = 0; i < f->count; i++) {
            int d = name_distance(name, length, f->locals[i].name->text, f->locals[i].name->length, most);
            if (d > 0 && d <= best && d <= most) {
                best = d;
                found = f->locals[i].name;
            }
        }
    return length > 1 ? found : NULL;
}

/* Names of NumPy, PyTorch, Python and mathematics that have another spelling here. */
static const struct foreign {
    const char *name, *hint;
} foreign_names[] = {
    {"np", "there are no modules: write sum(x) or x.sum() for np.sum(x)"},
    {"numpy",
     "there are no modules: write sum(x) for numpy.sum(x); save(x, \"x.npy\") writes a file for NumPy"},
    {"torch", "there are no modules: write tanh(x) or x.tanh() for torch.tanh(x)"},
    {"jnp", "there are no modules: write sum(x) or x.sum() for jnp.sum(x)"},
    {"jax", "grad, value_and_grad, vjp and jvp are functions here; freeze(f) is jit"},
    {"F", "there are no modules: write relu(x) for F.relu(x)"},
    {"nn", "there are no modules: write relu(x) for nn.relu(x)"},
    {"tf", "there are no modules: write tanh(x) for tf.tanh(x)"},
    {"math", "there are no modules: write sqrt(x), pi"},
    {"jit", "freeze(f) makes a fast graph of a function"},
    {"compile", "freeze(f) makes a fast graph of a function"},
    {"range", "write 0..n for range(n), or arange(n) for a tensor"},
    {"array", "write [1, 2, 3]: brackets build a tensor"},
    {"tensor", "write [1, 2, 3]: brackets build a tensor"},
    {"Tensor", "write [1, 2, 3]: brackets build a tensor"},
    {"asarray", "write [1, 2, 3]: brackets build a tensor"},
    {"mm", "write x @ y"},
    {"bmm", "write x @ y: leading axes are batched"},
    {"einsum", "einsum is not there yet: write it with @, transpose and sum"},
    {"cat", "write concat((a, b), axis=0)"},
    {"concatenate", "write concat((a, b), axis=0)"},
    {"vstack", "write concat((a, b), axis=0)"},
    {"hstack", "write concat((a, b), axis=1)"},
    {"view", "write reshape"},
    {"ravel", "write flatten(x)"},
    {"swapaxes", "write transpose(x, axes): the axes in their new order"},
    {"moveaxis", "write transpose(x, axes): the axes in their new order"},
    {"expand_dims", "write x[:, None] or unsqueeze(x, axis)"},
    {"broadcast_to", "write expand(x, sizes)"},
    {"astype", "write x as f32"},
    {"item", "a tensor of rank 0 is a number: leave .item() out; x[0] picks an element"},
    {"detach", "write stop_grad(x)"},
    {"backward", "write grad(f)(x), or t = tape { .. } and t.grad(y, x)"},
    {"requires_grad_", "gradients need no flag: write grad(f)(x)"},
    {"clone", "values never change: a copy is not needed"},
    {"copy", "values never change: a copy is not needed"},
    {"size", "write x.shape, or len(x) for the first size"},
    {"ndim", "write len(x.shape)"},
    {"dim", "write len(x.shape)"},
    {"numel", "write prod of x.shape, or len(flatten(x))"},
    {"float", "write x as f32"},
    {"double", "write x as f64"},
    {"half", "write x as f16"},
    {"int", "write x as i64"},
    {"long", "write x as i64"},
    {"bool", "write x != 0, or x as bool"},
    {"float32", "the dtype is called f32"},
    {"float64", "the dtype is called f64"},
    {"float16", "the dtype is called f16"},
    {"bfloat16", "the dtype is called bf16"},
    {"int64", "the dtype is called i64"},
    {"int32", "the dtype is called i32"},
    {"int8", "the dtype is called i8"},
    {"uint8", "the dtype is called u8"},
    {"clamp", "write clip(x, low, high)"},
    {"absolute", "write abs(x)"},
    {"power", "write x ** y"},
    {"amax", "write max(x, axis=..)"},
    {"amin", "write min(x, axis=..)"},
    {"average", "write mean(x)"},
    {"manual_seed", "write seed(42)"},
    {"end", "an index from the end is negative: x[-1], x[1:]; blocks stand in braces"},
    {"begin", "blocks stand in braces: { .. }; the first element is x[0]"},
    {"type", "a value shows what it is when it is echoed; x.dtype is the dtype of a tensor"},
    {"typeof", "a value shows what it is when it is echoed; x.dtype is the dtype of a tensor"},
    {"isinstance", "parameters say what they take: def f(x: f32[n]) = ..; x.dtype tells a tensor's dtype"},
    {"str", "print(x) shows a value; strings are not made of numbers"},
    {"string", "print(x) shows a value; strings are not made of numbers"},
    {"format", "print(\"x is\", x) shows values; numbers have as many digits as they need"},
    {"println", "write print(x)"},
    {"disp", "write print(x), or x alone"},
    {"fill", "write full(x.shape, 1.0)"},
    {"fill_", "write full(x.shape, 1.0)"},
    {"append", "values don't grow: concat((a, b)) joins tensors"},
    {"push", "values don't grow: concat((a, b)) joins tensors"},
    {"list", "write (a, b) for a tuple, [1, 2] for a tensor"},
    {"dict", "write a record: {w: 1, b: 2}"},
    {"tuple", "write (a, b)"},
    {"enumerate", "write for i in 0..len(x) { .. x[i] .. }"},
    {"zip", "write for i in 0..len(x) { .. x[i], y[i] .. }"},
    {"input", "a program's arguments are the tuple args"},
    {"open", "load(FILE) reads data, save(x, FILE) writes it"},
    {"random", "write rand(2, 3), randn(2, 3)"},
    {"to", "write x as f32 for another dtype"},
    {"tolist", "a tensor shows its elements as it is; save(x, FILE) writes them"},
    {"nonzero", "write a[mask] for the elements where a mask holds"},
    {"zeros_like", "write zeros(x.shape)"},
    {"ones_like", "write ones(x.shape)"},
    {"no_grad", "only grad, vjp, jvp and tape differentiate: nothing needs switching off"},
    {"exit", ":quit leaves; so does Ctrl-D"},
    {"quit", ":quit leaves; so does Ctrl-D"},
    {"help", ":help lists commands and topics; :help NAME, or ?NAME, explains one"},
    {"dir", ":vars lists the names that are bound, :help functions the functions"},
    {"gpu0", "this version computes on the CPU only"},
    {"cuda", "this version computes on the CPU only"},
};

static const char *foreign_hint(const char *name) {
    for (size_t i = 0; i < sizeof foreign_names / sizeof *foreign_names; i++)
        if (strcmp(foreign_names[i].name, name) == 0) return foreign_names[i].hint;
    return NULL;
}

static void suggest(session *s, const ast_node *n) {
    error *e = &s->c->err;
    const char *hint = foreign_hint(n->text);
    const symbol *near = hint ? NULL : nearest(s, n->text, n->length);
    if (hint)
        fail_hint(e, "%s", hint);
    else if (near)
        fail_hint(e, "did you mean %s?", near->text);
}

status unknown_name(session *s, const ast_node *n) {
    status st = fail(&s->c->err, STATUS_NAME, E_UNKNOWN_NAME, "%s is not known here", n->text);
    suggest(s, n);
    return error_at(s, n->where, st);
}

/* Fields that other systems have, or that are called otherwise, by the kind of value. */
static const char *field_hint(value v, const char *name) {
    bool asks = strcmp(name, "grad") == 0 || strcmp(name, "requires_grad") == 0;
    if (v.kind == VALUE_TAPE) return "a tape is asked for the gradient of y by x: t.grad(y, x)";
    if (v.kind != VALUE_TENSOR || !asks) return NULL;
    return dtype_is_float(v.tensor->meta.dtype)
               ? "gradients belong to functions and tapes: grad(f)(x), or t = tape { y = .. } and t.grad(y, "
                 "x)"
               : "gradients belong to functions, and are by floats: grad(f)(x as f32)";
}

/* Can v be the first argument of f, as far as its kind tells? Functions are taken by few. */
static bool takes(value f, value v) {
    return !value_callable(v) || (f.kind == VALUE_BUILTIN && strncmp(f.builtin->signature, "f,", 2) == 0) ||
           (f.kind == VALUE_BUILTIN && strcmp(f.builtin->signature, "f") == 0) || f.kind == VALUE_FUNCTION;
}

status unknown_field(session *s, value v, const ast_node *n, bool called) {
    char buffer[120];
    error *e = &s->c->err;
    status st = fail(e, STATUS_NAME, E_UNKNOWN_FIELD, "%s has no %s %s",
                     value_describe(v, buffer, sizeof buffer), called ? "method" : "field", n->text);
    const value *f = called ? NULL : lookup(s, n->hash);
    const char *hint = field_hint(v, n->text);
    if (hint) {
        fail_hint(e, "%s", hint);
    } else if (f && value_callable(*f) && takes(*f, v)) {
        fail_hint(e, "%s is a function: write .%s()", n->text, n->text);
    } else if (v.kind == VALUE_RECORD && v.record->count) {
        text names = {0};
        for (size_t i = 0; i < v.record->count && i < 20; i++)
            text_printf(&names, "%s%s", i ? ", " : "", v.record->entry[i].key->text);
        fail_hint(e, "its fields are %s", text_str(&names));
        text_free(&names);
    } else {
        suggest(s, n);
    }
    return error_at(s, n->sign, st);
}
