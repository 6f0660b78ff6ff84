// One frame of a replay: samples coloured by cluster, and the paths of the centroids.
const grid = 9999;

// Reconstructs the labels of each frame from the first frame's and the changes.
function framesOf(replay) {
  let labels = replay.labels[0];
  return replay.iterations.map((iteration, index) => {
    if (index > 0) {
      labels = labels.slice();
      const changes = replay.labels[index];
      for (let i = 0; i < changes.length; i += 2) labels[changes[i]] = changes[i + 1];
    }
    return {iteration, labels, centroids: replay.centroids[index]};
  });
}

// Scales with the same unit in both directions, centred horizontally.
function replayScales(replay, width) {
  const extent = [0, 1].map((axis) => (replay.high[axis] - replay.low[axis]) || 1);
  // Without an extent, all samples are in the middle.
  const domain = (axis) => {
    const pad = replay.high[axis] > replay.low[axis] ? 0 : extent[axis] / 2;
    return [replay.low[axis] - pad, replay.high[axis] + pad];
  };
  const most = {width: width - 76, height: Math.min(560, Math.max(260, width * 0.6))};
  const scale = Math.min(most.width / extent[0], most.height / extent[1]);
  const box = {width: extent[0] * scale, height: extent[1] * scale, y: 34};
  box.x = 56 + (most.width - box.width) / 2;
  return {box,
    x: (place) => box.x + place / grid * box.width,
    y: (place) => box.y + box.height - place / grid * box.height,
    xValues: d3.scaleLinear().domain(domain(0)).range([box.x, box.x + box.width]),
    yValues: d3.scaleLinear().domain(domain(1)).range([box.y + box.height, box.y])};
}

const clusterStyle = (cluster) => ({
  colour: `var(--series-${1 + cluster % (colourCount - 1)})`,
  symbol: marks[Math.floor(cluster / (colourCount - 1)) % marks.length],
});

function axisLabel(replay, axis) {
  const share = replay.share[axis];
  return share > 0 ? `${replay.axes[axis]} (${(100 * share).toFixed(0)} % of the variance)` : replay.axes[axis];
}

// Draws the static parts and returns a function that shows a frame.
function drawReplay(svg, width, replay, frames) {
  const {box, x, y, xValues, yValues} = replayScales(replay, width);
  drawHorizontalAxis(svg, xValues, linearTicks(xValues, Math.floor(box.width / 80)), box, axisLabel(replay, 0));
  drawVerticalAxis(svg, yValues, linearTicks(yValues, Math.floor(box.height / 60)), box);
  svg.append('text').attr('class', 'axis-label').attr('x', box.x - 40).attr('y', 18).text(axisLabel(replay, 1));
  const samples = svg.append('g');
  const dots = [];
  for (let i = 0; i < replay.points.length; i += 2) {
    dots.push(samples.append('path')
      .attr('transform', `translate(${x(replay.points[i])},${y(replay.points[i + 1])})`));
  }
  const trails = svg.append('g');
  const centroids = svg.append('g');
  const place = (frame, cluster) => [x(frame.centroids[2 * cluster]), y(frame.centroids[2 * cluster + 1])];
  const count = frames[0].centroids.length / 2;
  const size = count > 64 ? 50 : 130;
  const shown = d3.range(count).map((cluster) => {
    const style = clusterStyle(cluster);
    const trail = trails.append('path').attr('class', 'trail');
    const mark = centroids.append('path').attr('class', 'centroid').attr('d', symbolPath(style.symbol, size * 1.3))
      .style('fill', style.colour);
    const ring = centroids.append('path').attr('class', 'ring').attr('d', symbolPath(style.symbol, size * 2));
    return {trail, mark, ring};
  });
  const height = box.y + box.height + 46;
  return {height, show(at) {
    const frame = frames[at];
    dots.forEach((dot, index) => {
      const style = clusterStyle(frame.labels[index]);
      dot.attr('d', symbolPath(style.symbol, 15)).style('fill', style.colour);
    });
    shown.forEach(({trail, mark, ring}, cluster) => {
      const move = `translate(${place(frame, cluster).join(',')})`;
      mark.attr('transform', move);
      ring.attr('transform', move);
      trail.attr('d', d3.line()(frames.slice(0, at + 1).map((earlier) => place(earlier, cluster))));
    });
  }};
}
