6
1 / 3
[[1, 2], [3, 4]].T
[1.5, nan, inf, -inf, -0.0]
[true]
x = 5
"a \"string\"\n"
(1, "a", None)
{w: [1.0], "odd key": 0..3}
v -> v
print("print stays text")
[0.1] as f16
:vars
