// Published numbers beside the measured ones.
function publishedQuantities() {
  const known = Object.keys(quantityHeaders);
  const used = unique(data.rows.flatMap((row) => row.published.map((published) => published.quantity)));
  return known.filter((quantity) => used.includes(quantity));
}

function publishedOf(row, quantity) {
  return row.published.find((published) => published.quantity === quantity);
}

function publishedNumber(row, quantity) {
  const published = publishedOf(row, quantity);
  return published && typeof published.value === 'number' ? published.value : null;
}

function publishedText(row, quantity) {
  const published = publishedOf(row, quantity);
  if (!published) return '';
  return typeof published.value === 'number' ? format.number(published.value) : published.value;
}

// The measured value of a quantity; null if it was not measured.
function measuredOf(row, quantity) {
  const phase = {transfer_ms_per_iteration: 'transfer', assignment_ms_per_iteration: 'assignment',
    update_ms_per_iteration: 'update'}[quantity];
  if (phase) return row.phases ? row.phases[phase] : null;
  if (quantity === 'speedup') return row.speedup ? row.speedup.value : null;
  if (quantity === 'overhead_ms') return row.phases ? row.phases.overhead * row.iterations[1] : null;
  if (quantity === 'gflop_per_s' || quantity === 'gb_per_s') return row[quantity] || null;
  if (!row.time) return null;
  if (quantity === 'ms_per_fit') return row.fit_ms;
  return quantity === 'ms_per_iteration' && data.per_iteration ? row.time.value : null;
}

function addPublished() {
  if (data.sources.length === 0) return;
  const theirs = {colour: 'var(--series-2)', symbol: d3.symbolDiamond, hollow: true, unlinked: true};
  const ours = {colour: 'var(--series-1)', symbol: d3.symbolCircle, unlinked: true};
  for (const quantity of publishedQuantities()) {
    if (!data.rows.some((row) => publishedNumber(row, quantity) > 0)) continue;
    const header = quantityHeaders[quantity];
    const dots = (row) => {
      const number = publishedNumber(row, quantity);
      if (!(number > 0)) return [];
      const measured = measuredOf(row, quantity);
      const published = {style: theirs, value: number, lines: () => [row.backend, row.place,
        `published ${header} ${format.number(number)}`, publishedOf(row, quantity).source].filter((line) => line)};
      return measured > 0 ? [published, {style: ours, value: measured, lines: () => rowLines(row)}] : [published];
    };
    addFigure(`published-${quantity}`, `Published ${header} beside ours`,
      'Ours is missing where the backend could not run here or has no speedup.', [], (svg, width) =>
        drawRowChart(svg, width, {rows: visible.rows, dots, label: header, references: [],
          legend: [[theirs, 'published'], [ours, 'ours']]}));
  }
  addPart('sources', 'Sources of published numbers', null, h('ul', {}, data.sources.map((source) =>
    h('li', {}, [source.quantity ? quantityHeaders[source.quantity] : null, source.source, source.note]
      .filter((part) => part).join(': ')))));
}
