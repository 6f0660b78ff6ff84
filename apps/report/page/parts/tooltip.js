// One tooltip for all marks, by mouse or by the arrow keys of a focused chart.
const tooltip = {
  box: document.getElementById('tooltip'),
  announce: document.getElementById('announce'),
  // `lines`: the first is a heading. `rect`: the mark's rectangle in the window.
  show(lines, rect) {
    this.box.replaceChildren(h('b', {}, lines[0]), ...lines.slice(1).map((line) => h('div', {}, line)));
    this.box.hidden = false;
    const width = this.box.offsetWidth;
    const height = this.box.offsetHeight;
    const middle = rect.left + rect.width / 2;
    const left = Math.max(8, Math.min(middle - width / 2, document.documentElement.clientWidth - width - 8));
    const above = rect.top - height - 10;
    this.box.style.left = `${left + window.scrollX}px`;
    this.box.style.top = `${(above < 4 ? rect.bottom + 10 : above) + window.scrollY}px`;
  },
  hide() {
    this.box.hidden = true;
  },
};

// The tooltip's lines for a row: its measurements and all its timings.
function rowLines(row) {
  const lines = [row.backend];
  if (row.place) lines.push(row.place);
  if (row.problem) lines.push(row.problem);
  if (!row.time) return lines;
  const interval = row.times.length < data.trials.for_interval ? 'range' : 'interval';
  lines.push(`median ${format.number(row.time.value)} ${unit}, ` +
    `${interval} ${format.number(row.time.low)} to ${format.number(row.time.high)}`);
  if (row.marked) lines.push(`fewer distances: compare its whole fits, median ${format.number(row.fit_ms)} ms/fit`);
  lines.push(`${format.plural(row.times.length, 'sample')}: ${row.times.map(format.number).join(', ')}`);
  if (row.speedup) {
    const {value, low, high} = row.speedup;
    lines.push(`speedup ${format.number(value)}, interval ${format.number(low)} to ${format.number(high)}`);
    if (/[a-z]/.test(row.comparison)) lines.push(row.comparison); // a caveat in words
  } else if (row.comparison) {
    lines.push(row.baseline ? 'baseline' : `no speedup: ${row.comparison}`);
  }
  lines.push(`inertia ${format.inertia(row.inertia)} after ${iterationsText(row)}`);
  return lines;
}

function iterationsText(row) {
  const [fewest, most] = row.iterations;
  return fewest === most ? format.plural(most, 'iteration') : `${fewest} to ${most} iterations`;
}

// Shows `lines()` when the mark is hovered or reached by the arrow keys of the chart.
function explain(mark, lines) {
  const node = mark.node();
  node.explanation = lines;
  node.classList.add('explained');
  node.addEventListener('mouseenter', () => tooltip.show(lines(), node.getBoundingClientRect()));
  node.addEventListener('mouseleave', () => tooltip.hide());
}

function walkMarks(svg) {
  let at = -1;
  const leave = () => {
    svg.querySelectorAll('.active').forEach((mark) => mark.classList.remove('active'));
    tooltip.hide();
  };
  svg.addEventListener('blur', leave);
  svg.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (event.key === 'Escape') leave();
    if (step === undefined) return;
    event.preventDefault();
    const all = svg.querySelectorAll('.explained');
    if (all.length === 0) return;
    leave();
    at = at < 0 ? (step > 0 ? 0 : all.length - 1) : (at + step + all.length) % all.length;
    const lines = all[at].explanation();
    all[at].classList.add('active');
    tooltip.show(lines, all[at].getBoundingClientRect());
    tooltip.announce.textContent = lines.join('; ');
  });
}
