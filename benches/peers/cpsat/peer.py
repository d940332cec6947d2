"""What CP-SAT makes of an instance, kept in a file: its minutes are not spent twice on the same question."""

import dataclasses
import hashlib
import json
import time
from importlib.metadata import version

import greedy
import model
from instance import read


def outcome(path, settings: model.Settings, hinted: bool, file, again: bool) -> model.Outcome:
    """Solves the instance at `path`, or reads from `file` what the same version made of it with the same settings."""
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    question = {"ortools": version("ortools"), "hinted": hinted, "instance": content, **dataclasses.asdict(settings)}
    if file.exists() and not again:
        kept = json.loads(file.read_text())
        if kept["question"] == question:
            return model.Outcome(**kept["outcome"])
    found = solved(read(path), settings, hinted)
    file.write_text(json.dumps({"question": question, "outcome": dataclasses.asdict(found)}))
    return found


def solved(instance, settings, hinted):
    if not hinted:
        return model.solve(instance, settings, None)
    began = time.monotonic()
    hint = greedy.best(instance, settings.objective)
    hinting = time.monotonic() - began
    found = model.solve(instance, settings, hint)
    if found.chosen is None:
        # Whoever gives the solver a hint has a schedule, even where the solver makes nothing of it.
        found = dataclasses.replace(found, chosen=hint, status=f"{found.status}, the hint is kept")
    return dataclasses.replace(found, seconds=hinting + found.seconds)
