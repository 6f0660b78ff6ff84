// The summary in sentences.
function showWords() {
  const where = data.machines.map((machine) => machine.cpu).filter((cpu) => cpu);
  document.getElementById('subtitle').textContent =
    `k-means compared · run ${data.run}${where.length > 0 ? ` · ${where.join(', ')}` : ''}`;
  const facts = data.facts.map((text) => h('p', {class: 'facts'}, text));
  const paragraphs = [...facts, ...[coverageText(), ...speedupTexts()].map((text) => h('p', {}, text))];
  for (const text of warningTexts()) paragraphs.push(h('p', {class: 'warning'}, text));
  document.getElementById('words').append(...paragraphs);
  document.getElementById('footer').append(
    `Made by Lloyd ${data.lloyd} at ${data.made} from ${data.file}. ` +
    'Charts by D3; its licence is in this page’s source.');
}

function coverageText() {
  const settings = unique(data.rows.map((row) => row.setting)).length;
  const repeats = data.trials.most > 0 ? `, ${trialsText()} of each with the median shown` : '';
  const axes = data.axes.map((axis) => axis.header);
  const swept = axes.length > 0 ? ` (sweep over ${axes.join(', ')})` : '';
  return `${format.plural(backends.length, 'variant')} of k-means on ${format.plural(settings, 'setting')}` +
    `${swept}${repeats}. Times are in ${data.per_iteration ? 'milliseconds per iteration' : 'milliseconds per whole fit'}.`;
}

// "5 trials", or "5 to 40 trials" if the rows differ.
function trialsText() {
  const {fewest, most} = data.trials;
  return fewest === most ? format.plural(most, 'trial')
    : `${format.count(fewest)} to ${format.plural(most, 'trial')}`;
}

// The largest speedup, if there are too many variants to list.
function bestText() {
  const best = d3.max(data.rows, (row) => (row.speedup ? row.speedup.value : 0));
  const row = data.rows.find((one) => one.speedup && one.speedup.value === best);
  const place = row.place ? ` (${row.place})` : '';
  return `The largest speedup over ${data.baseline} is ${format.number(best)}, of ${row.backend}${place}.`;
}

// The smallest and the largest speedup of each variant.
const mostListed = 4;
function speedupTexts() {
  if (!data.baseline) return [];
  const texts = [];
  for (const [backend, rows] of groupBy(data.rows.filter((row) => row.speedup), (row) => row.backend)) {
    const speedups = rows.map((row) => row.speedup.value);
    const least = format.number(d3.min(speedups));
    const most = format.number(d3.max(speedups));
    texts.push(`${backend}: ${least === most ? least : `${least} to ${most}`}`);
  }
  const untold = data.rows.filter((row) => row.time && !row.baseline && !row.speedup).length;
  const sentences = texts.length > 0 ? [texts.length > mostListed ? bestText() : `Speedup over ${data.baseline} – ${texts.join('; ')}.`] : [];
  if (untold > 0) {
    sentences.push(`${format.plural(untold, 'row')} with a time but no speedup: the results do not agree with the baseline’s, or it has none.`);
  }
  return sentences;
}

function warningTexts() {
  const problems = groupBy(data.rows.filter((row) => row.problem), (row) => row.problem);
  const texts = Array.from(problems, ([problem, rows]) =>
    `${rows.length === 1 ? rows[0].backend : format.plural(rows.length, 'row')}: ${problem}.`);
  const shown = texts.slice(0, 5);
  if (texts.length > 5) shown.push(`${texts.length - 5} more problems are in the table.`);
  if (data.unfinished) shown.push(`${data.unfinished[0].toUpperCase()}${data.unfinished.slice(1)}.`);
  for (const text of data.canonical) shown.push(`${text}.`);
  for (const text of data.empty) shown.push(`${text}.`);
  if (data.noise) shown.push(`${data.noise[0].toUpperCase()}${data.noise.slice(1)}.`);
  return shown;
}
