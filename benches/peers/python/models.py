"""Models of PyJobShop for comparisons: twelve toys, ten job shops of Taillard, projects of PSPLIB, and projects with time lags."""

import random

import pyjobshop

#: The instance ft06 of H. Fisher and G. L. Thompson (1963): for each job, pairs of machine and time.
FT06 = [
    [(2, 1), (0, 3), (1, 6), (3, 7), (5, 3), (4, 6)],
    [(1, 8), (2, 5), (4, 10), (5, 10), (0, 10), (3, 4)],
    [(2, 5), (3, 4), (5, 8), (0, 9), (1, 1), (4, 7)],
    [(1, 5), (0, 5), (2, 5), (3, 3), (4, 8), (5, 9)],
    [(2, 9), (1, 3), (4, 5), (5, 4), (0, 3), (3, 1)],
    [(1, 3), (3, 3), (5, 9), (0, 10), (4, 4), (2, 1)],
]

#: Seeds of the times and of the machines of the job shops ta01 to ta10: E. Taillard, "Benchmarks for basic scheduling problems",
#: European Journal of Operational Research 64, 1993, DOI 10.1016/0377-2217(93)90182-M.
TAILLARD = [
    (840612802, 398197754), (1314640371, 386720536), (1227221349, 316176388), (342269428, 1806358582),
    (1603221416, 1501949241), (1357584978, 1734077082), (44531661, 1374316395), (302545136, 2092186050),
    (1153780144, 1393392374), (73896786, 1544979948),
]


def toys():
    """Yields a name, a model and an objective for each toy."""
    source = random.Random(58)
    yield "sequential jobs", _jobs(3, [[(1, source.randint(1, 20))] for _ in range(8)]), "makespan"
    yield "rigid jobs", _jobs(4, [[(source.randint(1, 4), source.randint(1, 20))] for _ in range(7)]), "makespan"
    yield "moldable jobs", _jobs(4, [_moldable(source) for _ in range(6)]), "makespan"
    yield "unrelated machines", _unrelated(source, 7, 3), "makespan"
    yield "job shop, 3 x 3", _shop(_routes(source, 3, 3)), "makespan"
    yield "job shop, ft06", _shop(FT06), "makespan"
    yield "flow shop, 5 x 3", _shop([[(machine, source.randint(1, 20)) for machine in range(3)] for _ in range(5)]), "makespan"
    yield "open shop, 3 x 3", _open_shop(source, 3), "makespan"
    yield "project", _project(source, 8, modes=1), "makespan"
    yield "project with modes", _project(source, 7, modes=2), "makespan"
    yield "weights, one machine", _jobs(1, [[(1, source.randint(1, 20))] for _ in range(7)], source), "weighted_completion"
    yield "weights, rigid jobs", _jobs(3, [[(source.randint(1, 3), source.randint(1, 20))] for _ in range(6)], source), "weighted_completion"


def shops(count):
    """Yields the first job shops of Taillard: 15 jobs on 15 machines."""
    for at, seeds in enumerate(TAILLARD[:count]):
        yield f"ta{at + 1:02}", _shop(taillard(15, 15, *seeds)), "makespan"


