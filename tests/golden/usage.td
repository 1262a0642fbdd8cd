1 + 1
:nonsense
