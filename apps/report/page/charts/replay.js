// The replay of a fit's iterations, with play, pause, steps and a slider.
const framesPerSecond = 2.5;

function addReplay() {
  if (data.replays.length === 0) return;
  let replay = data.replays[0];
  let frames = framesOf(replay);
  let at = 0;
  let plot = null;
  let timer = null;
  const text = h('span', {class: 'frame'});
  const slider = h('input', {type: 'range', min: 0, max: frames.length - 1, value: 0, 'aria-label': 'Iteration',
    oninput: () => { pause(); go(Number(slider.value)); }});
  const play = h('button', {type: 'button', class: 'play', onclick: () => (timer ? pause() : start())}, 'Play');
  const back = h('button', {type: 'button', class: 'back', 'aria-label': 'One iteration back',
    onclick: () => { pause(); go(at - 1); }}, '‹ Back');
  const step = h('button', {type: 'button', class: 'step', 'aria-label': 'One iteration on',
    onclick: () => { pause(); go(at + 1); }}, 'Step ›');

  function go(frame) {
    at = Math.max(0, Math.min(frames.length - 1, frame));
    slider.value = at;
    const row = data.rows[replay.row];
    const last = frames[frames.length - 1].iteration;
    const iteration = frames[at].iteration;
    const known = row.trace.iteration.indexOf(iteration);
    const inertia = known < 0 ? '' : `, inertia ${format.inertia(row.trace.inertia[known])}`;
    text.textContent = `iteration ${iteration} of ${last}${inertia}`;
    slider.setAttribute('aria-valuetext', text.textContent);
    if (plot) plot.show(at);
  }
  function pause() {
    clearInterval(timer);
    timer = null;
    play.textContent = 'Play';
  }
  function start() {
    if (at === frames.length - 1) go(0);
    play.textContent = 'Pause';
    timer = setInterval(() => {
      go(at + 1);
      if (at === frames.length - 1) pause();
    }, 1000 / framesPerSecond);
  }
  const settings = data.replays.map((one, index) => {
    const row = data.rows[one.row];
    return [index, [row.place, row.backend].filter((part) => part).join(' · ')];
  });
  const controls = [play, back, step, slider, text];
  if (settings.length > 1) {
    controls.unshift(choice('Fit', settings, (index) => {
      pause();
      replay = data.replays[index];
      frames = framesOf(replay);
      slider.max = frames.length - 1;
      at = 0;
      document.querySelector('#replay .note').textContent = replayNote(replay);
      redraw();
    }));
  }
  const redraw = addFigure('replay', 'Replay', replayNote(replay), controls, (svg, width) => {
    plot = drawReplay(svg, width, replay, frames);
    go(at);
    return plot.height;
  });
}

function replayNote(replay) {
  const shown = replay.points.length / 2;
  const all = data.rows[replay.row].samples;
  const samples = shown < all ? `${format.count(shown)} of the ${format.plural(all, 'sample')} are shown.`
    : `All ${format.plural(all, 'sample')} are shown.`;
  const left = data.replays_left_out > 0
    ? ` ${format.plural(data.replays_left_out, 'replay')} more would make the page too large.` : '';
  const view = replay.view !== 'features'
    ? ' Data of more than two features is seen along its first two principal components, so that a sample ' +
      'may look nearer to another centroid than its own.' : '';
  return `Each centroid (large, ringed) moves to the mean of its samples (small), and leaves a trail. ` +
    `${samples}${view}${left}`;
}
