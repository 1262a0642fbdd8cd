# calculus.td — derivatives made of grad and jvp.

# Hessian times v, without the Hessian
def hvp(f, x, v) = jvp(grad(f), x, v)[1]

# largest error of grad(f)(x) against central differences in f64, relative to 1 + its size
def check_grad(f, x, eps=1e-4) {
    at = x as f64
    exact = flatten(grad(f)(at))
    flat = flatten(at)
    worst = 0.0
    for i in 0..len(flat) {
        up = flat
        up[i] += eps
        down = flat
        down[i] -= eps
        slope = (f(reshape(up, at.shape)) - f(reshape(down, at.shape))) / (2 * eps)
        worst = maximum(worst, abs(exact[i] - slope) / (1 + abs(exact[i])))
    }
    worst
}
