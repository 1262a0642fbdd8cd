# Draws the README's picture, a training step of a two-layer network:  scripts/start docs/images/step.td

def loss(m, x, y) {
    h = relu(x @ m.w1 + m.b1)
    mse(h @ m.w2 + m.b2, y)
}

def step(m, x, y) {
    l, g = value_and_grad(loss)(m, x, y)
    new = map((p, d) -> p - 0.1 * d, m, g)
    (l, new)
}

m = {w1: randn(8, 16), b1: zeros(16), w2: randn(16, 1), b2: zeros(1)};
train = freeze(step);
train(m, randn(32, 8), randn(32, 1));
:graph train --out docs/images/step.svg
