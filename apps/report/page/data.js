// The data of the page, and queries of the charts.
const data = JSON.parse(document.getElementById('data').textContent);
const unit = data.per_iteration ? 'ms/iteration' : 'ms/fit';

data.rows.forEach((row, index) => {
  row.index = index;
  row.place = settingText(row);
  row.text = [row.place, row.backend, row.problem || ''].join(' ').toLowerCase();
});
// The footnote of rows whose iterations evaluate fewer distances.
const markNote = data.mark ? `* ${data.mark}.` : '';
const backends = unique(data.rows.map((row) => row.backend));

function unique(values) {
  return Array.from(new Set(values));
}

// Map from key to its items, in the order of first occurrence.
function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) {
    const name = key(item);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(item);
  }
  return groups;
}

// "samples 10,000 · clusters 8": the values of the varying axes.
function settingText(row) {
  return data.axes.map((axis) => `${axis.header} ${axisText(row.axes[axis.path])}`).join(' · ');
}

function axisText(value) {
  return isNumeral(value) ? format.count(Number(value)) : value;
}

function isNumeral(text) {
  return text !== '' && Number.isFinite(Number(text));
}

// The rows that pass the filter; charts show only these.
const visible = {
  rows: data.rows,
  listeners: [],
  set(rows) {
    this.rows = rows;
    this.listeners.forEach((listener) => listener());
  },
};
