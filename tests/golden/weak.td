# Weakness of scalars: where it lasts and where it ends.
expand(2.5, (3,)).dtype
expand(2, (3,)).dtype
reshape(7, (1, 1)).dtype
(1 / 3).dtype
([1.5] as f16) * 2.5
x = 0.1 + 0.2
x * ([1] as f64)
[1, 2] * 2.5
([100] as u8) + 200
([1] as u8) + 300
