"""A gradient: how the path of a ball depends on gravity and on how it bounces."""

from pathlib import Path

import odes

examples = Path(__file__).parents[2] / "examples"
m = odes.Model(examples / "bounce" / "bounce.ode")
s = m.sens(of=["height", "path"], wrt=["g", "e"], g=(9.81, "m/s^2"))
for name, objective in s.items():
    print(name, objective.value, objective.unit, dict(objective.d), objective.trust)
