# elementary.td — small functions made of others.

# true where x is not a number
def isnan(x) = x != x

# true where x is infinite
def isinf(x) = abs(x) == inf

# true where x is neither infinite nor NaN
def isfinite(x) = abs(x) < inf

# x[i] * y[j] of two vectors
def outer(x, y) = x[:, None] * y[None, :]

# sum of products of two vectors
def dot(x, y) = x @ y

# x @ w + b
def linear(x, w, b=0) = x @ w + b

# variance in two passes; ddof is subtracted from the number of elements
def var(x, axis=None, ddof=0, keep=false) {
    d = x - mean(x, axis=axis, keep=true)
    n = len(flatten(x)) / len(flatten(mean(x, axis=axis)))
    sum(d * d, axis=axis, keep=keep) / (n - ddof)
}
