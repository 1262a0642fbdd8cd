# How values are shown.
6
0.25
true
2.0 * 3
1 / 3
pi
1e300
"text with \"quotes\" and \u{e9}\n"
None
x = 3
y = [1.5, -2.0]
y
silent = 5;
[[1, 2], [3, 4]]
[[1, 2], [3, 4]].T / 3
[1.0, nan, inf]
[true, false]
zeros(0, 3)
arange(100) * 1000
arange(12).reshape(2, 3, 2)
arange(10000).reshape(100, 100)
(1, 2.5, "a", (None,))
{w: [1, 2], b: 0.5, "odd key": "v"}
l, g = value_and_grad(v -> sum(v * v))([1.0, 2.0])
g
def f(x, scale=2) = x * scale
f
grad(f)
v -> v + 1
freeze(f)
tape { z = y * 2 }
f32[?, 64]
0..10
print("plain", 1, 2.0, [1, 2], "text", (1, "a"))
print([[1.0, 2.0], [3.0, 4.0]])
x, y = 1, (2, 3)
[1, 2] as bf16
sum([0.1, 0.2] as f16)
