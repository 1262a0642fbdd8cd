/* value_impl.h — how the kinds of values take part in freeing; everybody else uses value.h.
 *
 * An object whose last reference goes is put on a list; freeing it may put others on the list. So nothing
 * recurses, however long a chain of values is. */
#ifndef TD_LANG_VALUE_IMPL_H
#define TD_LANG_VALUE_IMPL_H

#include "repl/lang/value.h"

/* Gives back a reference; an object that nobody holds any more joins *dead. */
void value_unref(value v, object **dead);

/* One per kind with an object of its own: gives back what `o` holds, and its memory. */
void function_destroy(object *o, object **dead);
void derived_destroy(object *o, object **dead);
void pullback_destroy(object *o, object **dead);
void tape_destroy(object *o, object **dead);
void frozen_destroy(object *o, object **dead);

/* A zeroed object of `bytes` bytes with one reference, NULL with the error set. */
void *object_new(error *e, value_kind kind, size_t bytes);

#endif
