// Dot chart with one line per row of the summary, on a logarithmic axis, grouped by setting.
// chart: {rows, dots(row): [{style, value, low, high, lines()}], references: [{value, label}], label}
const mostRows = 60;

// Draws the headings of settings and calls draw(row, y) for each row; returns the total height.
function layRows(svg, rows, top, textRoom, draw) {
  let y = top;
  for (const [place, group] of groupBy(rows, (row) => row.place)) {
    if (place) {
      svg.append('text').attr('class', 'panel-title').attr('x', 14).attr('y', y + 14).text(place);
      y += 24;
    }
    for (const row of group) {
      const above = textRoom === noRoom;
      svg.append('text').attr('class', 'name').attr('x', above ? noRoom : textRoom - 12).attr('y', y + 14)
        .style('text-anchor', above ? 'start' : 'end').text(row.backend);
      if (above) y += 18;
      draw(row, y + 10);
      y += 22;
    }
    y += 6;
  }
  return y - top;
}

// Width for the names of backends; if they are too wide, they are placed above the lines (`noRoom`).
const noRoom = 16;
function textRoomOf(rows, width) {
  const longest = d3.max(rows, (row) => textWidth(row.backend)) + 28;
  return longest <= width * 0.42 ? longest : noRoom;
}

function drawRowChart(svg, width, chart) {
  const dotsOf = (row) => chart.dots(row).filter((dot) => dot.value > 0);
  const filled = chart.rows.filter((row) => dotsOf(row).length > 0);
  const rows = filled.slice(0, mostRows);
  if (rows.length === 0) return drawEmpty(svg, width, chart.empty || 'Nothing to draw for these rows.');
  let top = chart.legend ? drawLegend(svg, chart.legend, width, 8) + 6 : 14;
  const room = textRoomOf(rows, width);
  const values = rows.flatMap((row) => dotsOf(row).flatMap((dot) => [dot.value, dot.low, dot.high]))
    .concat(chart.references.map((reference) => reference.value))
    .filter((value) => Number.isFinite(value) && value > 0);
  const x = d3.scaleLog().domain(logDomain(values, 3)).range([room, width - 26]);
  if (chart.references.some((reference) => reference.label)) top += 18;
  const lines = svg.append('g');
  const height = layRows(svg, rows, top, room, (row, y) => {
    svg.append('line').attr('class', 'grid').attr('x1', room).attr('x2', width - 26).attr('y1', y).attr('y2', y);
    const dots = dotsOf(row);
    if (dots.length > 1) {
      svg.append('line').attr('class', 'axis').attr('x1', x(dots[0].value)).attr('x2', x(dots[1].value))
        .attr('y1', y).attr('y2', y);
    }
    for (const dot of dots) {
      if (dot.low > 0 && dot.high > dot.low) {
        svg.append('path').attr('class', 'interval').style('stroke', dot.style.colour)
          .attr('d', `M${x(dot.low)},${y - 3}v6M${x(dot.low)},${y}H${x(dot.high)}M${x(dot.high)},${y - 3}v6`);
      }
      explain(drawMark(svg, dot.style, x(dot.value), y), dot.lines);
    }
  });
  const box = {x: room, y: top - 4, width: width - 26 - room, height: height + 2};
  drawHorizontalAxis(lines, x, logTicks(x.domain()[0], x.domain()[1], Math.max(2, Math.floor(box.width / 64))),
    box, chart.label);
  for (const reference of chart.references) {
    lines.append('line').attr('class', 'reference').attr('y1', top - 4).attr('y2', top - 2 + height)
      .attr('x1', x(reference.value)).attr('x2', x(reference.value));
    svg.append('text').attr('class', 'small').attr('x', x(reference.value)).attr('y', top - 10)
      .style('text-anchor', 'end').text(reference.label || '');
  }
  return drawRest(svg, width, top + height + 48, filled.length - rows.length, 'row');
}
