# Handwritten digits: a two-layer network, trained eagerly and then with a frozen training step.
#
# 1,797 images of 8 x 8 pixels (0 to 16), each with the digit that was written; see README.md here for where they come
# from. Run it with:  scripts/start docs/lessons/digits.td

d = load("docs/lessons/digits.csv.gz")
x = d[:, :64] / 16                          # f32[1797, 64], 0 to 1
y = d[:, 64] as i64                         # i64[1797], 0 to 9

# Every fifth image is kept for the test.
held = arange(1797) % 5 == 2;
x_test = x[held]; y_test = y[held];
x_train = x[~held]; y_train = y[~held];
print("training on", len(x_train), "images, testing on", len(x_test))

# The network is a record of arrays, and a function of it.
seed(42)
start = {w1: 0.2 * randn(64, 64), b1: zeros(64), w2: 0.2 * randn(64, 10), b2: zeros(10)};
def logits(m, x) = relu(x @ m.w1 + m.b1) @ m.w2 + m.b2
def loss(m, x, y) = cross_entropy(logits(m, x), y)
def accuracy(m, x, y) = mean(argmax(logits(m, x), axis=1) == y)

# One step of gradient descent gives a new record.
def step(m, x, y) {
    l, g = value_and_grad(loss)(m, x, y)
    r = 0.5
    (l, {w1: m.w1 - r * g.w1, b1: m.b1 - r * g.b1, w2: m.w2 - r * g.w2, b2: m.b2 - r * g.b2})
}

# An epoch goes over the images in batches of 32 with any function that steps.
batches = len(x_train) // 32;
def epoch(step, m) {
    total = 0.0
    for i in 0..batches {
        rows = i * 32
        l, m = step(m, x_train[rows:rows + 32], y_train[rows:rows + 32])
        total = total + l
    }
    (total / batches, m)
}

# Eagerly: every operation runs at once.
m = start;
t = time();
for e in 0..5 { l, m = epoch(step, m); print("eager   epoch", e, " loss", l) }
eager = (time() - t) / 5;

# Frozen: forward, backward and update are one graph of fused kernels. It means the same, bit for bit.
frozen_step = freeze(step);
l, again = epoch(frozen_step, start);       # the first run traces and compiles
for e in 1..5 { l, again = epoch(frozen_step, again) }
assert(all(again.w1 == m.w1) and all(again.w2 == m.w2), "frozen and eager training differ")
print("after 5 epochs the frozen weights are the eager ones, bit for bit")

t = time();
for e in 5..40 { l, m = epoch(frozen_step, m); if e % 5 == 4 { print("frozen  epoch", e, " loss", l) } }
frozen = (time() - t) / 35;

def in_parts(v, n) = n * v // 1 / n         # v cut to multiples of 1 / n, for people
print("one epoch: eager", in_parts(1000 * eager, 100), "ms, frozen", in_parts(1000 * frozen, 100), "ms")
print("the frozen step is", in_parts(eager / frozen, 100), "times as fast")
print("test accuracy", in_parts(accuracy(m, x_test, y_test), 100))
