x = 3;
assert(x < 5, "this holds")
assert(x > 5, "x is too small")
