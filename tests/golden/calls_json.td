add = (a, b) -> a + b
sum = 1
count = n -> if n == 0 { add([1, 2], [1, 2, 3]) } else { count(n - 1) }
count(5)
