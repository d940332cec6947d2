"""Named families of random instances, with their sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple


class Family(NamedTuple):
    """A family of random instances."""

    summary: str
    source: str
    #: The function of :mod:`makespan.generate` that draws the instances.
    function: str
    #: Arguments that the family fixes or suggests, in turn for successive instances.
    options: Sequence[Mapping[str, Any]]


_DUTOT = "Dutot, Eyraud, Mounié, Trystram, SPAA 2004, doi:10.1145/1007912.1007932"
_CIRNE = "Cirne, Berman, IPDPS 2001, with Downey's law as the speed-up, as in Dutot et al., doi:10.1145/1007912.1007932"
_BRAUN = "Braun et al., J. Parallel Distrib. Comput. 61, 2001, doi:10.1006/jpdc.2000.1714"
_PSPLIB = "Kolisch, Sprecher, Drexl, Management Science 41(10), 1995, doi:10.1287/mnsc.41.10.1693"
_TILES = "Buttari, Langou, Kurzak, Dongarra, Parallel Computing 35, 2009, doi:10.1016/j.parco.2008.10.002"
_PEGASUS = "Bharathi et al., WORKS 2008, doi:10.1109/WORKS.2008.4723958"
_WFCOMMONS = "Coleman et al., Future Gener. Comput. Syst. 128, 2022, doi:10.1016/j.future.2021.09.043"
_TREES = "Beaumont, Carter, Ferrante, Legrand, Marchal, Robert, IPDPS 2006, doi:10.1109/IPDPS.2006.1639262"
_OWN = "Makespan"

_MOLDABLE = {
    "weak": ("moldable jobs with speed-ups close to 1", _DUTOT),
    "high": ("moldable jobs with speed-ups close to the number of processors", _DUTOT),
    "mixed": ("moldable jobs: 70 % small with low speed-ups, 30 % large with high speed-ups", _DUTOT),
    "cirne": ("moldable jobs with speed-ups by Downey's law", _CIRNE),
}

_SHAPES = {
    "layers": ("graphs of random layers", _OWN),
    "chain": ("tasks in series", _OWN),
    "fork-join": ("a first task, parallel tasks and a last task", _OWN),
    "stages": ("sequences of fork-joins", _OWN),
    "series-parallel": ("series-parallel graphs", _OWN),
    "cholesky": ("Cholesky factorisation of a matrix in tiles", _TILES),
    "lu": ("LU factorisation of a matrix in tiles", _TILES),
    "montage": ("workflow: mosaic of images of the sky", _PEGASUS),
    "epigenomics": ("workflow: genome sequencing", _PEGASUS),
    "cybershake": ("workflow: earthquake hazards", _PEGASUS),
    "1000genome": ("workflow: genomes of populations", _WFCOMMONS),
    "blast": ("workflow: searches in biological sequences", _WFCOMMONS),
    "bwa": ("workflow: sequence alignment", _WFCOMMONS),
    "seismology": ("workflow: seismic signals", _WFCOMMONS),
    "soykb": ("workflow: genomes of soy beans", _WFCOMMONS),
    "srasearch": ("workflow: search in archived DNA sequences", _WFCOMMONS),
}

_CONSISTENCY = {"c": "consistent", "s": "semi-consistent", "i": "inconsistent"}
_RANGES = {"hi": True, "lo": False}


def _all() -> dict[str, Family]:
    found = {
        name: Family(summary, source, "moldable", [{"family": name, "jobs": 100, "processors": 200}])
        for name, (summary, source) in _MOLDABLE.items()
    }
    for kind, tasks, machines in product(_CONSISTENCY, _RANGES, _RANGES):
        options = {"consistency": kind, "high_tasks": _RANGES[tasks], "high_machines": _RANGES[machines]}
        summary = f"512 tasks on 16 machines, {_CONSISTENCY[kind]}; differences of tasks {tasks}, of machines {machines}"
        found[f"u_{kind}_{tasks}{machines}"] = Family(summary, _BRAUN, "etc", [options])
    for activities, strengths in ((30, 4), (60, 4), (90, 4), (120, 5)):
        # The parameters of the sets of PSPLIB.
        cells = product((1.5, 1.8, 2.1), (0.25, 0.5, 0.75, 1.0), (0.2, 0.5, 0.7, 1.0) if strengths == 4 else (0.1, 0.2, 0.3, 0.4, 0.5))
        each = [{"activities": activities, "complexity": c, "factor": f, "strength": s} for c, f, s in cells]
        summary = f"projects of {activities} activities; successive instances take the {len(each)} settings of PSPLIB in turn"
        found[f"j{activities}"] = Family(summary, _PSPLIB, "project", each)
    for name, (summary, source) in _SHAPES.items():
        found[name] = Family(f"{summary}; sequential tasks on 8 processors of different speeds", source, "graphs", [{"shape": name}])
    found["trees"] = Family("bags of tasks on trees of 20 machines", _TREES, "tree", [{"nodes": 20}])
    return found


#: The families by name.
FAMILIES = _all()
