// Strong and weak scaling: the times of fits against the number of their ranks.

// Lists of rows, by ascending ranks, that differ in their ranks; `key` is equal within a list.
function rankGroups(rows, key) {
  const timed = rows.filter((row) => row.ranks && row.time);
  return Array.from(groupBy(timed, key).values(), (group) => group.sort((a, b) => a.ranks - b.ranks))
    .filter((group) => group[0].ranks < group[group.length - 1].ranks);
}

// One problem on an increasing number of ranks.
function strongGroups(rows) {
  return rankGroups(rows, (row) => JSON.stringify([row.setting, row.family]));
}

// As many samples for each rank.
function weakGroups(rows) {
  const others = otherAxes();
  return rankGroups(rows, (row) => JSON.stringify([row.family, row.samples / row.ranks, row.features, row.clusters,
    ...others.map((axis) => row.axes[axis.path])]));
}

// Relative to the first row of the group; `weak`: the work grows with the ranks.
function scalingOf(row, first, weak) {
  const grown = row.ranks / first.ranks;
  const speedup = (first.time.value / row.time.value) * (weak ? grown : 1);
  return {time: row.time.value, speedup, efficiency: speedup / grown};
}

function scalingSeries(group, what, weak) {
  const first = group[0];
  const points = group.map((row) => {
    const scaling = scalingOf(row, first, weak);
    return {x: row.ranks, y: scaling[what],
      low: what === 'time' ? row.time.low : null, high: what === 'time' ? row.time.high : null,
      lines: () => rowLines(row).concat(`${weak ? 'scaled speedup' : 'speedup'} ${format.number(scaling.speedup)} over ` +
        `${format.plural(first.ranks, 'rank')}, efficiency ${(scaling.efficiency * 100).toFixed(1)} %`)};
  });
  return {label: first.family, style: styleOf(first.backend), points};
}

// The speedup of ranks that lose no time.
function idealSeries(groups) {
  const counts = unique(groups.flatMap((group) => group.map((row) => row.ranks))).sort((a, b) => a - b);
  const points = counts.map((count) => ({x: count, y: count / counts[0], lines: () => ['ideal',
    `${format.number(count / counts[0])} on ${format.plural(count, 'rank')}`]}));
  return {label: 'ideal', points, style: {colour: 'var(--soft)', dash: '4 4', symbol: d3.symbolCircle}};
}

function weakTitle(row) {
  return [`${format.count(row.samples / row.ranks)} samples per rank`,
    ...['features', 'clusters'].filter((size) => varyingSizes().includes(size))
      .map((size) => `${format.count(row[size])} ${size}`),
    ...otherAxes().map((axis) => `${axis.header} ${axisText(row.axes[axis.path])}`)].join(', ');
}

// figure: {id, title, note, groups(rows), panel(row), weak}
function addScalingFigure(figure) {
  if (figure.groups(data.rows).length === 0) return;
  const labels = {time: unit, speedup: 'speedup', efficiency: 'efficiency'};
  let what = 'time';
  const draw = (svg, width) => {
    const panels = Array.from(groupBy(figure.groups(visible.rows), (group) => figure.panel(group[0])),
      ([title, groups]) => ({title, series: groups.map((group) => scalingSeries(group, what, figure.weak))
        .concat(what === 'speedup' ? [idealSeries(groups)] : [])}));
    return drawLineChart(svg, width, {panels, xLabel: 'ranks', yLabel: labels[what], xLog: true,
      yLog: what !== 'efficiency', sharedX: true, sharedY: what !== 'time',
      references: what === 'efficiency' ? [{y: 0}, {y: 1}] : []});
  };
  const controls = [choice('Show', [['time', 'time'], ['speedup', 'speedup'], ['efficiency', 'efficiency']],
    (value) => { what = value; redraw(); })];
  const redraw = addFigure(figure.id, figure.title, figure.note, controls, draw);
}

function addScaling() {
  addScalingFigure({id: 'strong-scaling', title: 'Strong scaling', weak: false,
    groups: strongGroups, panel: (row) => row.place,
    note: 'One problem on an increasing number of ranks. The speedup is relative to the fewest ranks; the efficiency is ' +
      'the speedup divided by the factor by which the ranks grew.'});
  addScalingFigure({id: 'weak-scaling', title: 'Weak scaling', weak: true,
    groups: weakGroups, panel: weakTitle,
    note: 'Problems with the same number of samples per rank. Ideally the time does not depend on the number of ranks ' +
      '(efficiency 1). The scaled speedup is the efficiency times the factor by which the ranks grew.'});
}
