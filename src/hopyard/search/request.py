"""A search as it was asked for: all that can be checked before anything starts, and then the study."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from optuna.pruners import NopPruner

from hopyard.errors import InvalidSearch
from hopyard.run.call import check_function
from hopyard.run.encryption import uses_tls
from hopyard.search.options import SearchOptions, SearchSpec
from hopyard.search.samplers.by_name import sampler_for
from hopyard.search.samplers.own_sampler import OwnSampler
from hopyard.search.samplers.pruners import pruner_for
from hopyard.search.space.former_lists import with_former_lists
from hopyard.search.space.space import SearchSpace
from hopyard.search.study.advice import check_is_no_loss
from hopyard.search.study.names import StudyName
from hopyard.search.study.resume import await_its_driver
from hopyard.search.study.runner import StudyPlan, StudyRunner
from hopyard.search.study.study import Study
from hopyard.search.trial.backends import check_backend, slot_backend
from hopyard.search.trial.call import TrialCall, function_name
from hopyard.search.trial.cluster_slots import ClusterSlotBackend
from hopyard.search.trial.result import Wanted
from hopyard.store import Project
from hopyard.tracking import study_record

if TYPE_CHECKING:
    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler

    from hopyard.run.options import RunOptions
    from hopyard.search.trial.slots import SlotBackend
    from hopyard.tracking import RunRecord, StudyRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A search that a user asked for.

    Attributes:
        fn: The function to try.
        space: What its parameters may be.
        sampler: What chooses the next trial: a name, a sampler, or None for the default.
        sampler_options: Settings of the sampler.
        trials: How many trials there are to be; None if the sampler knows, or a timeout ends the study.
        wanted: What the function has to return.
        options: What all searches can be told.
        call: The name of the function that the user called, for the call that goes on with the study.
    """

    fn: Callable[..., Any]
    space: SearchSpace
    sampler: str | BaseSampler | None = None
    sampler_options: Mapping[str, Any] = field(repr=False)
    trials: int | None = None
    wanted: Wanted = Wanted.VALUE
    options: SearchOptions = field(repr=False)
    call: str = "search"

    def check(self) -> None:
        """Checks all that can be checked without Spark.

        Raises:
            HopyardError: What `run` would raise before the study begins.
        """
        spec, _ = self._checked()
        check_backend(self.options.get("backend"))
        earlier = self._name.earlier(self._project)
        self._sampler(self._space(earlier), spec, parallel=spec.parallel or 1)

    def run(self, go_on: Callable[[str], str] | None = None) -> Study:
        """Runs the study and returns it.

        Args:
            go_on: Returns how a user goes on with a study of some name that was interrupted.
        """
        spec, payload = self._checked()
        project = self._project
        backend = self._backend(spec, project)
        tls = uses_tls(given=self.options.get("tls"), by_default=lambda: backend.encrypts)
        earlier = self._name.earlier(project)
        space = self._space(earlier)
        room = spec.parallel or backend.room(spec.devices)
        sampler, spec = self._sampler(space, spec, parallel=room)
        earlier = None if earlier is None else await_its_driver(project, earlier)
        with self._named(project, earlier) as name:
            plan = StudyPlan(
                spec=spec,
                space=space,
                sampler=sampler,
                pruner=self._pruner,
                payload=payload,
                project=project,
                backend=backend,
                parallel=min(room, spec.rules.trials or room),
                name=name,
                kind=self.options.get("kind", "search"),
                description=self.options.get("description", ""),
                earlier=earlier,
                tensorboard=self.options.get("tensorboard", False),
                tls=tls,
                progress=self.options.get("progress"),
                go_on=(go_on or self._same_call)(name),
            )
            return StudyRunner(plan).run()

    @property
    def _project(self) -> Project:
        return self.options.get("project") or Project.open()

    @property
    def _name(self) -> StudyName:
        function = str(getattr(self.fn, "__name__", type(self.fn).__name__))
        return StudyName(
            given=self.options.get("name") or None,
            function=function,
            resume=self.options.get("resume", False),
        )

    @property
    def _pruner(self) -> BasePruner:
        return pruner_for(self.options.get("pruner"))

    def _checked(self) -> tuple[SearchSpec, bytes]:
        """Returns how the search is to be run, and what each trial runs, pickled."""
        check_function(self.call, self.fn)
        self.space.check(self.fn)
        spec = SearchSpec.of(self.trials, self.options)
        if len(spec.objectives) > 1 and not isinstance(self._pruner, NopPruner):
            raise InvalidSearch(
                f"the pruner {self.options.get('pruner')!r} compares trials by one metric, not by {len(spec.objectives)}",
                "Leave out pruner=, or give one metric",
            )
        if self.wanted is Wanted.ANYTHING:
            spec = replace(spec, is_assumed=False)
        if spec.is_assumed and self.wanted is Wanted.VALUE:
            check_is_no_loss(function_name(self.fn))
        return spec, self._call_of(spec).dump()

    def _call_of(self, spec: SearchSpec) -> TrialCall:
        return TrialCall.of(self.fn, spec.objectives, self.wanted)

    def _backend(self, spec: SearchSpec, project: Project) -> SlotBackend:
        backend = slot_backend(self.options.get("backend"), self.options.get("spark"))
        if spec.nodes == 1:
            return backend
        options = _cluster_options(spec, project, self.options)
        return ClusterSlotBackend(inner=backend, call=self._call_of(spec), nodes=spec.nodes, options=options)

    def _space(self, earlier: RunRecord | None) -> SearchSpace:
        """Returns the space of the study, which is the one that it had if it goes on.

        Raises:
            InvalidSearch: It had another one.
        """
        known = None if earlier is None else study_record(self._project, earlier.id)
        if earlier is None or known is None:
            return self.space
        self._check_objectives(known)
        stored = json.loads(json.dumps(known.space))
        space = with_former_lists(self.space, stored)
        if json.loads(json.dumps(space.to_json())) != stored:
            raise InvalidSearch(
                f"the study {earlier.id} has another space than this call",
                f"Give the space that it had, or another name. It had: {json.dumps(stored)}",
            )
        return space

    def _check_objectives(self, known: StudyRecord) -> None:
        spec = SearchSpec.of(self.trials, self.options)
        _check_same(known, "metric", spec.objectives, known.objectives)
        words = [[direction.value for direction in each] for each in (spec.directions, known.directions)]
        _check_same(known, "direction", *words)

    def _sampler(
        self, space: SearchSpace, spec: SearchSpec, *, parallel: int
    ) -> tuple[BaseSampler, SearchSpec]:
        if not isinstance(self.sampler_options, Mapping):
            raise InvalidSearch(
                f"sampler_options={self.sampler_options!r} is not valid", "Give a dict from option to value"
            )
        sampler = sampler_for(
            self.sampler,
            space,
            seed=self.options.get("seed"),
            parallel=parallel,
            directions=spec.directions,
            is_pruned=not isinstance(self._pruner, NopPruner),
            **self.sampler_options,
        )
        return sampler, _bounded(spec, sampler)

    @contextmanager
    def _named(self, project: Project, earlier: RunRecord | None) -> Iterator[str]:
        if earlier is not None:
            yield earlier.name
            return
        with self._name.taken(project) as name:
            yield name

    def _same_call(self, name: str) -> str:
        function = getattr(self.fn, "__name__", "...")
        return f"hopyard.{self.call}({function}, ..., name={name!r}, resume=True)"


