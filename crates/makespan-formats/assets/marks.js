// What is pointed out: tasks that collided with others, and by when jobs have to end.

const MARK = 8;

function fillPath(pen, colour, points) {
  pen.fillStyle = colour;
  pen.beginPath();
  points.forEach(([x, y], at) => (at ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.fill();
}

/** A dark corner in each task that collided: jobs have light colours in both schemes. */
function drawCorners(pen, schedule, rows) {
  for (const i of schedule.marks.keys()) {
    if (schedule.end[i] <= view.from || schedule.start[i] >= view.to) continue;
    const x = xOf(schedule.start[i]);
    const y = yOf(rows, schedule.processors[i][0] ?? 0);
    const size = Math.min(MARK, xOf(schedule.end[i]) - x, rowHeight(rows));
    fillPath(pen, "#111111", [[x, y], [x + size, y], [x, y + size]]);
  }
}

/** A triangle above the rows at each deadline, in the colour of its job and framed. */
function drawDeadlines(pen, schedule, rows) {
  for (const [time, missed, job] of schedule.deadlines) {
    if (time < view.from || time > view.to) continue;
    const [x, y] = [xOf(time), rows.top];
    const corners = [[x, y], [x - MARK / 2, y - MARK + 1], [x + MARK / 2, y - MARK + 1]];
    fillPath(pen, data.colours[colourOf(job)], corners);
    pen.closePath();
    pen.strokeStyle = missed ? page.colours.missed : page.colours.soft;
    pen.lineWidth = missed ? 1.8 : 1;
    pen.stroke();
  }
}
