/* engine.h — the engine for its users: the profiler, the viewers, the prompt, and other C programs.
 *
 * context_new, then tensors (core/tensor.h), ops on them (ops/apply.h), gradients (autograd/tape.h), and
 * frozen graphs (graph/trace.h, graph/passes.h, runtime/program.h). Everything returns a status or NULL; the
 * reason is in context.err until error_clear. Reference counts: what a function returns belongs to the
 * caller, what it takes it borrows. */
#ifndef TD_ENGINE_H
#define TD_ENGINE_H

#include "engine/autograd/tape.h"
#include "engine/base/clock.h"
#include "engine/base/event.h"
#include "engine/base/map.h"
#include "engine/base/memory.h"
#include "engine/base/replace.h"
#include "engine/base/text.h"
#include "engine/base/unicode.h"
#include "engine/core/context.h"
#include "engine/core/dtype.h"
#include "engine/core/scope.h"
#include "engine/core/shape.h"
#include "engine/core/tensor.h"
#include "engine/graph/graph.h"
#include "engine/graph/passes.h"
#include "engine/graph/trace.h"
#include "engine/ops/apply.h"
#include "engine/ops/attrs.h"
#include "engine/ops/op.h"
#include "engine/runtime/program.h"

#endif