def _check_same(study: StudyRecord, option: str, given: Sequence[str], had: Sequence[str]) -> None:
    if list(given) != list(had):
        raise InvalidSearch(
            f"the study {study.run} has {option} {', '.join(had)}, but this call has {', '.join(given)}",
            f"Give the {option} that it has, or another name",
        )


def _cluster_options(spec: SearchSpec, project: Project, options: SearchOptions) -> RunOptions:
    """Returns how the clusters of trials are run that have more than one node."""
    return {
        "ps": spec.ps,
        "evaluator": spec.evaluator,
        "gpus_per_node": spec.devices.gpus,
        "gpu_fraction": spec.devices.fraction,
        "lease_seconds": spec.rules.lease,
        "tls": options.get("tls"),
        "spark": options.get("spark"),
        "backend": options.get("backend"),
        "project": project,
        "progress": False,
    }


def _bounded(spec: SearchSpec, sampler: BaseSampler) -> SearchSpec:
    """Returns the specification with the number of trials that the sampler has, if it knows.

    Raises:
        InvalidSearch: There would be no end.
    """
    total = sampler.total if isinstance(sampler, OwnSampler) else None
    wanted = spec.rules.trials
    if total is not None:
        return replace(
            spec, rules=replace(spec.rules, trials=total if wanted is None else min(total, wanted))
        )
    if wanted is None and spec.rules.seconds is None:
        raise InvalidSearch("this search would never end", "Give trials= (how many) or timeout= (seconds)")
    return spec
