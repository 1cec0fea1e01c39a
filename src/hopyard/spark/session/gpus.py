"""The GPUs of this machine, shared out among the workers of an embedded Spark.

Spark asks each worker's discovery script for its GPUs. All workers of an embedded Spark are on one machine
and would find the same ones, so the machine is asked once, up front, and the script that the workers run
gives each of them a share that no other has.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import TYPE_CHECKING

from hopyard.errors import NotEnoughGpus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_ASK_SECONDS = 30


def gpu_conf(*, workers: int, gpus: int, cores: int, script: Path | None, folder: Path) -> dict[str, str]:
    """Returns the Spark configuration that gives every executor `gpus` GPUs of its own.

    Args:
        workers: How many workers will ask.
        gpus: GPUs of an executor.
        cores: Tasks of an executor at once; each gets an equal part of its GPUs, at least one.
        script: Program that prints all GPUs of the machine as Spark's discovery scripts do; nvidia-smi
            is asked if not given.
        folder: Where the workers' script is written to.

    Raises:
        NotEnoughGpus: The machine has fewer GPUs than all executors together want.
    """
    addresses = _addresses(script)
    if len(addresses) < workers * gpus:
        asked = str(script) if script else "nvidia-smi"
        raise NotEnoughGpus(workers * gpus, len(addresses), asked)
    shares = [addresses[worker * gpus : (worker + 1) * gpus] for worker in range(workers)]
    return {
        "spark.worker.resource.gpu.amount": str(gpus),
        "spark.worker.resource.gpu.discoveryScript": str(_write_script(folder, shares)),
        "spark.executor.resource.gpu.amount": str(gpus),
        "spark.task.resource.gpu.amount": str(max(1, gpus // cores)),
    }


def _addresses(script: Path | None) -> list[str]:
    if script is not None:
        found = json.loads(_ask([str(script)]))["addresses"]
        return [str(address) for address in found]
    return _ask(["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]).split()


def _ask(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_ASK_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise NotEnoughGpus(1, 0, f"{command[0]} ({error})") from error
    return done.stdout


def _write_script(folder: Path, shares: Sequence[Sequence[str]]) -> Path:
    # mkdir is the claim: of several workers that ask for a share at once, one makes the folder.
    lines = ["#!/bin/sh"]
    for number, share in enumerate(shares):
        claim = shlex.quote(str(folder / f"gpu-share-{number}"))
        reply = shlex.quote(json.dumps({"name": "gpu", "addresses": list(share)}))
        lines.append(f"mkdir {claim} 2>/dev/null && echo {reply} && exit 0")
    lines.append("exit 1")
    script = folder / "gpus.sh"
    script.write_text("\n".join(lines) + "\n")
    script.chmod(0o700)
    return script
