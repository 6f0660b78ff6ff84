// Scales and their ticks.

// Two ticks or more, but at most `most` unless that is less: powers of ten, and multiples of them if there is room;
// even steps in a narrow domain. Ascending, within the domain.
function logTicks(low, high, most) {
  const fits = (ticks) => ticks.length > 1 && ticks.length <= Math.max(2, most);
  const pick = (factors, every) => {
    const ticks = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e) {
      if (e % every !== 0) continue;
      for (const factor of factors) {
        const value = Number(`${factor}e${e}`);
        if (value >= low * 0.9999 && value <= high * 1.0001) ticks.push(value);
      }
    }
    return ticks;
  };
  for (const factors of [[1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8], [1, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]]) {
    const ticks = pick(factors, 1);
    if (fits(ticks)) return ticks;
  }
  for (let every = 2; pick([1], every).length > 1; ++every) {
    if (fits(pick([1], every))) return pick([1], every);
  }
  for (const factors of [[1], [1, 3], [1, 2, 5]]) { // little room: the first and the last one
    const ticks = pick(factors, 1);
    if (ticks.length > 1) return [ticks[0], ticks[ticks.length - 1]];
  }
  const steps = linearTicks(d3.scaleLinear().domain([low, high]), Math.min(most, 5));
  return fits(steps) ? steps : [steps[0], steps[steps.length - 1]];
}

// About `count` ticks of a linear scale, but at least two, unless its domain is a single value.
function linearTicks(scale, count) {
  for (let wanted = Math.max(2, count); wanted < 4; ++wanted) {
    if (scale.ticks(wanted).length > 1) return scale.ticks(wanted);
  }
  return scale.ticks(Math.max(4, count));
}

// The text of a linear scale's ticks: abbreviated if they would take too much room.
function linearTickText(scale, ticks) {
  const largest = d3.max(ticks, Math.abs);
  return largest >= 1e4 || largest < 1e-3 ? format.tick : scale.tickFormat(5);
}

// A linear domain around the values that is more than a single value.
function linearDomain(values) {
  const [low, high] = d3.extent(values);
  const pad = low === high ? Math.abs(low) / 10 || 1 : 0;
  return [low - pad, high + pad];
}

// The ticks of a logarithmic axis of few values, `room` apart: these, and others if these are less than two.
function ticksAtValues(values, scale, room, most) {
  const kept = thinned(values, scale, room);
  if (kept.length > 1) return kept;
  const whole = values.every(Number.isInteger);
  for (const tick of logTicks(scale.domain()[0], scale.domain()[1], most)) {
    const free = kept.every((other) => Math.abs(scale(tick) - scale(other)) >= room);
    if (free && (Number.isInteger(tick) || !whole)) kept.push(tick);
  }
  return kept.sort((a, b) => a - b);
}

// A logarithmic domain around the values, whose ends differ at least by the factor `least`.
function logDomain(values, least) {
  let [low, high] = d3.extent(values);
  const pad = Math.pow(high / low, 0.06);
  low /= pad;
  high *= pad;
  const missing = Math.sqrt(Math.max(1, least / (high / low)));
  return [low / missing, high * missing];
}

// Selects from ascending values those whose texts do not overlap on the scale; prefers the first and the
// last.
function thinned(values, scale, room) {
  const kept = [];
  const fits = (value) => kept.every((other) => Math.abs(scale(value) - scale(other)) >= room);
  const order = [values[0], values[values.length - 1], ...values.slice(1, -1)];
  for (const value of order) {
    if (fits(value)) kept.push(value);
  }
  return kept.sort((a, b) => a - b);
}

// Grid lines and texts of a vertical axis at the left of `box` {x, y, width, height}.
function drawVerticalAxis(svg, scale, ticks, box, text = format.tick) {
  for (const tick of ticks) {
    svg.append('line').attr('class', 'grid').attr('x1', box.x).attr('x2', box.x + box.width)
      .attr('y1', scale(tick)).attr('y2', scale(tick));
    svg.append('text').attr('class', 'tick').attr('x', box.x - 7).attr('y', scale(tick) + 4)
      .style('text-anchor', 'end').text(text(tick));
  }
}

// Grid lines, texts and label of a horizontal axis below the box.
function drawHorizontalAxis(svg, scale, ticks, box, label) {
  const bottom = box.y + box.height;
  for (const tick of ticks) {
    svg.append('line').attr('class', 'grid').attr('y1', box.y).attr('y2', bottom)
      .attr('x1', scale(tick)).attr('x2', scale(tick));
    svg.append('text').attr('class', 'tick').attr('x', scale(tick)).attr('y', bottom + 17)
      .style('text-anchor', 'middle').text(format.tick(tick));
  }
  svg.append('line').attr('class', 'axis').attr('x1', box.x).attr('x2', box.x + box.width)
    .attr('y1', bottom).attr('y2', bottom);
  svg.append('text').attr('class', 'axis-label').attr('x', box.x + box.width / 2).attr('y', bottom + 35)
    .style('text-anchor', 'middle').text(label);
}
