def loss(w, x) {
    h = x @ w
    sum(h ** 2)
}
def train(w, x, steps) {
    for i in 0..steps {
        w = w - 0.1 * grad(loss)(w, x)
        if i == 2 { x = x[:, 1:] }
    }
    w
}
train(ones(3, 2), ones(4, 3), 2).shape
train(ones(3, 2), ones(4, 3), 9)
