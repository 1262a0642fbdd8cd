# Reading and writing files.
d = load("docs/lessons/digits.csv.gz")
d[0, :8]
load("docs/lessons/digits.csv.gz", dtype=u8).dtype
iris = load("docs/lessons/iris.csv")
save({name: ("a", "b, c"), x: [1.5, nan], n: [1, 2]}, "table.csv")
t = load("table.csv")
t.name
t.x
save(d[:3, :3] as i64, "part.npy.gz")
load("part.npy.gz")
save([[1.0, 0.1], [1e-7, 1e20]], "m.csv.gz")
load("m.csv.gz")
load("m.csv.gz", dtype=f64)
load("table.csv", header=false).c0
save([1] as bf16, "b.npy")
