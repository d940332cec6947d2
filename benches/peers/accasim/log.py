"""A log that both simulators read in the same way."""

import bz2
import gzip
import re


def opened(path):
    with open(path, "rb") as file:
        start = file.read(3)
    if start[:2] == b"\x1f\x8b":
        return gzip.open(path, "rt", encoding="utf-8", errors="replace")
    if start == b"BZh":
        return bz2.open(path, "rt", encoding="utf-8", errors="replace")
    return open(path, encoding="utf-8", errors="replace")


def common(path, processors, most):
    """The first `most` usable records by submit time as whole seconds, and the processors of the machine.

    Usable is a record with a positive run time and a width from 1 to the machine. A record keeps its number, submit
    time, run time, processors (allocated, or else requested) and requested time (or else the run time), and its user.
    """
    records = []
    with opened(path) as file:
        for line in file:
            header = re.match(r";\s*MaxProcs:\s*(\d+)", line)
            if header and processors is None:
                processors = int(header[1])
            if line.startswith(";") or not line.strip():
                continue
            fields = [int(float(word)) for word in line.split()]
            number, submit, run, requested, user = (fields[place] for place in (0, 1, 3, 8, 11))
            width = fields[4] if fields[4] > 0 else fields[7]
            if run > 0 and submit >= 0 and width > 0:
                records.append((submit, number, run, width, requested if requested > 0 else run, user))
    if processors is None:
        raise SystemExit(f"{path}: the header names no MaxProcs; state the processors with --processors")
    fitting = sorted(record for record in records if record[3] <= processors)
    return fitting[:most], processors


def write(path, records, processors):
    """SWF with both fields of processors filled in, and without memory, which AccaSim would demand of the machine."""
    with open(path, "w") as file:
        file.write(f"; Version: 2.2\n; MaxProcs: {processors}\n")
        for submit, number, run, width, requested, user in records:
            file.write(f"{number} {submit} -1 {run} {width} -1 -1 {width} {requested} -1 1 {user} -1 -1 1 -1 -1 -1\n")
