a = [[1, 2], [3, 4]]
b = [1, 2, 3]
a @ b
print("never reached")
