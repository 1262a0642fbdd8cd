# softmax.td — normalised exponentials and their logarithms. Every one subtracts the largest element first.

# e^x / sum(e^x) along an axis
def softmax(x, axis=-1) {
    z = exp(x - stop_grad(max(x, axis=axis, keep=true)))
    z / sum(z, axis=axis, keep=true)
}

# log(softmax(x)), accurate where the softmax is tiny
def log_softmax(x, axis=-1) {
    z = x - stop_grad(max(x, axis=axis, keep=true))
    z - log(sum(exp(z), axis=axis, keep=true))
}

# log(sum(e^x)); all -inf gives -inf with gradient 0
def logsumexp(x, axis=None, keep=false) {
    m = stop_grad(max(x, axis=axis, keep=true))
    shift = where(abs(m) < inf, m, 0)
    total = sum(exp(x - shift), axis=axis, keep=true)
    empty = total == 0
    r = where(empty, -inf, log(where(empty, 1, total)) + shift)
    if keep { r } else { sum(r, axis=axis) }
}
