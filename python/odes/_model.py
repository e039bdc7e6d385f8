"""Models, and what is asked of them."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _server
from ._analysis import Analysis, Sample
from ._ensemble import Ensemble
from ._errors import Diagnostic, ModelError, OdesWarning, TrustWarning, diagnostic
from ._fit import Fit, Predictions
from ._results import Array, Layout, Number, Run, Sensitivities, _table, elements, text_table

#: What a param can be set to: numbers, or numbers and their unit: ``(1.62, "m/s^2")``.
Value = Union[npt.ArrayLike, tuple[npt.ArrayLike, str]]
#: Names of objectives or of variables; one name stands for a list with it.
Names = Union[str, Sequence[str], None]
#: Keys of settings blocks: ``{"solver.rtol": 1e-9, "sens.mode": "tangent"}``.
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    #: "forward", "adjoint", "second", "experiments" or "check"; "searches" or "profiles" of a fit; "runs" of an
    #: ensemble
    phase: str
    t: float  #: in the model's unit of time; of a fit, the best value of the objective so far
    steps: int  #: or searches, or members, that are done
    done: float  #: fraction of the phase


@dataclass(frozen=True)
class Symbol:
    """A name that a model declares."""

    kind: str  #: "time", "param", "state", "discrete", "output", "objective" or "event"
    name: str
    doc: str
    unit: str  #: "" when unknown or dimensionless
    shape: tuple[int, ...]
    value: Optional[Number] = None  #: of a param, in its shape
    low: float = -np.inf  #: bounds of a param
    high: float = np.inf


@dataclass(frozen=True)
class _Job:
    """What the process keeps ready."""

    server: _server.Server
    again: bytes  # head of a request
    layout: Layout


_TRUST = frozenset({"trust", "accuracy"})
_MOST_JOBS = 256


class Model:
    """A model, compiled from a file or a text.

    Args:
        source: the path of a file; or the text of a model, which is told by its line ends. A ``pathlib.Path`` is
            always a path.
        folder: where ``load``, ``csv`` and ``import`` find files; that of the file unless given. A text without a
            folder has none.
        name: what messages call the text.
        experiment: the name of an experiment, for the model of this experiment alone.
        doses: another regimen for the experiment, or for a model without experiments: the path of a table with TIME,
            AMT and others, or its columns, ``{"TIME": [0, 12], "AMT": [100, 50]}``. A pandas.DataFrame will do. Its
            doses take the place of those in the model's table; measurements stay.

    The text is read once. Files that it names are read again if the process that computes had to be started anew.
    A model can be used by many threads at once, can be pickled, and works in forked processes.

    Raises:
        ModelError: the text is wrong; the error says where.
        OSError: the file cannot be read.
    """

    def __init__(
        self,
        source: Union[str, os.PathLike[str]],
        *,
        folder: Union[str, os.PathLike[str], None] = None,
        name: Optional[str] = None,
        experiment: Optional[str] = None,
        doses: Union[str, os.PathLike[str], Mapping[str, npt.ArrayLike], None] = None,
    ) -> None:
        if isinstance(source, str) and ("\n" in source or not source.strip()):
            text, called = source, "model.ode"
        else:
            path = Path(source)
            text, called = path.read_bytes().decode("utf-8", "replace"), str(path)
            folder = path.parent if folder is None else folder
        place = "" if folder is None else os.path.abspath(folder)
        self._load(text, name or called, place, experiment or "", None if doses is None else _regimen(doses), 3)

    def _load(
        self, text: str, name: str, folder: str, experiment: str, doses: Optional[tuple[str, str]], level: int
    ) -> None:
        self._source = (text, name, folder, experiment, doses)
        request: dict[str, Any] = {"op": "open", "text": text, "name": name, "experiment": experiment}
        if folder:
            request["folder"] = folder
        if doses is not None:
            request["doses"] = dict(zip(("name", "text"), doses))
        self._open_request = json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")
        self._opened: Optional[tuple[_server.Server, int]] = None
        self._jobs: dict[Any, _Job] = {}
        server = _server.current()
        reply = server.call(self._open_request)
        self._opened = server, reply.head["model"]
        self._describe(reply)
        _warn(self.warnings, {}, level + 1)

    def __reduce__(self) -> Any:
        return _restore, self._source

    def _describe(self, reply: _server.Reply) -> None:
        h = reply.head
        self.name: str = h["name"]  #: what it is called
        self.title: str = h["title"]  #: what it says of itself
        self.time: str = h["time"]  #: name of the time
        self.time_unit: str = h["time_unit"]  #: "" when unknown or dimensionless
        self.experiments: list[str] = h["experiments"]  #: names of the experiments
        #: Warnings and notes of the compiler.
        self.warnings: list[Diagnostic] = [diagnostic(d) for d in h["warnings"]]
        #: All names that the model declares.
        self.symbols: dict[str, Symbol] = {}
        values, bounds = reply.arrays["params"], reply.arrays["bounds"]
        at = count = 0
        for s in h["symbols"]:
            shape = tuple(s["shape"])
            x = Symbol(s["kind"], s["name"], s.get("doc", ""), s.get("unit", ""), shape)
            if x.kind == "param":
                n = int(np.prod(shape, dtype=int))
                part = values[at : at + n].reshape(shape)
                value = float(part) if part.ndim == 0 else part
                low, high = bounds[count].tolist()
                x = Symbol(x.kind, x.name, x.doc, x.unit, shape, value, low, high)
                at, count = at + n, count + 1
            self.symbols.setdefault(x.name, x)

    def _of_kind(self, kind: str) -> dict[str, Symbol]:
        return {s.name: s for s in self.symbols.values() if s.kind == kind}

    @property
    def text(self) -> str:
        """The text of the model."""
        return self._source[0]

    @property
    def params(self) -> dict[str, Symbol]:
        """The params, with their values in the text, units and bounds."""
        return self._of_kind("param")

    @property
    def states(self) -> dict[str, Symbol]:
        """The states."""
        return self._of_kind("state")

    @property
    def outputs(self) -> dict[str, Symbol]:
        """The outputs."""
        return self._of_kind("output")

    @property
    def objectives(self) -> dict[str, Symbol]:
        """The objectives."""
        return self._of_kind("objective")

    @property
    def events(self) -> dict[str, Symbol]:
        """The events."""
        return self._of_kind("event")

    def sens(
        self,
        *,
        of: Names = None,
        wrt: Names = None,
        set: Optional[Mapping[str, Value]] = None,
        settings: Optional[Settings] = None,
        trust: Optional[bool] = None,
        event_times: bool = False,
        progress: Optional[Callable[[Progress], None]] = None,
        **params: Value,
    ) -> Sensitivities:
        """Solve the model and differentiate its objectives.

        Args:
            of: objectives ("J", "y[3]"); what the sens block says unless given.
            wrt: variables ("k", "A", "initial(x)"); what the sens block says unless given.
            set: values by name, for names that are no words of Python ("initial(x)", "A[1,2]").
            settings: keys of the settings blocks: ``{"solver.rtol": 1e-9}``.
            trust: whether to compare the result with that of an independent run, which takes about as long again.
                What the sens block says unless given, where the default is to compare.
            event_times: whether to differentiate the times of events.
            progress: called now and then, by the thread that waits.
            **params: values of params, in their units: a number, an array of the param's shape, or
                ``(number, "unit")``. A number fills an array.

        Raises:
            RequestError: there is no such name, or a value or a setting does not fit.
            RunError: the run failed; the error says where and at which time.
            OutOfMemory, ServerError: see there.

        Warns:
            TrustWarning: some numbers are not to be relied on.
            OdesWarning: anything else that the run warns of.
        """
        return self._sens(of, wrt, set, settings, trust, event_times, progress, params, None, {})

    def hessian(
        self,
        *,
        of: Names = None,
        wrt: Names = None,
        set: Optional[Mapping[str, Value]] = None,
        settings: Optional[Settings] = None,
        trust: Optional[bool] = None,
        progress: Optional[Callable[[Progress], None]] = None,
        **params: Value,
    ) -> Sensitivities:
        """As sens, with second derivatives: ``s["J"].hessian``, ``s["J"].d2["k", "g"]``.

        They are exact for the computed solution, too.
        """
        return self._sens(of, wrt, set, settings, trust, False, progress, params, None, {"sens.order": 2})

    def hvp(
        self,
        direction: npt.ArrayLike,
        *,
        of: Names = None,
        wrt: Names = None,
        set: Optional[Mapping[str, Value]] = None,
        settings: Optional[Settings] = None,
        trust: Optional[bool] = None,
        progress: Optional[Callable[[Progress], None]] = None,
        **params: Value,
    ) -> Sensitivities:
        """As sens, with products of Hessians and a direction [columns]: ``s["J"].product``.

        They cost as much as one column of the Hessians.
        """
        v = np.ascontiguousarray(direction, dtype="<f8").ravel()
        return self._sens(of, wrt, set, settings, trust, False, progress, params, v, {})

    def run(
        self,
        times: Optional[npt.ArrayLike] = None,
        *,
        set: Optional[Mapping[str, Value]] = None,
        settings: Optional[Settings] = None,
        trust: Optional[bool] = None,
        progress: Optional[Callable[[Progress], None]] = None,
        **params: Value,
    ) -> Run:
        """Solve the model, without derivatives.

        Args:
            times: where to report outputs, ascending, in the model's unit of time; the ends of all steps unless
                given. Where an event falls on a time, both limits are reported.

        The other arguments, and what is raised and warned of, are those of sens.
        """
        at = None if times is None else np.ascontiguousarray(times, dtype="<f8").ravel()
        names, values = self._assignments(set, params)
        request: dict[str, Any] = {"op": "run"}
        if at is not None:
            request["times"], values = len(at), values + at.tobytes()
        reply, layout = self._compute(request, names, values, settings, trust, progress, request.get("times"))
        out = Run(reply.head, reply.arrays, reply.outputs, layout, self.time, self.time_unit)
        _warn(reply.head["warnings"], reply.head.get("remarks"), 3)
        return out

    def fit(
        self,
        *,
        over: Names = None,
        log: Names = None,
        minimize: Optional[str] = None,
        maximize: Optional[str] = None,
        starts: Optional[int] = None,
        seed: Optional[int] = None,
        set: Optional[Mapping[str, Value]] = None,
        settings: Optional[Settings] = None,
        block: Optional[str] = None,
        progress: Optional[Callable[[Progress], None]] = None,
        **params: Value,
    ) -> Fit:
        """Search for the values that make an objective least, and say how sure they are.

        What is not said is as the fit block of the model says. docs/fit.md says what is computed.

        Args:
            over: what to search for: params, controls, and initial values ("initial(x)").
            log: those to search for on a logarithmic scale; "all".
            minimize, maximize: an objective.
            starts: how many searches; the first begins at the values in the model.
            seed: from which the others' beginnings are drawn. The same seed gives the same bits.
            set, **params: as for sens: values of what is not searched for, and where the first search begins.
            settings: keys of blocks: ``{"fit.intervals": "wald", "fit.level": 0.9, "solver.rtol": 1e-9}``.
            block: the name of a fit block.
            progress: called now and then, by the thread that waits.

        Raises:
            RequestError: there is no such name, or a value or a setting does not fit.
            RunError: no search came to a value of the objective.
            OutOfMemory, ServerError: see there.

        Warns:
            OdesWarning: what the fit warns of: estimates at bounds, what the data do not tell.
        """
        pairs = {
            "fit.over": None if over is None else list(_names(over)),
            "fit.log": log if log is None or log == "all" else list(_names(log)),
            "fit.minimize": minimize,
            "fit.maximize": maximize,
            "fit.starts": starts,
            "fit.seed": seed,
        }
        names, values = self._assignments(set, params)
        request = {"op": "fit", "settings": _pairs(pairs, settings)}
        if block:
            request["fit"] = block
        reply = self._ask(_server.current(), request, names, values, progress)
        out = Fit(reply.head, reply.arrays, self.time, self.time_unit)
        _warn(reply.head["warnings"], None, 3)
        return out

    def predict(
        self,
        *,
        set: Optional[Mapping[str, Value]] = None,
        settings: Optional[Settings] = None,
        progress: Optional[Callable[[Progress], None]] = None,
        **params: Value,
    ) -> Predictions:
        """What the model says beside its data, as it stands. Arguments and errors are those of sens."""
        names, values = self._assignments(set, params)
        request = {"op": "predict", "settings": _pairs({}, settings)}
        reply = self._ask(_server.current(), request, names, values, progress)
        return Predictions(reply.head["observations"], reply.arrays["predictions"], self.time, self.time_unit)

    def analysis(
        self,
        name: str,
        *,
        set: Optional[Mapping[str, Value]] = None,
        settings: Optional[Settings] = None,
        options: Optional[Mapping[str, object]] = None,
        progress: Optional[Callable[[Progress], None]] = None,
        **params: Value,
    ) -> Analysis:
        """What an analysis says that the command has and that has no method here.

        Args:
            name: that of the command.
            settings: keys of blocks, that of the analysis among them: ``{"sample.draws": 1000}``.
            options: those of the command that are no keys of blocks: ``{"among": ["k3 = 0", "n = 1"]}`` of select.

        The other arguments, and what is raised and warned of, are those of sens.
        """
        names, values = self._assignments(set, params)
        request = {**(options or {}), "op": name, "settings": _pairs({}, settings)}
        reply = self._ask(_server.current(), request, names, values, progress)
        if "tables" not in reply.head:
            raise TypeError(f"{name} has a method of its own")
        _warn(reply.head["warnings"], None, 3)
        return Analysis(name, reply.head, reply.arrays)

    def sample(
        self,
        *,
        draws: Optional[int] = None,
        chains: Optional[int] = None,
        warmup: Optional[int] = None,
        seed: Optional[int] = None,
        predictive: bool = False,
        set: Optional[Mapping[str, Value]] = None,
        settings: Optional[Settings] = None,
        progress: Optional[Callable[[Progress], None]] = None,
        **params: Value,
    ) -> Sample:
        """Draw from the posterior. docs/sample.md says how, and what the tables have.

        Args:
            draws: of each chain; what is not given is as the sample block of the model says.
            warmup: iterations of each chain before its draws.
            seed: which draws.
            predictive: whether to say how the draws predict the data: leave-one-out, and the groups
                log_likelihood, posterior_predictive, prior and observed_data of to_arviz.

        The other arguments, and what is raised and warned of, are those of sens.
        """
        names, values = self._assignments(set, params)
        asked = {"sample.draws": draws, "sample.chains": chains, "sample.warmup": warmup, "sample.seed": seed}
        given = {key: x for key, x in asked.items() if x is not None}
        request: dict[str, Any] = {"op": "sample", "settings": _pairs({}, {**dict(settings or {}), **given})}
        if predictive:
            request["predictive"] = True
        reply = self._ask(_server.current(), request, names, values, progress)
        _warn(reply.head["warnings"], None, 3)
        return Sample("sample", reply.head, reply.arrays)

    def ensemble(
        self,
        n: Optional[int] = None,
        *,
        draw: Union[str, Mapping[str, Union[str, tuple[float, float], tuple[float, float, str]]], None] = None,
        rows: Optional[Mapping[str, npt.ArrayLike]] = None,
        points: Optional[str] = None,
        seed: Optional[int] = None,
        indices: Optional[str] = None,
        of: Names = None,
        wrt: Names = None,
        gradient: bool = True,
        times: Optional[npt.ArrayLike] = None,
        outputs: Names = None,
        trust: Optional[bool] = None,
        set: Optional[Mapping[str, Value]] = None,
        settings: Optional[Settings] = None,
        block: Optional[str] = None,
        progress: Optional[Callable[[Progress], None]] = None,
        **params: Value,
    ) -> Ensemble:
        """Run the model for many sets of values, on all cores. docs/ensembles.md says what is computed.

        Args:
            n: how many members; what the ensemble block says unless given, else 1000. For indices, see there.
            draw: what differs: ``{"k": "lognormal(0, 0.3)", "g": (5, 15)}``, a distribution of the language or a
                range, evenly spaced, or by equal ratios as ``(0.1, 10, "log")``; or a text as it stands behind
                ``odes ensemble``. Unless given, what the block draws, or the priors of the params.
            rows: what differs, as a table: names, each with values [n] + the param's shape. A pandas.DataFrame will
                do. Values are in the units of the model.
            points: how values are drawn: "sobol", "lhs" or "random".
            seed: the same seed gives the same values.
            indices: which values matter: "sobol" (n (axes + 2) members), "morris" (n (axes + 1)) or "dgsm".
            of, wrt: as for sens.
            gradient: whether to compute derivatives.
            times: outputs at these times, instead of derivatives.
            outputs: which outputs at times; all unless given.
            trust: whether to compare every member with an independent run (True), or none (False). Unless given, a
                sample is compared: all of fewer than 32 members, else 16 that the seed draws and those with the
                extremes of values. ``compared`` says what was found.
            set, settings, **params: as for sens, of all members.
            block: the name of an ensemble block.
            progress: called now and then, by the thread that waits.

        A member has the bits that it has alone. One that fails has NaN for numbers; ``failures`` says why.

        Raises:
            RequestError: there is no such name, or a value or a setting does not fit.
            OutOfMemory, ServerError: see there.

        Warns:
            TrustWarning: independent runs do not confirm some members.
        """
        pairs = {"ensemble.n": n, "ensemble.seed": seed, "ensemble.points": points}
        request: dict[str, Any] = {"settings": _pairs(pairs, settings)}
        if draw is not None:
            request["draw"] = draw if isinstance(draw, str) else ", ".join(map(_drawn, draw.items()))
        if indices is not None:
            request["indices"] = indices
        if block:
            request["ensemble"] = block
        table = {} if rows is None else {str(k): np.asarray(v, dtype="<f8") for k, v in rows.items()}
        return self._members(request, table, None, of, wrt, gradient, times, outputs, trust, set, progress, params)

    def sweep(
        self,
        axes: Mapping[str, npt.ArrayLike],
        *,
        of: Names = None,
        wrt: Names = None,
        gradient: bool = False,
        times: Optional[npt.ArrayLike] = None,
        outputs: Names = None,
        trust: Optional[bool] = None,
        set: Optional[Mapping[str, Value]] = None,
        settings: Optional[Settings] = None,
        progress: Optional[Callable[[Progress], None]] = None,
        **params: Value,
    ) -> Ensemble:
        """Run the model for all combinations of values: ``m.sweep({"g": np.linspace(5, 15, 20), "e": [0.6, 0.9]})``.

        Args:
            axes: scalar params, elements of arrays and initial values, each with its values [k].

        The other arguments, and what is raised, are those of ensemble. Results have the shape of the grid:
        ``m.sweep(…)["J"].value[i, j]``.
        """
        grid = {name: np.asarray(v, dtype="<f8").ravel() for name, v in axes.items()}
        table = {n: a.ravel() for n, a in zip(grid, np.meshgrid(*grid.values(), indexing="ij"))}
        request = {"settings": _pairs({}, settings)}
        return self._members(request, table, grid, of, wrt, gradient, times, outputs, trust, set, progress, params)

    def _members(
        self,
        request: dict[str, Any],
        table: dict[str, Array],
        grid: Optional[dict[str, Array]],
        of: Names,
        wrt: Names,
        gradient: bool,
        times: Optional[npt.ArrayLike],
        outputs: Names,
        trust: Optional[bool],
        set_: Optional[Mapping[str, Value]],
        progress: Optional[Callable[[Progress], None]],
        params: Mapping[str, Value],
    ) -> Ensemble:
        request.update(op="ensemble", values=not gradient)
        if trust is not None:
            request["trust"] = bool(trust)
        for key, names in (("of", of), ("wrt", wrt), ("outputs", outputs)):
            if names is not None:
                request[key] = _names(names)
        assigned, values = self._assignments(set_, params)
        if times is not None:
            at = np.ascontiguousarray(times, dtype="<f8").ravel()
            request["times"], values = len(at), values + at.tobytes()
        if table:
            columns = {e: c for name, a in table.items() for e, c in _columns(name, a)}
            lengths = {len(c) for c in columns.values()}
            if len(lengths) != 1:
                raise ValueError(f"the columns of a table have one length, not {sorted(lengths)}")
            request["columns"], request["rows"] = list(columns), lengths.pop()
            values += np.stack(list(columns.values()), axis=1).tobytes()
        reply = self._ask(_server.current(), request, assigned, values, progress)
        _warn(reply.head.get("warnings", []), None, 4)
        shapes = {name: s.shape for name, s in self.symbols.items()}
        return Ensemble(reply.head, reply.arrays, grid, shapes, self.time, self.time_unit)

    def _sens(
        self,
        of: Names,
        wrt: Names,
        set_: Optional[Mapping[str, Value]],
        settings: Optional[Settings],
        trust: Optional[bool],
        event_times: bool,
        progress: Optional[Callable[[Progress], None]],
        params: Mapping[str, Value],
        direction: Optional[Array],
        more: dict[str, Any],
        at: str = "",
    ) -> Sensitivities:
        names, values = self._assignments(set_, params)
        request: dict[str, Any] = {"op": "sens"}
        if of is not None:
            request["of"] = _names(of)
        if wrt is not None:
            request["wrt"] = _names(wrt)
        if event_times:
            request["event_times"] = True
        if direction is not None:
            request["direction"], values = len(direction), values + direction.tobytes()
        if more:
            settings = {**(settings or {}), **more}
        key = (request.get("of"), request.get("wrt"), event_times, None if direction is None else len(direction))
        reply, layout = self._compute(request, names, values, settings, trust, progress, key)
        out = Sensitivities(reply.head, reply.arrays, layout)
        _warn(reply.head["warnings"], reply.head.get("remarks"), 4, at)
        return out

    def _assignments(
        self, set_: Optional[Mapping[str, Value]], params: Mapping[str, Value]
    ) -> tuple[tuple[tuple[str, str, int], ...], bytes]:
        """What is set, as (name, unit, count) each, and all values."""
        if set_:
            params = {**set_, **params}
        names, values = [], []
        for name, value in params.items():
            unit = ""
            if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str):
                value, unit = value
            a = np.asarray(value, dtype="<f8")
            symbol = self.symbols.get(name)
            if a.ndim > 0 and symbol is not None and a.shape != symbol.shape and a.ndim > 1:
                raise ValueError(f"{name} has the shape {symbol.shape}, not {a.shape}")
            names.append((name, unit, a.size))
            values.append(a.tobytes())
        return tuple(names), b"".join(values)

    def _compute(
        self,
        request: dict[str, Any],
        names: tuple[tuple[str, str, int], ...],
        values: bytes,
        settings: Optional[Settings],
        trust: Optional[bool],
        progress: Optional[Callable[[Progress], None]],
        key: Any,
    ) -> tuple[_server.Reply, Layout]:
        """Computes with what the process keeps ready, or makes that ready."""
        pairs = tuple((k, _written(v)) for k, v in settings.items()) if settings else ()
        if trust is not None:
            pairs = (*pairs, ("sens.trust", "on" if trust else "off"))
        key = (request["op"], names, pairs, progress is not None, key)
        tell = None if progress is None else _teller(progress)
        server = _server.current()
        job = self._jobs.get(key)
        if job is not None and job.server is server:
            try:
                return server.call(job.again, values, tell), job.layout
            except _server.Gone:
                pass
        request["settings"] = pairs
        reply = self._ask(server, request, names, values, progress)
        layout = Layout.of(reply.head["layout"])
        again = {"op": "again", "job": reply.head["job"]}
        if progress is not None:
            again["progress"] = True
        if len(self._jobs) >= _MOST_JOBS:
            self._jobs = {}
        self._jobs[key] = _Job(server, json.dumps(again).encode(), layout)
        return reply, layout

    def _ask(
        self,
        server: _server.Server,
        request: dict[str, Any],
        names: tuple[tuple[str, str, int], ...],
        values: bytes,
        progress: Optional[Callable[[Progress], None]],
    ) -> _server.Reply:
        """Sends a request on the model, which the process reads if it does not know it, or no longer."""
        request["set"] = [{"name": n, "unit": u, "count": c} for n, u, c in names]
        tell = None
        if progress is not None:
            request["progress"], tell = True, _teller(progress)
        try:
            request["model"] = self._number(server)
            return server.call(json.dumps(request).encode(), values, tell)
        except _server.Gone:
            self._opened = None
            request["model"] = self._number(server)
            return server.call(json.dumps(request).encode(), values, tell)

    def _number(self, server: _server.Server) -> int:
        """The number by which a process knows the model, which it reads if it does not."""
        opened = self._opened
        if opened is None or opened[0] is not server:
            opened = self._opened = server, server.call(self._open_request).head["model"]
        return opened[1]

    def __repr__(self) -> str:
        title = f" {self.title!r}" if self.title else ""
        return f"<odes.Model {self.name}{title}: {len(self.states)} states, {len(self.params)} params>"

    def _rows(self) -> list[list[str]]:
        rows = []
        for s in self.symbols.values():
            value = "" if s.value is None else f"{s.value:.8g}" if not s.shape else f"array {list(s.shape)}"
            rows.append([s.name, s.kind, value, s.unit, s.doc])
        return rows

    def __str__(self) -> str:
        head = f"{self.name}: {self.title}" if self.title else self.name
        return f"{head}\n{text_table(['', 'is', 'value', 'unit', ''], self._rows())}"

    def _repr_html_(self) -> str:
        rows = [[html.escape(x) for x in r] for r in self._rows()]
        head = f"<p><b>{html.escape(self.name)}</b> {html.escape(self.title)}</p>"
        return head + _table(["", "is", "value", "unit", ""], rows)


def _restore(
    text: str, name: str, folder: str, experiment: str, doses: Optional[tuple[str, str]] = None
) -> Model:
    m = Model.__new__(Model)
    m._load(text, name, folder, experiment, doses, 3)
    return m


def _regimen(doses: Union[str, os.PathLike[str], Mapping[str, npt.ArrayLike]]) -> tuple[str, str]:
    """A table of doses: what it is called, and its text."""
    if isinstance(doses, (str, os.PathLike)):
        return str(doses), Path(doses).read_bytes().decode("utf-8", "replace")
    columns = {str(k): np.asarray(doses[k]).tolist() for k in doses}
    if any(not isinstance(c, list) for c in columns.values()) or len({len(c) for c in columns.values()}) > 1:
        raise ValueError("columns of doses are lists of one length")
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(columns)
    rows.writerows([x if isinstance(x, str) else repr(float(x)) for x in row] for row in zip(*columns.values()))
    return "doses.csv", out.getvalue()


def _names(names: Union[str, Sequence[str]]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _pairs(own: Mapping[str, Any], settings: Optional[Settings]) -> list[tuple[str, str]]:
    """Settings as a request has them; those of arguments come last."""
    both = [*(settings or {}).items(), *((k, v) for k, v in own.items() if v is not None)]
    return [(k, _written(v)) for k, v in both]


def _drawn(item: tuple[str, Union[str, tuple[float, float], tuple[float, float, str]]]) -> str:
    """What differs, as it stands behind the command."""
    name, how = item
    if isinstance(how, str):
        return f"{name} ~ {how.replace(' ', '')}"
    low, high, *log = how
    if log not in ([], ["log"]):
        raise ValueError(f'a range is (low, high), or (low, high, "log") for equal ratios, not {how}')
    return " ".join([f"{name} from {float(low)!r} to {float(high)!r}", *log])


def _columns(name: str, a: Array) -> list[tuple[str, Array]]:
    """The columns of a table, for values [n] + shape of an array."""
    if a.ndim == 0:
        raise ValueError(f"{name} has one value for all members; give it beside the table")
    if not a.size:
        raise ValueError(f"{name} has no values")
    return list(zip(elements(name, a.shape[1:]), a.reshape(len(a), -1).T))


def _written(value: Any) -> str:
    """A setting as a model writes it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_written, value)) + "]"
    return str(value)


def _teller(progress: Callable[[Progress], None]) -> Callable[[dict[str, Any]], None]:
    return lambda d: progress(Progress(d["phase"], float(d["t"]), d["steps"], float(d["done"])))


def _warn(list_: Sequence[Any], remarks: Optional[Mapping[str, Sequence[str]]], level: int, at: str = "") -> None:
    """Makes Python warnings of the warnings of a result; notes are in the result. at says where it was computed."""
    for d in list_:
        if isinstance(d, dict):
            d = diagnostic(d)
        if d.level == "warning":
            warnings.warn(d.text + at, TrustWarning if d.code in _TRUST else OdesWarning, stacklevel=level)
    for name, texts in (remarks or {}).items():
        for text in texts:
            warnings.warn(f"{name}: {text}{at}", TrustWarning, stacklevel=level)


def version() -> str:
    """The version of the command that computes."""
    return str(_server.current().call(b'{"op":"hello"}').head["odes"])


__all__ = ["Model", "ModelError", "Progress", "Settings", "Symbol", "Value", "version"]
