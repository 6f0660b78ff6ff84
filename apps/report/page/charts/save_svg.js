// Saves a chart as a file. The page's styles become attributes, as the file has no style sheet.
const savedStyles = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-family',
  'font-size', 'font-weight', 'text-anchor', 'paint-order'];

function standaloneSvg(svg, title) {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((element, index) => {
    const style = window.getComputedStyle(originals[index]);
    for (const name of savedStyles) {
      const value = style.getPropertyValue(name);
      if (value && value !== 'normal' && value !== 'auto') element.setAttribute(name, value);
    }
    element.removeAttribute('style');
    element.removeAttribute('class');
    element.removeAttribute('tabindex');
  });
  const [, , width, height] = svg.getAttribute('viewBox').split(' ');
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', width);
  copy.setAttribute('height', height);
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  ground.setAttribute('width', width);
  ground.setAttribute('height', height);
  ground.setAttribute('fill', window.getComputedStyle(svg).backgroundColor);
  copy.prepend(ground);
  const name = document.createElementNS('http://www.w3.org/2000/svg', 'title');
  name.textContent = title;
  copy.prepend(name);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}

function saveSvg(svg, title) {
  const url = URL.createObjectURL(new Blob([standaloneSvg(svg, title)], {type: 'image/svg+xml'}));
  const name = `${data.experiment} ${title}`.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
  const link = h('a', {href: url, download: `${name}.svg`});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
