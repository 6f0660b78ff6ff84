// Copies the table to the clipboard.
function asTsv(columns, rows) {
  const clean = (text) => String(text).replace(/[\t\r\n]+/g, ' ');
  return [columns.map((column) => clean(column.header)),
    ...rows.map((row) => columns.map((column) => clean(column.text(row))))]
    .map((cells) => `${cells.join('\t')}\n`).join('');
}

function asMarkdown(columns, rows) {
  const line = (cells) => `| ${cells.map((text) => String(text).replace(/\|/g, '\\|')).join(' | ')} |\n`;
  return line(columns.map((column) => column.header)) +
    line(columns.map((column) => (column.number ? '---:' : '---'))) +
    rows.map((row) => line(columns.map((column) => column.text(row)))).join('');
}

function copyButton(label, text) {
  const button = h('button', {type: 'button', onclick: async () => {
    button.textContent = (await copyText(text())) ? 'Copied' : 'Not copied';
    setTimeout(() => { button.textContent = label; }, 1500);
  }}, label);
  return button;
}

// Browsers deny some pages the clipboard; copying a selection usually works there.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (refused) {
    const area = h('textarea', {class: 'unseen', 'aria-hidden': 'true'});
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}
