# tanh-GELU of 2^24 values, frozen; the kernel is compiled before the clock starts.
x = (arange(16777216) % 2001 - 1000) as f32 / 250
gelu_tanh = v -> 0.5 * v * (1.0 + tanh(0.7978845608 * (v + 0.044715 * v * v * v)))
g = freeze(gelu_tanh)
y = g(x)
t = time()
while time() - t < 1.0 { g(x) }
best = 1e9
for i in 0..9 { t = time(); g(x); d = time() - t; if d < best { best = d } }
print(best)
