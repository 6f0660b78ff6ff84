// Time by phase: one stacked bar per row. Texts on light colours are dark in both themes.
const phases = [['transfer', 'var(--series-6)', true], ['assignment', 'var(--series-1)', false],
  ['update', 'var(--series-5)', true], ['overhead', 'var(--series-3)', true]];

// A share is the median over the trials, as in the table of `lloyd report`; null if the loop took no time.
function shareText(row, name, digits) {
  const percent = row.phases.shares[name];
  return percent === null ? '-' : `${percent.toFixed(digits)} %`;
}

function phaseLines(row) {
  const lines = phases.filter(([name]) => row.phases[name] > 0).map(([name]) =>
    `${name} ${format.number(row.phases[name])} ms/iteration, ${shareText(row, name, 1)}`);
  return [...rowLines(row).slice(0, 1), row.place, ...lines].filter((line) => line);
}

function drawPhases(svg, width, share) {
  const profiled = visible.rows.filter((row) => row.phases);
  const rows = profiled.slice(0, mostRows);
  if (rows.length === 0) return drawEmpty(svg, width, 'No phases were measured for these rows.');
  const present = phases.filter(([name]) => rows.some((row) => row.phases[name] > 0));
  const top = drawLegend(svg, present.map(([name, colour]) => [{bar: true, colour}, name]), width, 8) + 6;
  const room = textRoomOf(rows, width);
  const total = (row) => d3.sum(present, ([name]) => row.phases[name] || 0);
  const partOf = (row, name) => (share ? row.phases.shares : row.phases)[name] || 0;
  // Medians of shares may add up to a little more or less than 100 %.
  const unitOf = (row) => (share ? d3.sum(present, ([name]) => partOf(row, name)) : 1);
  const right = width - 86;
  const x = d3.scaleLinear().range([room, right]).domain([0, share ? 1 : d3.max(rows, total)]);
  const lines = svg.append('g');
  const height = layRows(svg, rows, top, room, (row, y) => {
    let begin = 0;
    for (const [name, colour, light] of present) {
      const part = partOf(row, name) / unitOf(row);
      if (!(part > 0)) continue;
      const bar = svg.append('rect').attr('class', 'segment').attr('x', x(begin)).attr('y', y - 8)
        .attr('width', x(begin + part) - x(begin)).attr('height', 16).style('fill', colour);
      explain(bar, () => phaseLines(row));
      const text = shareText(row, name, 0);
      if (x(begin + part) - x(begin) > textWidth(text, 11) + 8) {
        svg.append('text').attr('class', light ? 'inside dark' : 'inside').attr('y', y + 4)
          .attr('x', (x(begin) + x(begin + part)) / 2).style('text-anchor', 'middle')
          .style('pointer-events', 'none').text(text);
      }
      begin += part;
    }
    svg.append('text').attr('class', 'small').attr('x', x(begin) + 8).attr('y', y + 4)
      .text(`${format.number(total(row))} ms`);
  });
  const box = {x: room, y: top - 4, width: right - room, height: height + 2};
  if (share) {
    lines.append('line').attr('class', 'axis').attr('x1', room).attr('x2', room).attr('y1', top - 4)
      .attr('y2', top + height - 4);
    return drawRest(svg, width, top + height + 12, profiled.length - rows.length, 'row');
  }
  drawHorizontalAxis(lines, x, linearTicks(x, Math.floor(box.width / 90)), box, 'ms/iteration');
  return drawRest(svg, width, top + height + 48, profiled.length - rows.length, 'row');
}

function addPhases() {
  if (!data.rows.some((row) => row.phases)) return;
  let share = true;
  const controls = [choice('Bars', [['share', 'share of the time'], ['ms', 'milliseconds']],
    (value) => { share = value === 'share'; redraw(); })];
  const redraw = addFigure('phases', 'Time per phase',
    'Median time per iteration, and median share of the time of loop and closing assignment, of fits that ' +
    'measured their phases. Overhead is all that no phase covers, the ' +
    'closing assignment included. A phase that a backend fuses with another is in the first of them.',
    controls, (svg, width) => drawPhases(svg, width, share));
}
