// Charts over samples, features or clusters, if one of them varies; other axes become small multiples. Several data
// sets have a panel each: their sizes differ, but are not an axis of the experiment.
const sizes = ['samples', 'features', 'clusters'];

function varyingSizes() {
  return sizes.filter((size) => unique(data.rows.map((row) => row[size])).length > 1);
}

// The axis whose values are data sets, if there is one.
const datasetAxis = data.axes.find((axis) => axis.path === 'dataset' || axis.path === 'dataset.file');

function datasetText(row) {
  return axisText(row.axes[datasetAxis.path]);
}

// The sizes that vary within a data set; without an axis of data sets, all that vary.
function sizesWithin() {
  if (!datasetAxis) return varyingSizes();
  const groups = Array.from(groupBy(data.rows, datasetText).values());
  return sizes.filter((size) => groups.some((rows) => unique(rows.map((row) => row[size])).length > 1));
}

// Axes of the sweep whose values do not follow from the three sizes.
function otherAxes() {
  return data.axes.filter((axis) => {
    const bySizes = groupBy(data.rows, (row) => sizes.map((size) => row[size]).join(' '));
    return Array.from(bySizes.values()).some((rows) => unique(rows.map((row) => row.axes[axis.path])).length > 1);
  });
}

// `pooled`: paths of axes whose values share a panel.
function panelTitle(row, x, pooled = []) {
  const others = otherAxes().filter((axis) => !pooled.includes(axis.path));
  if (datasetAxis && (!x || sizesWithin().includes(x))) {
    return [datasetText(row)].concat(
      sizesWithin().filter((size) => size !== x).map((size) => `${format.count(row[size])} ${size}`),
      others.filter((axis) => axis !== datasetAxis)
        .map((axis) => `${axis.header} ${axisText(row.axes[axis.path])}`)).join(', ');
  }
  return varyingSizes().filter((size) => size !== x).map((size) => `${format.count(row[size])} ${size}`)
    .concat(others.map((axis) => `${axis.header} ${axisText(row.axes[axis.path])}`)).join(', ');
}

// What a chart can be drawn over, the default first: the varying sizes, the one with most values first; sizes in which
// only data sets differ come last. '' means one row per setting.
function sizesByValues() {
  const count = (size) => unique(data.rows.map((row) => row[size])).length;
  const byCount = (a, b) => count(b) - count(a);
  const within = sizesWithin().sort(byCount);
  const between = varyingSizes().filter((size) => !within.includes(size)).sort(byCount);
  return (within.length > 0 || between.length === 0 ? within : ['']).concat(between);
}

// metric: {id, title, note, value(row): {value, low, high} or null, label, references(rows): [{y, label}]}
function addBySize(metric) {
  if (!data.rows.some((row) => metric.value(row))) return;
  const choices = sizesByValues();
  const references = metric.references || (() => []);
  let x = choices[0];
  const point = (row) => {
    const value = metric.value(row);
    return {x: row[x], y: value.value, low: value.low, high: value.high, lines: () => rowLines(row)};
  };
  const draw = (svg, width) => {
    const rows = visible.rows.filter((row) => metric.value(row));
    if (!x) {
      return drawRowChart(svg, width, {rows, label: metric.label,
        references: references(rows).map(({y, label}) => ({value: y, label})),
        dots: (row) => [{...metric.value(row), style: styleOf(row.backend), lines: () => rowLines(row)}]});
    }
    const panels = Array.from(groupBy(rows, (row) => panelTitle(row, x)), ([title, inPanel]) => ({title,
      references: references(inPanel),
      series: Array.from(groupBy(inPanel, (row) => row.backend), ([backend, inSeries]) =>
        ({label: backend, style: styleOf(backend), points: inSeries.map(point)}))}));
    return drawLineChart(svg, width, {panels, xLabel: x, yLabel: metric.label,
      xLog: true, yLog: true, sharedX: true, sharedY: true, references: references(rows)});
  };
  const controls = choices.length > 1
    ? [choice('By', choices.map((size) => [size, size || datasetAxis.header]), (size) => { x = size; redraw(); })] : [];
  const redraw = addFigure(metric.id, metric.title, metric.note, controls, draw);
}

function addSpeedup() {
  if (!data.baseline) return;
  addBySize({id: 'speedup', title: `Speedup over ${data.baseline}`, label: 'speedup',
    note: 'How many times the baseline’s time. No speedup is drawn where the results do not agree. ' +
      'Medians and intervals of the ratios of trials of one round.' +
      (data.mark ? ' Where one of the two evaluates fewer distances they are of whole fits, else of iterations.' : ''),
    value: (row) => row.speedup || null, references: () => [{y: 1}]});
}

function addTime() {
  addBySize({id: 'time', title: data.per_iteration ? 'Time per iteration' : 'Time per fit', label: unit,
    note: ['Median and interval; every sample is in the tooltip of its mark.', markNote].filter((text) => text).join(' '),
    value: (row) => row.time || null});
}

// Reference lines for one rate of the measured ceilings; `of`: what it is the rate of, may be empty.
function ceilingsOf(rate, of) {
  if (!data.ceilings) return [];
  const name = `ceiling${of ? ` for ${of}` : ''}`;
  return [{y: rate.all_threads, label: `${name}, ${format.plural(data.ceilings.threads, 'thread')}`},
    {y: rate.one_thread, label: `${name}, one thread`}]
    .filter((reference, index) => index === 0 || data.ceilings.threads > 1);
}

function ceilingsText() {
  if (!data.ceilings) {
    return ' No ceilings are drawn: give lloyd report --ceilings the output of lloyd doctor --json.';
  }
  const cpu = data.ceilings.cpu || 'a processor without a name';
  const same = data.machines.every((machine) => machine.cpu === data.ceilings.cpu);
  return ` Ceilings were measured on ${cpu} by lloyd doctor${same ? '' : ', which is not the processor of the records'}.`;
}

// Those of the types of these rows, by name if the report has both.
function arithmeticCeilings(rows) {
  if (!data.ceilings) return [];
  const several = unique(data.rows.map((row) => row.dtype)).length > 1;
  return ['float32', 'float64'].filter((dtype) => rows.some((row) => row.dtype === dtype))
    .flatMap((dtype) => ceilingsOf(data.ceilings[`${dtype}_gflops`], several ? dtype : ''));
}

function addRates() {
  const value = (key) => (row) => (row[key] ? {value: row[key]} : null);
  addBySize({id: 'gflops', title: 'Arithmetic: GFLOP/s', label: 'GFLOP/s', value: value('gflop_per_s'),
    note: 'nk(3d + 2) + d(n + k) operations per iteration, the same count for all backends.' + ceilingsText(),
    references: arithmeticCeilings});
  addBySize({id: 'gbs', title: 'Data: GB/s', label: 'GB/s', value: value('gb_per_s'),
    note: 'nkd features read per iteration, each sample once for every centroid: a backend that keeps ' +
      'samples in caches or registers passes the ceiling of its memory.' + ceilingsText(),
    references: () => (data.ceilings ? ceilingsOf(data.ceilings.read_gbs) : [])});
}
