"""Gradients of models made of ordinary differential equations, from a text file.

    >>> import odes
    >>> m = odes.Model("model.ode")
    >>> s = m.sens(k=0.3)
    >>> s["J"].value, s["J"].d["k"]

``odes.jax``, ``odes.torch``, ``odes.pytensor`` and ``odes.scipy`` make functions of a model for these libraries.
"""

from ._analysis import Analysis, Sample, Table
from ._ensemble import Comparison, Ensemble, Failure, Indices, MemberObjective, MemberOutput
from ._errors import (
    Diagnostic,
    Interrupted,
    ModelError,
    OdesError,
    OdesWarning,
    OutOfMemory,
    RequestError,
    RunError,
    ServerError,
    Trust,
    TrustWarning,
)
from ._fit import Compared, Estimate, Fit, Predictions, Start
from ._model import Model, Progress, Symbol, version
from ._results import Coincidence, Event, Objective, Output, Piece, Run, Sensitivities, Variable
from ._scipy import Objective as ScipyObjective
from ._scipy import scipy_objective
from ._server import shutdown

__all__ = [
    "Analysis",
    "Coincidence",
    "Compared",
    "Comparison",
    "Diagnostic",
    "Ensemble",
    "Estimate",
    "Event",
    "Failure",
    "Fit",
    "Indices",
    "Interrupted",
    "MemberObjective",
    "MemberOutput",
    "Model",
    "ModelError",
    "Objective",
    "OdesError",
    "OdesWarning",
    "OutOfMemory",
    "Output",
    "Piece",
    "Predictions",
    "Progress",
    "RequestError",
    "Run",
    "RunError",
    "ScipyObjective",
    "Sample",
    "Sensitivities",
    "ServerError",
    "Start",
    "Symbol",
    "Table",
    "Trust",
    "TrustWarning",
    "Variable",
    "scipy_objective",
    "shutdown",
    "version",
]
