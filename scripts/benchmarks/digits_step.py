"""One training step of the digits lesson's network in PyTorch's eager mode: 64 -> 32 -> 10, batches of 32, SGD."""
import time

import torch
import torch.nn.functional as F

STEPS, TRIES = 500, 9
torch.manual_seed(0)
x, y = torch.rand(32, 64), torch.randint(0, 10, (32,))
w1 = (torch.randn(64, 32) * 0.17).requires_grad_()
b1 = torch.zeros(32, requires_grad=True)
w2 = (torch.randn(32, 10) * 0.25).requires_grad_()
b2 = torch.zeros(10, requires_grad=True)
parameters = [w1, b1, w2, b2]


def step():
    loss = F.cross_entropy(torch.relu(x @ w1 + b1) @ w2 + b2, y)
    gradients = torch.autograd.grad(loss, parameters)
    with torch.no_grad():
        for p, g in zip(parameters, gradients):
            p -= 0.1 * g
    return loss


for _ in range(STEPS):
    step()
best = float("inf")
for _ in range(TRIES):
    begin = time.perf_counter()
    for _ in range(STEPS):
        step()
    best = min(best, (time.perf_counter() - begin) / STEPS)
print(f"{best:.3e}")