def taillard(jobs, machines, of_times, of_machines):
    """Returns the job shop of two seeds, by the generator of Taillard."""

    def draw(seed, low, high):
        seed = (16807 * (seed % 127773) - 2836 * (seed // 127773)) % (2**31 - 1)
        return seed, low + int(seed / (2**31 - 1) * (high - low + 1))

    times = []
    for _ in range(jobs * machines):
        of_times, time = draw(of_times, 1, 99)
        times.append(time)
    routes = []
    for job in range(jobs):
        order = list(range(machines))
        for at in range(machines):
            of_machines, other = draw(of_machines, at, machines - 1)
            order[at], order[other] = order[other], order[at]
        routes.append(list(zip(order, times[job * machines :])))
    return routes


def projects(folder, count):
    """Yields projects of PSPLIB, evenly over the sets j30, j60 and j120 (files of Patterson's format in folders)."""
    for name in ("j30", "j60", "j120"):
        files = sorted((folder / name).glob("*.rcp"))
        if not files:
            raise SystemExit(f"{folder / name}: there are no .rcp files; unpack PSPLIB there")
        for at in range(count // 3):
            path = files[at * len(files) // (count // 3)]
            yield path.stem, patterson(path.read_text()), "makespan"


def patterson(text):
    """Returns the model of a project. Activities of duration zero, which need nothing, are replaced by their arcs."""
    numbers = iter(int(word) for word in text.split())
    count, resources = next(numbers), next(numbers)
    model = pyjobshop.Model()
    held = [model.add_renewable(next(numbers)) for _ in range(resources)]
    times, needs, after = [], [], []
    for _ in range(count):
        times.append(next(numbers))
        needs.append([next(numbers) for _ in range(resources)])
        after.append([next(numbers) - 1 for _ in range(next(numbers))])
    tasks = [model.add_task(name=f"a{at}") if time else None for at, time in enumerate(times)]
    for at in reversed(range(count)):
        after[at] = sorted({far for to in after[at] for far in ([to] if times[to] else after[to])})
    for task, time, needed, later in zip(tasks, times, needs, after):
        if task is not None:
            used = [(resource, amount) for resource, amount in zip(held, needed) if amount]
            model.add_mode(task, [resource for resource, _ in used], time, demands=[amount for _, amount in used])
            for to in later:
                model.add_end_before_start(task, tasks[to])
    return model


def lagged(count):
    """Yields drawn projects of 10, 20 and 30 activities with minimal and maximal time lags, in the manner of C. Schwindt, "Generation of
    resource-constrained project scheduling problems subject to temporal constraints", Report WIOR-543, University of Karlsruhe, 1998."""
    for at in range(count):
        activities = (10, 20, 30)[at * 3 // count]
        yield f"lags{activities}-{at:02}", _lagged(random.Random(5800 + at), activities), "makespan"


def _lagged(source, activities, resources=5, factor=0.75, strength=0.5):
    """Returns a project. Its maximal lags are at least as long as the longest paths, so starts exist that satisfy all lags. With the
    resources, there may be no plan."""
    times = [source.randint(1, 10) for _ in range(activities)]
    needs = [[source.randint(1, 10) if source.random() < factor else 0 for _ in range(resources)] for _ in times]
    least = {}
    for to in range(1, activities):
        for earlier in source.sample(range(to), min(to, source.randint(1, 2))):
            # From half of the duration to one and a half durations: activities may overlap, or wait.
            least[earlier, to] = max(1, round(times[earlier] * source.uniform(0.5, 1.5)))
    for _ in range(activities // 4):
        paths = _longest(activities, least)
        joined = [(a, b) for a in range(activities) for b in range(activities) if paths[a][b] > 0 and (b, a) not in least]
        if joined:
            first, last = source.choice(joined)
            least[last, first] = -round(paths[first][last] * source.uniform(1, 2))
    model = pyjobshop.Model()
    # From the largest need of one activity (strength 0) to a quarter of the way to the sum of all needs (strength 1).
    sums = [(max(column), sum(column)) for column in zip(*needs)]
    held = [model.add_renewable(max(1, low + round(strength * (high - low) / 4))) for low, high in sums]
    tasks = [model.add_task(name=f"a{at}") for at in range(activities)]
    for task, time, needed in zip(tasks, times, needs):
        used = [(resource, amount) for resource, amount in zip(held, needed) if amount]
        model.add_mode(task, [resource for resource, _ in used], time, demands=[amount for _, amount in used])
    for (first, second), delay in least.items():
        model.add_start_before_start(tasks[first], tasks[second], delay)
    return model


def _longest(activities, least):
    """Returns the longest paths between all pairs of starts."""
    paths = [[0 if a == b else least.get((a, b), float("-inf")) for b in range(activities)] for a in range(activities)]
    for through in range(activities):
        for a in range(activities):
            for b in range(activities):
                paths[a][b] = max(paths[a][b], paths[a][through] + paths[through][b])
    return paths


def _jobs(processors, options, source=None):
    """Returns independent jobs. Each option of a job is a number of processors and a time. With `source`, jobs have weights."""
    model = pyjobshop.Model()
    machine = model.add_renewable(processors)
    for at, modes in enumerate(options):
        job = model.add_job(weight=source.randint(1, 9) if source else 1, name=f"j{at}")
        task = model.add_task(job=job, name=f"t{at}")
        for count, time in modes:
            model.add_mode(task, machine, time, demands=count)
    if source:
        model.set_objective(weight_total_flow_time=1, weight_makespan=0)
    return model


def _moldable(source):
    work = source.randint(6, 40)
    return [(count, time) for count, time in ((1, work), (2, work * 3 // 5), (4, work * 2 // 5))]


def _unrelated(source, tasks, machines):
    model = pyjobshop.Model()
    each = [model.add_machine(name=f"m{at}") for at in range(machines)]
    for at in range(tasks):
        task = model.add_task(name=f"t{at}")
        # The adapter accepts no two modes of equal time.
        for machine, time in zip(each, source.sample(range(2, 20), machines)):
            model.add_mode(task, machine, time)
    return model


def _routes(source, jobs, machines):
    return [[(machine, source.randint(1, 20)) for machine in source.sample(range(machines), machines)] for _ in range(jobs)]


def _shop(routes):
    model = pyjobshop.Model()
    machines = [model.add_machine(name=f"m{at}") for at in range(len(routes[0]))]
    for number, route in enumerate(routes):
        job, last = model.add_job(name=f"j{number}"), None
        for machine, time in route:
            task = model.add_task(job=job, name=f"t{number}-{machine}")
            model.add_mode(task, machines[machine], time)
            if last is not None:
                model.add_end_before_start(last, task)
            last = task
    return model


def _open_shop(source, size):
    """Returns tasks in any order: a task needs its machine and its job."""
    model = pyjobshop.Model()
    machines = [model.add_machine(name=f"m{at}") for at in range(size)]
    for number in range(size):
        own = model.add_machine(name=f"job{number}")
        for at, machine in enumerate(machines):
            model.add_mode(model.add_task(name=f"t{number}-{at}"), [machine, own], source.randint(1, 20))
    return model


def _project(source, activities, modes):
    model = pyjobshop.Model()
    workers, cranes = model.add_renewable(4), model.add_renewable(3)
    budget = model.add_consumable(activities * 4) if modes > 1 else None
    tasks = [model.add_task(name=f"a{at}") for at in range(activities)]
    for at, task in enumerate(tasks):
        time, held = source.randint(2, 10), [source.randint(1, 4), source.randint(0, 3)]
        model.add_mode(task, [workers, cranes, *([budget] if budget else [])], time, demands=[*held, *([6] if budget else [])])
        if budget:
            model.add_mode(task, [workers, cranes, budget], time + source.randint(1, 5), demands=[*held, 2])
        for earlier in source.sample(range(at), min(at, source.randint(0, 2))):
            model.add_end_before_start(tasks[earlier], task)
    return model
