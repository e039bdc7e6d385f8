"""Gradient descent with PyTorch: gravity and restitution that make a ball reach a height."""

from pathlib import Path

import torch

import odes
from odes.torch import torch_function

examples = Path(__file__).parents[2] / "examples"
height = torch_function(odes.Model(examples / "bounce" / "bounce.ode"), of="height", wrt=["g", "e"])
x = torch.tensor([9.81, 0.8], dtype=torch.float64, requires_grad=True)
optimizer = torch.optim.Adam([x], lr=0.01)
for _ in range(100):
    optimizer.zero_grad()
    loss = (height(x) - 0.85) ** 2
    loss.backward()
    optimizer.step()
print("g, e =", x.tolist(), "height =", height(x).item())
assert abs(height(x).item() - 0.85) < 1e-3
