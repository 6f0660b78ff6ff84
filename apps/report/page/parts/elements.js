// Creation of HTML elements. Texts are inserted as text nodes, so that data is never parsed as markup.
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else if (value !== null && value !== false) {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  element.append(...children.flat().filter((child) => child !== null));
  return element;
}

// A section of the page, with a heading that is listed in the contents.
function addPart(id, title, note, ...children) {
  const heading = h('h2', {id: `${id}-title`}, title);
  const part = h('section', {class: 'part', id, 'aria-labelledby': heading.id},
    h('div', {class: 'head'}, heading), note ? h('p', {class: 'note'}, note) : null, ...children);
  document.getElementById('sections').append(part);
  document.getElementById('contents').append(h('a', {href: `#${id}`}, title));
  return part;
}

// A labelled selection; `choices`: [value, text] pairs.
function choice(label, choices, onchange) {
  const select = h('select', {onchange: () => onchange(select.value)},
    choices.map(([value, text]) => h('option', {value}, text)));
  return h('label', {}, label, select);
}

// Width of a text in a chart, in pixels.
const measure = document.createElement('canvas').getContext('2d');
function textWidth(text, size = 12, weight = 400) {
  measure.font = `${weight} ${size}px system-ui, "DejaVu Sans", sans-serif`;
  return measure.measureText(text).width;
}

// The text, shortened to a width with an ellipsis.
function fitText(text, width, size = 12, weight = 400) {
  if (textWidth(text, size, weight) <= width) return text;
  let length = text.length;
  while (length > 1 && textWidth(`${text.slice(0, length)}…`, size, weight) > width) --length;
  return `${text.slice(0, length)}…`;
}

// The text as lines of a width, broken at spaces; longer words are shortened.
function wrapText(text, width) {
  const lines = [];
  for (const word of text.split(' ')) {
    const longer = lines.length > 0 ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length > 0 && textWidth(longer) <= width) {
      lines[lines.length - 1] = longer;
    } else {
      lines.push(fitText(word, width));
    }
  }
  return lines;
}
