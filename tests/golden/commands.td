:vars
x = [1, 2, 3]
def f(a) = a + 1
r = {w: x, n: "text"}
:vars
:vars --json
x = 5
:undo
x
:redo
x
?tanh
:help sum
:help :undo
:help shapes
:help f
:explain E606
:run /no_such_file.td
