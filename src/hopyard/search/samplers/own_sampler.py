"""What the samplers of this package tell a study beyond what Optuna's samplers do."""

# ruff: noqa: ARG002 -- what the defaults do not look at, others do

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from optuna.samplers import BaseSampler

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial


class OwnSampler(BaseSampler):
    """A sampler that may have an end, may ask for patience, and may group its trials."""

    @property
    def total(self) -> int | None:
        """How many trials there are to be; None for no end."""
        return None

    def is_ready(self, study: Study) -> bool:
        """Returns whether a trial may be asked for now; if not, some trial under way has to end first."""
        return True

    def group(self, trial: FrozenTrial) -> str:
        """Returns the folder that a trial's own folder belongs into; "" for none.

        Args:
            trial: A trial as the study has it, ``study.trials[number]``, after it was asked for.
        """
        return ""

    # Optuna has no public way for a sampler to leave notes on a trial or to see all trials of a study: under
    # Hyperband the study that a sampler gets shows only those of one bracket. Optuna's own samplers do this too.

    def _remember(self, study: Study, trial: FrozenTrial, key: str, note: Any) -> None:
        study._storage.set_trial_system_attr(trial._trial_id, key, note)  # noqa: SLF001

    def _recall(self, study: Study, trial: FrozenTrial) -> Mapping[str, Any]:
        return study._storage.get_trial_system_attrs(trial._trial_id)  # noqa: SLF001

    def _trials(self, study: Study) -> Sequence[FrozenTrial]:
        return study._storage.get_all_trials(study._study_id, deepcopy=False)  # noqa: SLF001
