// Adds a figure: heading, note, controls, a chart that is redrawn when its width or its rows change, and a
// button that saves it.
function addFigure(id, title, note, controls, draw) {
  const holder = h('div', {class: 'holder'});
  const save = h('button', {type: 'button', class: 'save',
    onclick: () => saveSvg(holder.firstChild, title)}, 'Save as SVG');
  const part = addPart(id, title, note,
    controls.length > 0 ? h('div', {class: 'controls'}, ...controls) : null, holder);
  part.querySelector('.head').append(save);
  let drawnWidth = 0;
  const redraw = () => {
    drawnWidth = holder.clientWidth;
    if (drawnWidth === 0) return;
    const svg = d3.create('svg').attr('class', 'chart').attr('tabindex', 0).attr('role', 'group')
      .attr('aria-label', `${title}. Arrow keys walk over its marks.`);
    const height = draw(svg, drawnWidth - 2);
    svg.attr('viewBox', `0 0 ${drawnWidth - 2} ${height}`);
    holder.replaceChildren(svg.node());
    walkMarks(svg.node());
  };
  new ResizeObserver(() => {
    if (Math.abs(holder.clientWidth - drawnWidth) > 1) redraw();
  }).observe(holder);
  visible.listeners.push(redraw);
  redraw();
  return redraw;
}

// Draws a text in place of a chart without marks; returns its height.
function drawEmpty(svg, width, text) {
  svg.append('text').attr('class', 'empty').attr('x', width / 2).attr('y', 40)
    .style('text-anchor', 'middle').text(fitText(text, width - 20, 14));
  return 70;
}

// Adds a line with the number of omitted items, if any; returns the new bottom.
function drawRest(svg, width, bottom, count, what) {
  if (count <= 0) return bottom;
  svg.append('text').attr('class', 'small').attr('x', 14).attr('y', bottom + 8)
    .text(fitText(`and ${format.plural(count, what)} more: the table’s filter chooses`, width - 28));
  return bottom + 24;
}

// Draws a legend of [style, text] entries, long texts on several lines; returns its height. A style is a `bar`, a line
// with a mark, or, if `unlinked`, a mark alone.
function drawLegend(svg, entries, width, top) {
  let x = 14;
  let y = top + 14;
  for (const [style, label] of entries) {
    const lines = wrapText(label, width - 60);
    const wide = 34 + d3.max(lines, (line) => textWidth(line)) + 20;
    if (x + wide > width && x > 14) {
      x = 14;
      y += 20;
    }
    if (!style.bar && !style.unlinked) {
      svg.append('line').attr('class', 'series').attr('x1', x).attr('x2', x + 26).attr('y1', y).attr('y2', y)
        .style('stroke', style.colour).style('stroke-dasharray', style.dash);
    }
    if (style.bar) {
      svg.append('rect').attr('x', x + 8).attr('y', y - 6).attr('width', 14).attr('height', 12)
        .style('fill', style.colour);
    }
    if (style.symbol) drawMark(svg, style, x + 13, y);
    lines.forEach((line, index) => svg.append('text').attr('x', x + 34).attr('y', y + 4 + 16 * index).text(line));
    x = lines.length > 1 ? width : x + wide;
    y += 16 * (lines.length - 1);
  }
  return y + 14 - top;
}
