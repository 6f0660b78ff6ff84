// For `lloyd report --figures`: replaces the page by a JSON object of its figures, SVG documents by id.
function exportFigures() {
  const figures = {};
  for (const svg of document.querySelectorAll('svg.chart')) {
    const part = svg.closest('section');
    figures[part.id] = standaloneSvg(svg, part.querySelector('h2').textContent);
  }
  const script = h('script', {type: 'application/json', id: 'figures'});
  script.textContent = JSON.stringify(figures).replace(/</g, '\\u003c');
  document.body.replaceChildren(script);
}
