// Quality of the clusters over k: a panel for each criterion of each data set. A mark is the median of the seeds.
const seedPath = 'seeding.seed';
const agreementTolerance = 1e-3; // backends that differ by at most this share a line
const maxNames = 8; // of backends in a label

// range(row): the lowest and the highest value of the row's trials. scale(value): what `agreementTolerance` is relative
// to.
const criteria = [
  {name: 'inertia', label: 'inertia (look for the bend)', value: (row) => row.inertia,
    range: (row) => row.inertia_range, scale: Math.abs, text: format.inertia},
  ...[['silhouette', 'simplified silhouette', 'simplified_silhouette'],
    ['ARI', 'adjusted Rand index', 'adjusted_rand_index']].map(([name, label, key]) =>
    ({name, label: `${label} (higher is better)`, value: (row) => row[key], range: (row) => [row[key], row[key]],
      scale: () => 1, text: (value) => value.toFixed(4)})),
];

function hasCriterion(row, criterion) {
  return Number.isFinite(criterion.value(row));
}

function agree(row, other) {
  return criteria.filter((criterion) => hasCriterion(row, criterion) && hasCriterion(other, criterion))
    .every((criterion) => {
      const theirs = [criterion.value(other), ...criterion.range(other)];
      return [criterion.value(row), ...criterion.range(row)].every((value, index) =>
        Math.abs(value - theirs[index]) <= agreementTolerance * criterion.scale(theirs[index]));
    });
}

// The backends as groups {backends, rows, byPlace} that agree wherever they share a data set, a k and a seed; a group's
// `byPlace` has one row for each of these.
function agreeingGroups(rows) {
  const place = (row) => JSON.stringify([row.panel, row.clusters, row.axes[seedPath]]);
  const groups = [];
  for (const [backend, own] of groupBy(rows, (row) => row.backend)) {
    let group = groups.find(({byPlace}) => {
      const shared = own.filter((row) => byPlace.has(place(row)));
      return shared.length > 0 && shared.every((row) => agree(row, byPlace.get(place(row))));
    });
    if (!group) groups.push(group = {backends: [], rows: [], byPlace: new Map()});
    group.backends.push(backend);
    group.rows.push(...own);
    own.filter((row) => !group.byPlace.has(place(row))).forEach((row) => group.byPlace.set(place(row), row));
  }
  return groups;
}

function namesText(names) {
  const rest = names.length - maxNames;
  return rest > 0 ? `${names.slice(0, maxNames).join(', ')} and ${rest} more` : names.join(', ');
}

// The mark of rows that differ in their seeds only. `names`: the backends with this mark.
function criterionPoint(criterion, seeds, names) {
  const {clusters, panel} = seeds[0];
  const values = seeds.map(criterion.value);
  const [y, low, high] = [d3.median(values), d3.min(seeds, (row) => criterion.range(row)[0]),
    d3.max(seeds, (row) => criterion.range(row)[1])];
  const {name, text} = criterion;
  const range = low < high ? `, range ${text(low)} to ${text(high)}` : '';
  const lines = () => [namesText(names), panel, `k = ${format.count(clusters)}`].concat(seeds.length > 1
    ? [`${name}: median of ${seeds.length} seeds ${text(y)}${range}`,
      `seeds ${seeds.map((row) => row.axes[seedPath]).join(', ')}: ${values.map(text).join(', ')}`]
    : [`${name} ${text(y)}${range}`]).filter((line) => line);
  return {x: clusters, y, low, high, lines};
}

function criterionSeries(criterion, panel, group) {
  const inPanel = (row) => row.panel === panel && hasCriterion(row, criterion);
  const backendsOf = groupBy(group.rows.filter(inPanel), (row) => row.clusters);
  const points = Array.from(groupBy(Array.from(group.byPlace.values()).filter(inPanel), (row) => row.clusters),
    ([clusters, seeds]) => criterionPoint(criterion, seeds, unique(backendsOf.get(clusters).map((row) => row.backend))));
  return {label: namesText(group.backends), style: styleOf(group.backends[0]), points};
}

function criteriaPanels(rows) {
  const measured = rows.filter((row) => row.time && hasCriterion(row, criteria[0]));
  const groups = agreeingGroups(measured);
  return criteria.flatMap((criterion) => Array.from(groupBy(measured, (row) => row.panel), ([title, own]) => {
    const counts = unique(own.filter((row) => hasCriterion(row, criterion)).map((row) => row.clusters));
    return counts.length < 2 ? null : {title, yLabel: criterion.label,
      series: groups.map((group) => criterionSeries(criterion, title, group)).filter(({points}) => points.length > 0)};
  })).filter((panel) => panel);
}

function addCriteria() {
  if (!varyingSizes().includes('clusters')) return;
  data.rows.forEach((row) => { row.panel = panelTitle(row, 'clusters', [seedPath]); });
  const drawn = criteriaPanels(data.rows);
  if (drawn.length === 0) return;
  const [least, most] = d3.extent(pointsOf(drawn), (point) => point.x);
  const scales = [['linear', 'linear'], ['log', 'logarithmic']];
  if (most > 10 * least) scales.reverse();
  let log = scales[0][0] === 'log';
  const seeds = data.axes.some((axis) => axis.path === seedPath) ? 'Median and range of the seeds. ' : '';
  const redraw = addFigure('criteria', 'Quality over k',
    `The criteria of the final clusters over their number k. ${seeds}Backends whose values differ by at most 0.1 % ` +
    'of the inertia, and 0.001 of other criteria, share a line.',
    [choice('k', scales, (value) => { log = value === 'log'; redraw(); })], (svg, width) =>
      drawLineChart(svg, width, {panels: criteriaPanels(visible.rows), xLabel: 'k', xLog: log, yLog: false,
        sharedX: true, sharedY: false, xTight: true, references: [], empty: 'Nothing to draw: these rows have no two values of k.'}));
}
