"""FCFS and EASY on a log, called from Python, with AccaSim on the same records: processor times."""

import json
import sys
import tempfile
import time
from pathlib import Path

import makespan as m

ACCASIM = Path(__file__).resolve().parent.parent / "accasim"
sys.path.insert(0, str(ACCASIM))
import log as records  # noqa: E402


def measure(options, tell, answer):
    """Prints the time of each policy; AccaSim's is its simulation alone, ours with the result in Python."""
    with tempfile.TemporaryDirectory() as folder:
        common, system = Path(folder) / "log.swf", Path(folder) / "system.json"
        found, processors = records.common(options.log, None, options.jobs)
        records.write(common, found, processors)
        groups = {"groups": {"g": {"core": processors}}, "resources": {"g": 1}}
        system.write_text(json.dumps({**groups, "equivalence": {"processor": {"core": 1}}, "start_time": 0}))
        begin = time.process_time()
        log = m.read_log(common)
        tell(f"reading {options.log.name}, {len(log):,} jobs", f"{time.process_time() - begin:.2f} s")
        for policy in ("fcfs", "easy"):
            spent, waited = min(ours(log, policy) for _ in range(options.repetitions))
            tell(f"{policy} on it, called from Python", f"{spent:.2f} s", f"mean wait {waited:.1f} s")
            if not options.accasim.exists():
                continue
            words = [options.accasim, "-B", "peer.py", common, system, policy, folder]
            theirs = answer(words, options.patience, folder=ACCASIM)
            if isinstance(theirs, str):
                tell(f"{policy} on it: AccaSim", "-", theirs)
                continue
            ratio = f"mean wait {theirs['mean_wait']:.1f} s; {theirs['cpu'] / spent:,.0f} times as long"
            tell(f"{policy} on it: AccaSim", f"{theirs['cpu']:.2f} s", ratio)


def ours(log, policy):
    begin = time.process_time()
    result = m.simulate(log, [policy], threads=1)[0]
    waited = result.measures["wait"]["mean"]
    return time.process_time() - begin, waited
