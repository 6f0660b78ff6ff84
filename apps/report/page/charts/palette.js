// Colour, mark and dash of each backend; each of the three alone distinguishes most backends.
const colourCount = 8;
const marks = [d3.symbolCircle, d3.symbolSquare, d3.symbolTriangle, d3.symbolDiamond,
  d3.symbolCross, d3.symbolStar, d3.symbolWye];
const dashes = [null, '7 3', '2 3', '9 3 2 3'];

// The baseline always has the colour of the text.
const ranks = new Map();
const isBaseline = (backend) => backend === data.baseline;
backends.filter(isBaseline).concat(backends.filter((backend) => !isBaseline(backend)))
  .forEach((backend, index) => ranks.set(backend, index + (data.baseline ? 0 : 1)));

function styleOf(backend) {
  const rank = ranks.get(backend);
  return {
    colour: `var(--series-${rank % colourCount})`,
    symbol: marks[rank % marks.length],
    dash: dashes[rank % dashes.length],
    hollow: Math.floor(rank / colourCount) % 2 === 1,
  };
}

function symbolPath(symbol, size) {
  return d3.symbol().type(symbol).size(size)();
}

// Appends a backend's mark to a selection, at a position.
function drawMark(parent, style, x, y, size = 58) {
  return parent.append('path')
    .attr('class', 'mark')
    .attr('d', symbolPath(style.symbol, size))
    .attr('transform', `translate(${x},${y})`)
    .style('fill', style.hollow ? 'var(--panel)' : style.colour)
    .style('stroke', style.colour);
}
