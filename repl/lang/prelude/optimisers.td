# optimisers.td — optimisers are values: opt = sgd(lr=0.1); m, opt = opt.step(m, g).

# gradient descent: parameters minus lr times gradient
def sgd(lr=0.01) = {
    lr: lr,
    step: (m, g) -> (map((p, d) -> if d == None { p } else { p - lr * d }, m, g), sgd(lr=lr))
}
