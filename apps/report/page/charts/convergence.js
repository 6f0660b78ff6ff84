// Inertia over time, from the traced fits: a panel for each setting.
function traceSeries(row, best) {
  const trace = row.trace;
  const points = trace.inertia.map((inertia, index) => ({
    x: trace.elapsed_ms[index], y: inertia / best, order: index,
    lines: () => [row.backend, row.place,
      `after ${format.plural(trace.iteration[index], 'iteration')}: ${format.number(trace.elapsed_ms[index])} ms`,
      `inertia ${format.inertia(inertia)}, ${((inertia / best - 1) * 100).toFixed(3)} % above the lowest`,
      trace.shift[index] === null ? '' : `squared shift of the centroids ${format.number(trace.shift[index])}`]
      .filter((line) => line)}));
  return {label: row.backend, style: styleOf(row.backend), points};
}

function addConvergence() {
  if (!data.rows.some((row) => row.trace)) return;
  let log = true;
  const controls = [choice('Time', [['log', 'logarithmic'], ['linear', 'linear']],
    (value) => { log = value === 'log'; redraw(); })];
  const draw = (svg, width) => {
    const traced = visible.rows.filter((row) => row.trace);
    const panels = Array.from(groupBy(traced, (row) => panelTitle(row, null)), ([title, rows]) => {
      const best = d3.min(rows, (row) => d3.min(row.trace.inertia)) || 1;
      return {title, series: rows.map((row) => traceSeries(row, best))};
    });
    const yLog = d3.max(pointsOf(panels), (point) => point.y) > 4;
    return drawLineChart(svg, width, {panels, xLabel: 'milliseconds since the loop began',
      yLabel: 'inertia / lowest', xLog: log, yLog, yLeast: 1.02, sharedX: false, sharedY: false, small: true,
      references: []});
  };
  const redraw = addFigure('convergence', 'Time to inertia',
    'How low the inertia was at what time of the loop: one more fit of each row, watched and not timed ' +
    'with the others. Inertia is relative to the lowest that any backend reached in the setting; a ' +
    'logarithmic axis leaves out the start, at 0 ms.', controls, draw);
}
