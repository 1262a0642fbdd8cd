# tanh-GELU of 2^24 values, eagerly.
x = (arange(16777216) % 2001 - 1000) as f32 / 250
gelu_tanh = v -> 0.5 * v * (1.0 + tanh(0.7978845608 * (v + 0.044715 * v * v * v)))
g = gelu_tanh
y = g(x)
t = time()

best = 1e9
for i in 0..5 { t = time(); g(x); d = time() - t; if d < best { best = d } }
print(best)
