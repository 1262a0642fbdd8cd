# losses.td — what training minimises: means over everything that is compared.

# mean of squared differences
def mse(y, target) = mean((y - target) ** 2)

# mean of absolute differences
def mae(y, target) = mean(abs(y - target))

# classes on the last axis of logits; integer targets, or probabilities of logits' shape; the mean
def cross_entropy(logits, target) {
    m = stop_grad(max(logits, axis=-1, keep=true))
    z = logits - m
    total = log(sum(exp(z), axis=-1, keep=true))
    if target.dtype == i64 or target.dtype == i32 or target.dtype == i8 or target.dtype == u8 {
        if target.shape != logits.shape[:-1] { error("cross_entropy: integer targets have the shape of logits without the last axis") }
        mean(total - (gather(logits, target[..., None], axis=-1) - m))
    } else {
        if target.shape != logits.shape { error("cross_entropy: probability targets have the shape of logits; class numbers are integers: target as i64") }
        mean(sum(where(target == 0, 0, target * (total - z)), axis=-1))
    }
}

# mean over elements; targets in 0..1, logits before the sigmoid
def binary_cross_entropy(logits, target) = mean(softplus(logits) - logits * target)

# squared near 0, linear beyond delta
def huber(y, target, delta=1.0) {
    d = y - target
    mean(where(abs(d) <= delta, 0.5 * d ** 2, delta * (abs(d) - 0.5 * delta)))
}
