"""Examples for the help of each command."""

from __future__ import annotations

EXAMPLES = {
    "demo": ("hopyard demo", "hopyard demo --epochs 3 --backend processes"),
    "doctor": ("hopyard doctor", "hopyard doctor --root s3://bucket/folder"),
    "runs": (
        "hopyard runs",
        "hopyard runs last",
        """hopyard runs --json | jq '.[] | select(.state == "FAILED") | .id'""",
    ),
    "logs": (
        "hopyard logs",
        "hopyard logs launcher/run.3 --all --follow",
        "hopyard logs digits --trial 7 --tail 20",
    ),
    "compare": ("hopyard compare launcher/run.1 launcher/run.2", "hopyard compare digits/x=1 digits/x=2"),
    "tensorboard": (
        "hopyard tensorboard",
        "hopyard tensorboard last",
        "hopyard tensorboard --host 0.0.0.0 --port 6006",
    ),
    "search": (
        "hopyard search train.py:train --space space.yaml --trials 50",
        "hopyard search train.py:train --space space.yaml --sampler grid",
        "hopyard search train.py:train --space space.yaml --trials 80 --resume",
    ),
    "studies": ("hopyard studies", "hopyard studies --json | jq '.[0].best'"),
    "trials": (
        "hopyard trials last --sort value --limit 5",
        "hopyard trials digits --csv > trials.csv",
        "hopyard trials digits --failed",
    ),
    "rm": ("hopyard rm last", "hopyard rm launcher/run.3 launcher/run.4"),
    "restore": ("hopyard trash", "hopyard restore launcher/run.3"),
    "trash": ("hopyard trash",),
}


def examples_of(command: str) -> str:
    """Returns the examples of a command as the end of its help, which is not to be wrapped."""
    lines = EXAMPLES[command]
    title = "Example:" if len(lines) == 1 else "Examples:"
    return "\n".join(["\b", title, *(f"  {line}" for line in lines)])
