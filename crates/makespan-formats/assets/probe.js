// For tests and measurements: the chart (null if the page has none), and the time that a full picture takes, in milliseconds.

window.makespan = {
  chart,
  model,
  view: chart?.view,
  schedules: model.schedules,
  /** Returns the centre of a placement on the stage. */
  point: (schedule, i) => [
    chart.xOf((model.schedules[schedule].start[i] + model.schedules[schedule].end[i]) / 2),
    chart.yOf(chart.panelOf({ schedule }), chart.rows.of(model.schedules[schedule].spans[2 * model.schedules[schedule].first[i]]) + 0.5),
  ],
  slackOf,
  timeRedraw: () => {
    const begin = performance.now();
    chart.again();
    return performance.now() - begin;
  },
  /** Time of the first picture, in milliseconds after the page began to load. */
  first: performance.now(),
};
