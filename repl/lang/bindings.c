/* bindings.c — top-level names, statements as transactions, undo and redo.
 *
 * The first time that a statement changes a name, the name's old value goes to the journal. An error puts the
 * journal back; success makes it an undo step. Undoing a step swaps its values with the present ones, which
 * turns it into a redo step. The random stream (two tensors of the context) is part of each. */
#include <string.h>

#include "engine/base/memory.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/session_impl.h"

static void transaction_clear(transaction *t) {
    for (size_t i = 0; i < t->count; i++) value_release(t->changes[i].value);
    mem_free(t->changes);
    tensor_release(t->seed);
    tensor_release(t->counter);
    *t = (transaction){0};
}

status bindings_room(session *s, const symbol *name) {
    bindings *b = &s->env;
    if (name->index >= b->capacity) {
        size_t capacity = b->capacity ? b->capacity : 512;
        while (capacity <= name->index) capacity *= 2;
        binding *items = mem_realloc(b->items, capacity * sizeof *items);
        if (!items) return fail_memory(&s->c->err, capacity * sizeof *items);
        memset(items + b->capacity, 0, (capacity - b->capacity) * sizeof *items);
        b->items = items;
        b->capacity = capacity;
    }
    if (b->order_count == b->order_capacity) {
        size_t capacity = b->order_capacity ? 2 * b->order_capacity : 64;
        const symbol **order = mem_realloc(b->order, capacity * sizeof *order);
        if (!order) return fail_memory(&s->c->err, capacity * sizeof *order);
        b->order = order;
        b->order_capacity = capacity;
    }
    transaction *j = &b->journal;
    if (j->count == j->capacity) {
        size_t capacity = j->capacity ? 2 * j->capacity : 8;
        change *changes = mem_realloc(j->changes, capacity * sizeof *changes);
        if (!changes) return fail_memory(&s->c->err, capacity * sizeof *changes);
        j->changes = changes;
        j->capacity = capacity;
    }
    return STATUS_OK;
}

binding *bindings_at(session *s, const symbol *name) {
    return name->index < s->env.capacity ? &s->env.items[name->index] : NULL;
}

value *bindings_open(session *s, const symbol *name) {
    if (bindings_room(s, name)) return NULL;
    bindings *env = &s->env;
    binding *b = &env->items[name->index];
    if (env->running && b->stamp != env->stamp) {
        b->stamp = env->stamp;
        env->journal.changes[env->journal.count++] = (change){name, value_retain(b->user)};
    }
    if (!b->listed) {
        b->listed = true;
        env->order[env->order_count++] = name;
    }
    return &b->user;
}

status bindings_set(session *s, const symbol *name, value v) {
    value *place = bindings_open(s, name);
    if (!place) return s->c->err.code;
    value old = *place;
    *place = value_retain(v);
    value_release(old);
    return STATUS_OK;
}

void bindings_begin(session *s) {
    bindings *b = &s->env;
    b->stamp++;
    b->running = true;
    b->journal.seed = s->c->seed ? tensor_retain(s->c->seed) : NULL;
    b->journal.counter = s->c->counter ? tensor_retain(s->c->counter) : NULL;
}

/* Swaps what a transaction holds with what is there now. */
static void swap_in(session *s, transaction *t) {
    for (size_t i = t->count; i-- > 0;) {
        binding *b = &s->env.items[t->changes[i].name->index];
        value now = b->user;
        b->user = t->changes[i].value;
        t->changes[i].value = now;
    }
    tensor *seed = s->c->seed, *counter = s->c->counter;
    s->c->seed = t->seed;
    s->c->counter = t->counter;
    t->seed = seed;
    t->counter = counter;
}

void bindings_rollback(session *s) {
    s->env.running = false;
    swap_in(s, &s->env.journal);
    transaction_clear(&s->env.journal);
}

static void forget(transaction *list, size_t *count) {
    for (size_t i = 0; i < *count; i++) transaction_clear(&list[i]);
    *count = 0;
}

void bindings_commit(session *s) {
    bindings *b = &s->env;
    b->running = false;
    transaction *j = &b->journal;
    if (j->count == 0 && j->seed == s->c->seed && j->counter == s->c->counter) {
        tensor_release(j->seed);
        tensor_release(j->counter);
        j->seed = j->counter = NULL;
        return;
    }
    forget(b->undone, &b->undone_count);
    if (b->done_count == SESSION_UNDO) {
        transaction_clear(&b->done[0]);
        memmove(b->done, b->done + 1, (SESSION_UNDO - 1) * sizeof *b->done);
        b->done_count--;
    }
    b->done[b->done_count++] = *j;
    *j = (transaction){0};
}

static void add_names(const transaction *t, text *names) {
    if (!names) return;
    for (size_t i = 0; i < t->count; i++) {
        if (names->length) text_add(names, ", ");
        text_add(names, t->changes[i].name->text);
    }
}

static status step(session *s, transaction *from, size_t *from_count, transaction *to, size_t *to_count,
                   const char *what, text *names) {
    if (*from_count == 0) return fail(&s->c->err, STATUS_VALUE, E_NO_STEP, "there is nothing to %s", what);
    transaction *t = &from[*from_count - 1];
    add_names(t, names);
    swap_in(s, t);
    to[(*to_count)++] = *t;
    (*from_count)--;
    return STATUS_OK;
}

status session_undo(session *s, text *names) {
    bindings *b = &s->env;
    return step(s, b->done, &b->done_count, b->undone, &b->undone_count, "undo", names);
}

status session_redo(session *s, text *names) {
    bindings *b = &s->env;
    return step(s, b->undone, &b->undone_count, b->done, &b->done_count, "redo", names);
}

void session_forget(session *s) {
    forget(s->env.done, &s->env.done_count);
    forget(s->env.undone, &s->env.undone_count);
    for (int i = 0; i < SESSION_OUTPUTS; i++) value_drop(&s->outputs[i]);
}

void bindings_free(session *s) {
    bindings *b = &s->env;
    if (b->done) forget(b->done, &b->done_count);
    if (b->undone) forget(b->undone, &b->undone_count);
    transaction_clear(&b->journal);
    for (size_t i = 0; i < b->capacity; i++) {
        value_release(b->items[i].user);
        value_release(b->items[i].base);
    }
    mem_free(b->items);
    mem_free(b->order);
    mem_free(b->done);
    mem_free(b->undone);
    *b = (bindings){0};
}
