"""A tiny model's folder in; evidence about its plans, run in this process, out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from likewise.prove.evidence import Evidence
from likewise.prove.limits import limits_of, precision_class
from likewise.prove.stratify import stratify
from likewise.prove.subject import draw
from likewise.run.company import in_company
from likewise.run.opening import open_runner
from likewise.types import Model, Plan, Probe, Run, Task

ITEMS = 131


@dataclass(frozen=True, eq=False)
class Opened:
    """A model with its references."""

    folder: Path
    model: Model
    task: Task
    probes: tuple[Probe, ...]
    truth: Run
    truth_items: tuple[int, ...]
    yardstick: Run

    def evidence(self, plan: str, *, fault: str | None = None) -> Evidence:
        """Run a plan, with a fault if asked, and return what a verdict is made from."""
        parsed = Plan.parse(plan)
        candidate = run_here(self.folder, plan, self.probes, fault=fault, company=True)
        return Evidence(
            model=self.model,
            kinds=self.task.kinds,
            probes=self.probes,
            limits=limits_of(precision_class(parsed), "standard"),
            least_items=64,
            truth=self.truth,
            truth_items=self.truth_items,
            yardstick=self.yardstick,
            candidate=candidate,
        )


@cache
def opened(folder: Path, count: int = ITEMS) -> Opened:
    """Return a model with the references of ``count`` probes, made once a process."""
    from likewise.model.read import read
    from likewise.tasks._pick import pick

    model = read(folder)
    task = pick(model)
    probes = draw(task, count, 20)
    yardstick = run_here(folder, "torch/cpu/float32/b1/t1", probes, seed=1)
    groups = [probe.group for probe in probes]
    chosen = stratify(groups, yardstick.tokens.tolist(), 48)
    some = tuple(probes[i] for i in chosen)
    truth = run_here(folder, "torch/cpu/float64/b1/t1", some, seed=2)
    return Opened(folder, model, task, probes, truth, chosen, yardstick)


def run_here(
    folder: Path,
    plan: str,
    probes: tuple[Probe, ...],
    *,
    seed: int = 0,
    fault: str | None = None,
    company: bool = False,
) -> Run:
    """Run a plan in this process; the candidate's plan does not name the fault."""
    parsed = Plan.parse(plan)
    with open_runner(folder, plan=parsed, seed=seed, fault=fault) as runner:
        items = [probe.item for probe in probes]
        run = runner.run(items)
        more = {"company": in_company(runner, run, items)} if company else {}
    return replace(run, facts={**run.facts, "repeat_equal": True, **more})
