// The summary as a sortable, filterable table. The filter applies to the charts too.
const quantityHeaders = {speedup: 'speedup', ms_per_iteration: 'ms/iteration', ms_per_fit: 'ms/fit',
  transfer_ms_per_iteration: 'transfer', assignment_ms_per_iteration: 'assignment',
  update_ms_per_iteration: 'update', overhead_ms: 'overhead', gflop_per_s: 'GFLOP/s', gb_per_s: 'GB/s'};

// Columns: header, text(row), and, for numbers, value(row), null if there is none.
function tableColumns() {
  const columns = data.axes.map((axis) => {
    const numeric = data.rows.every((row) => isNumeral(row.axes[axis.path]));
    return {header: axis.header, number: numeric, text: (row) => axisText(row.axes[axis.path]),
      value: numeric ? (row) => Number(row.axes[axis.path]) : null};
  });
  const add = (header, value, text) => columns.push({header, number: true, value,
    text: text || ((row) => (value(row) === null ? '' : format.number(value(row))))});
  columns.push({header: 'backend', text: (row) => (row.marked ? `${row.backend} *` : row.backend)});
  add(unit, (row) => (row.time ? row.time.value : null));
  add('interval', (row) => (row.time ? row.time.low : null), (row) =>
    (row.time && row.trials > 1 ? `${format.number(row.time.low)} – ${format.number(row.time.high)}` : ''));
  // Placed before the columns that may exceed the page's width.
  if (data.baseline) {
    columns.push({header: 'speedup', number: true, words: true,
      value: (row) => (row.speedup ? row.speedup.value : null), text: (row) => row.comparison || ''});
  }
  // Both are missing if there are fewer trials than an interval needs.
  if (data.rows.some((row) => Number.isFinite(row.spread))) {
    add('spread', (row) => row.spread ?? null, (row) =>
      (Number.isFinite(row.spread) ? `${(100 * row.spread).toFixed(1)} %` : ''));
  }
  if (data.rows.some((row) => row.outliers > 0)) {
    add('outliers', (row) => row.outliers || null, (row) =>
      (row.outliers > 0 ? `${row.outliers} of ${row.times.length}` : ''));
  }
  add('iterations', (row) => (row.iterations ? row.iterations[1] : null), (row) =>
    (row.iterations ? unique(row.iterations).join('–') : ''));
  if (data.mark) add('ms/fit', (row) => (row.time ? row.fit_ms : null));
  add('inertia', (row) => (row.time ? row.inertia : null), (row) => (row.time ? format.inertia(row.inertia) : ''));
  for (const [header, key] of [['ARI', 'adjusted_rand_index'], ['silhouette', 'simplified_silhouette']]) {
    if (!data.rows.some((row) => Number.isFinite(row[key]))) continue;
    add(header, (row) => row[key] ?? null, (row) => (Number.isFinite(row[key]) ? row[key].toFixed(3) : ''));
  }
  if (data.rows.some((row) => row.gflop_per_s)) {
    add('GFLOP/s', (row) => row.gflop_per_s || null);
    add('GB/s', (row) => row.gb_per_s || null);
  }
  for (const quantity of publishedQuantities()) {
    columns.push({header: `published ${quantityHeaders[quantity]}`, number: true, words: true,
      value: (row) => publishedNumber(row, quantity), text: (row) => publishedText(row, quantity)});
  }
  if (data.rows.some((row) => row.problem)) {
    columns.push({header: 'problem', text: (row) => row.problem || '', problem: true});
  }
  columns.forEach((column) => { column.measured = column.number && !/^published /.test(column.header); });
  data.axes.forEach((axis, index) => { columns[index].measured = false; });
  return columns;
}

// The cells of a row. A row without a time shows the reason instead of measurements.
function rowCells(row, columns) {
  const cell = (column) => h('td', {class: cellClass(column, row)}, column.text(row));
  if (row.time || !row.problem) return columns.map(cell);
  const measured = columns.filter((column) => column.measured);
  return columns.flatMap((column) => {
    if (column === measured[0]) return [h('td', {class: 'problem', colspan: measured.length}, row.problem)];
    return column.measured ? [] : [cell(column)];
  });
}

