# One training step of the digits lesson's network, eagerly: 64 -> 32 -> 10, batches of 32, SGD.
seed(0)
x = rand(32, 64); y = arange(32) % 10
m = {w1: 0.17 * randn(64, 32), b1: zeros(32), w2: 0.25 * randn(32, 10), b2: zeros(10)}
loss = (m, x, y) -> cross_entropy(relu(x @ m.w1 + m.b1) @ m.w2 + m.b2, y)
def step(m, x, y) {
    l, g = value_and_grad(loss)(m, x, y)
    {w1: m.w1 - 0.1 * g.w1, b1: m.b1 - 0.1 * g.b1, w2: m.w2 - 0.1 * g.w2, b2: m.b2 - 0.1 * g.b2}
}
run = step
t = time()
while time() - t < 1.0 { m = run(m, x, y) }
best = 1e9
for i in 0..9 {
    t = time()
    for k in 0..500 { m = run(m, x, y) }
    d = (time() - t) / 500
    if d < best { best = d }
}
print(best)
