// Inertia against time, where the results of a setting differ: a panel for each setting.
const minDifference = 1e-3; // relative; smaller differences of the inertia are not worth a chart

// The rows that no other row of the setting beats in both time and inertia, by ascending time.
function paretoFront(rows) {
  const front = [];
  for (const row of rows.slice().sort((a, b) => a.fit_ms - b.fit_ms || a.inertia - b.inertia)) {
    if (front.length === 0 || row.inertia < front[front.length - 1].inertia) front.push(row);
  }
  return front;
}

function qualityPanels(rows) {
  const measured = rows.filter((row) => row.time && row.fit_ms > 0 && row.inertia > 0);
  return Array.from(groupBy(measured, (row) => row.setting), ([, own]) => {
    const best = d3.min(own, (row) => row.inertia);
    const point = (row) => ({x: row.fit_ms, y: row.inertia / best, lines: () => rowLines(row).concat(
      `inertia ${format.inertia(row.inertia)}, ${((row.inertia / best - 1) * 100).toFixed(2)} % above the lowest`)});
    const front = {label: 'not beaten in both', points: paretoFront(own).map(point),
      style: {colour: 'var(--soft)', dash: '4 4', symbol: d3.symbolCircle}};
    const series = own.map((row) => ({label: row.backend, points: [point(row)],
      style: {...styleOf(row.backend), unlinked: true}}));
    return {title: own[0].place, differs: d3.max(own, (row) => row.inertia) / best - 1 > minDifference,
      series: [front, ...series]};
  }).filter((panel) => panel.differs);
}

function addQuality() {
  if (qualityPanels(data.rows).length === 0) return;
  addFigure('quality', 'Inertia against time',
    'Settings in which the backends end with different inertias: the median time of a whole fit, and the final ' +
    'inertia relative to the lowest in the setting. Lower and further to the left is better; the dashed line joins ' +
    'the rows that no other beats in both.', [], (svg, width) => {
      const panels = qualityPanels(visible.rows);
      return drawLineChart(svg, width, {panels, xLabel: 'ms/fit', yLabel: 'inertia / lowest', xLog: true,
        yLog: d3.max(pointsOf(panels), (point) => point.y) > 4, yLeast: 1.02, sharedX: false, sharedY: false,
        references: []});
    });
}