// Rows without a value come last in both directions.
function sortedRows(rows, column, direction) {
  if (!column) return rows;
  return rows.slice().sort((a, b) => {
    if (!column.value) return direction * column.text(a).localeCompare(column.text(b), 'en', {numeric: true});
    const [first, second] = [column.value(a), column.value(b)];
    if (first === null || second === null) return (first === null) - (second === null);
    return direction * (first - second);
  });
}

function addTable() {
  const all = tableColumns(); // including columns that are hidden
  const columns = all.filter((column) => !column.problem || data.rows.some((row) => row.time && row.problem));
  const sort = {column: null, direction: 1};
  const body = h('tbody', {});
  const count = h('span', {class: 'count', 'aria-live': 'polite'});
  const headers = columns.map((column) => {
    const arrow = h('span', {class: 'arrow', 'aria-hidden': 'true'});
    const header = h('th', {scope: 'col', class: column.number ? 'number' : null, 'aria-sort': 'none'},
      h('button', {type: 'button', title: `Sort by ${column.header}`, onclick: () => sortBy(column)}, ...(column.number ? [arrow, column.header] : [column.header, arrow])));
    return header;
  });

  function show() {
    const rows = sortedRows(visible.rows, sort.column, sort.direction);
    body.replaceChildren(...rows.map((row) => h('tr', {class: row.baseline ? 'baseline' : null},
      rowCells(row, columns))));
    count.textContent = `${visible.rows.length} of ${format.plural(data.rows.length, 'row')}`;
    return rows;
  }
  function sortBy(column) {
    sort.direction = sort.column === column ? -sort.direction : 1;
    sort.column = column;
    headers.forEach((header, index) => {
      const sorted = columns[index] === column;
      header.setAttribute('aria-sort', !sorted ? 'none' : sort.direction > 0 ? 'ascending' : 'descending');
      header.querySelector('.arrow').textContent = !sorted ? '' : sort.direction > 0 ? '↑' : '↓';
    });
    show();
  }
  const filter = h('input', {type: 'search', id: 'filter', placeholder: 'Filter rows', 'aria-label': 'Filter rows by words',
    oninput: () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter((word) => word);
      visible.set(data.rows.filter((row) => words.every((word) => row.text.includes(word))));
    }});
  visible.listeners.push(show);
  const table = h('table', {}, h('thead', {}, h('tr', {}, headers)), body);
  const scroll = h('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Summary table'}, table);
  addPart('summary', 'Summary', tableNote(),
    h('div', {class: 'controls'}, filter, count,
      copyButton('Copy as TSV', () => asTsv(all, show())),
      copyButton('Copy as Markdown', () => asMarkdown(all, show())), outOfViewNote(scroll, table, headers)),
    scroll);
  show();
}

// Says how many columns are out of view, and shades the edges that hide them, because scrollbars may be invisible.
function outOfViewNote(scroll, table, headers) {
  const note = h('span', {class: 'out-of-view'});
  const update = () => {
    const frame = scroll.getBoundingClientRect();
    const boxes = headers.map((header) => header.getBoundingClientRect());
    const left = boxes.filter((box) => box.left < frame.left - 1).length;
    const right = boxes.filter((box) => box.right > frame.right + 1).length;
    scroll.classList.toggle('cut-left', left > 0);
    scroll.classList.toggle('cut-right', right > 0);
    note.textContent = left + right === 0 ? ''
      : `${format.plural(left + right, 'column')} out of view: scroll the table sideways`;
  };
  scroll.addEventListener('scroll', update);
  const observer = new ResizeObserver(update);
  observer.observe(scroll);
  observer.observe(table);
  return note;
}

// Numbers stay on one line; reasons that replace a number are wrapped.
function cellClass(column, row) {
  if (column.problem) return 'problem';
  if (column.words && column.value(row) !== null) return 'number';
  if (column.words) return 'number words';
  return column.number ? 'number' : null;
}

function tableNote() {
  const filter = 'The filter also chooses what the charts show.';
  const {fewest, most, for_interval: least} = data.trials;
  if (most === 0) return filter;
  const range = fewest < least ? ` (of fewer than ${least} trials: their range)` : '';
  const meaning = most < least ? 'the interval is their range'
    : `the interval holds the true median with 95 %${range}; spread is that of one trial`;
  return [`${unit}: median of ${trialsText()}; ${meaning}.`, markNote, filter].filter((text) => text).join(' ');
}
