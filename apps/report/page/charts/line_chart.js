// Line charts as small multiples: one panel per group.
// chart: {panels: [{title, series: [{style, label, points: [{x, y, low, high, lines()}]}], references, yLabel}],
//         xLabel, yLabel, xLog, yLog, references: [{y, label}], yLeast, small, sharedX, sharedY, xTight}
// A panel's own references and label replace those of the chart, whose references must include them. A linear
// horizontal axis begins at 0, unless `xTight`.
const titleRoom = 28;
const mostPanels = 24;
const drawable = (value, log) => Number.isFinite(value) && (value > 0 || !log);

function drawLineChart(svg, width, chart) {
  const filled = chart.panels.map((panel) => ({...panel, series: panel.series.map((one) =>
    ({...one, points: one.points.filter((point) => drawable(point.x, chart.xLog) && drawable(point.y, chart.yLog))}))}))
    .filter((panel) => panel.series.some((one) => one.points.length > 0));
  const panels = filled.slice(0, mostPanels);
  if (panels.length === 0) return drawEmpty(svg, width, chart.empty || 'Nothing to draw for these rows.');
  const styles = new Map();
  panels.forEach((panel) => panel.series.forEach((series) => styles.set(series.label, series.style)));
  const entries = Array.from(styles, ([label, style]) => [style, label]);
  const top = drawLegend(svg, entries, width, 8) + 6;

  const longest = d3.max(panels, (panel) => textWidth(panel.title, 13, 600));
  const least = Math.max(panels.length > 6 ? 250 : 310, Math.min(longest + 28, 420));
  const fitting = Math.max(1, Math.min(panels.length, 4, Math.floor(width / least)));
  const columns = Math.ceil(panels.length / Math.ceil(panels.length / fitting));
  const panelWidth = (width - 16 - (columns - 1) * 8) / columns;
  const plotHeight = columns === 1 ? Math.min(300, Math.max(220, width * 0.42)) : 210;
  const above = 26 + (panels.some((panel) => panel.title) ? titleRoom : 0);
  const panelHeight = plotHeight + 52 + above;
  panels.forEach((panel, index) => {
    const box = {
      x: 8 + (index % columns) * (panelWidth + 8) + 56,
      y: top + Math.floor(index / columns) * panelHeight + above,
      width: panelWidth - 56 - 18,
      height: plotHeight,
    };
    drawPanel(svg, panel, box, chart, panels);
  });
  const bottom = top + Math.ceil(panels.length / columns) * panelHeight + 12;
  return drawRest(svg, width, bottom, filled.length - panels.length, 'panel');
}

function pointsOf(panels) {
  return panels.flatMap((panel) => panel.series.flatMap((series) => series.points));
}

function panelScales(panel, box, chart, panels) {
  const xs = pointsOf(chart.sharedX ? panels : [panel]).map((point) => point.x);
  const points = pointsOf(chart.sharedY ? panels : [panel]);
  const ys = points.flatMap((point) => [point.y, point.low, point.high])
    .concat(chart.references.map((reference) => reference.y))
    .filter((value) => drawable(value, chart.yLog));
  const x = chart.xLog
    ? d3.scaleLog().domain(logDomain(xs, 4))
    : d3.scaleLinear().domain(chart.xTight ? linearDomain(xs) : [0, d3.max(xs) || 1]);
  const y = chart.yLog
    ? d3.scaleLog().domain(logDomain(ys, chart.yLeast || 3))
    : d3.scaleLinear().domain(linearDomain(ys)).nice(5);
  const inset = !chart.xLog && chart.xTight ? 12 : 0;
  x.range(chart.xLog ? [box.x, box.x + box.width] : [box.x + inset, box.x + box.width - 6 - inset]);
  y.range([box.y + box.height, box.y]);
  return {x, y, xs: unique(xs).sort((a, b) => a - b)};
}

function drawPanel(svg, panel, box, chart, panels) {
  const {x, y, xs} = panelScales(panel, box, chart, panels);
  const few = chart.sharedX && xs.length <= 12; // the ticks are the sizes themselves
  const most = Math.floor(box.width / 50);
  const room = few ? d3.max(xs, (value) => textWidth(format.tick(value), 11.5)) + 12 : 0;
  const xTicks = few ? ticksAtValues(xs, x, room, most)
    : chart.xLog ? logTicks(x.domain()[0], x.domain()[1], most)
      : linearTicks(x, Math.floor(box.width / 70));
  const yTicks = chart.yLog ? logTicks(y.domain()[0], y.domain()[1], 7) : linearTicks(y, 5);
  drawHorizontalAxis(svg, x, xTicks, box, chart.xLabel);
  drawVerticalAxis(svg, y, yTicks, box, chart.yLog ? format.tick : linearTickText(y, yTicks));
  if (panel.title) {
    svg.append('text').attr('class', 'panel-title').attr('x', box.x - 40).attr('y', box.y - 32)
      .text(fitText(panel.title, box.width + 50, 13, 600));
  }
  svg.append('text').attr('class', 'axis-label').attr('x', box.x - 40).attr('y', box.y - 14)
    .text(panel.yLabel || chart.yLabel);
  drawReferences(svg, panel.references || chart.references, y, box);
  const shift = (index) => (chart.small ? 0 : (index - (panel.series.length - 1) / 2) * 3);
  panel.series.forEach((series, index) => drawSeries(svg, series, shift(index), x, y, chart));
}

function drawReferences(svg, references, y, box) {
  for (const reference of references) {
    const at = y(reference.y);
    svg.append('line').attr('class', 'reference').attr('x1', box.x).attr('x2', box.x + box.width)
      .attr('y1', at).attr('y2', at);
    if (!reference.label) continue;
    svg.append('text').attr('class', 'small').attr('x', box.x + box.width).attr('y', at - 5)
      .style('text-anchor', 'end').text(fitText(reference.label, box.width));
  }
}

function drawSeries(svg, series, shift, x, y, chart) {
  const at = (point) => x(point.x) + shift;
  const ordered = series.points.slice().sort((a, b) => a.x - b.x || (a.order || 0) - (b.order || 0));
  svg.append('path').attr('class', 'series').style('stroke', series.style.colour)
    .style('stroke-dasharray', series.style.dash)
    .attr('d', d3.line().x(at).y((point) => y(point.y))(ordered));
  for (const point of ordered) {
    if (drawable(point.low, chart.yLog) && point.high > point.low) {
      drawInterval(svg, series.style, at(point), y(point.low), y(point.high));
    }
    explain(drawMark(svg, series.style, at(point), y(point.y), chart.small ? 22 : 58), point.lines);
  }
}

function drawInterval(svg, style, x, low, high) {
  svg.append('path').attr('class', 'interval').style('stroke', style.colour)
    .attr('d', `M${x - 3},${low}h6M${x},${low}V${high}M${x - 3},${high}h6`);
}
