# activations.td — smooth and piecewise functions of one tensor, written so that they fuse into one kernel.

# 1 / (1 + e^-x), without overflow at either end
def sigmoid(x) {
    positive = x >= 0
    z = exp(where(positive, -x, x))
    where(positive, 1 / (1 + z), z / (1 + z))
}

# x * sigmoid(x)
def silu(x) = x * sigmoid(x)

# log(1 + e^x), without overflow, and with derivatives of every order: the shift is no part of them
def softplus(x) {
    shift = stop_grad(where(x < inf, maximum(x, 0), 0))
    shift + log(exp(-shift) + exp(x - shift))
}

# x where it is positive, slope * x elsewhere
def leaky_relu(x, slope=0.01) = where(x > 0, x, slope * x)

# x where it is positive, alpha * (e^x - 1) elsewhere
def elu(x, alpha=1.0) = where(x > 0, x, alpha * (exp(where(x > 0, 0, x)) - 1))

# x kept between low and high
def clip(x, low, high) = where((x >= low) & (x <= high), x, minimum(maximum(x, low), high))

# the Gaussian error linear unit; approx=tanh is the approximation by tanh
def gelu(x, approx=None) {
    if approx != tanh { error("gelu in its exact form needs erfc, which is not there yet: write gelu(x, approx=tanh)") }
    0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x ** 3)))
}
