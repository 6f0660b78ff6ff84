// The environment of the records: machines, build and backends.
function addEnvironment() {
  const part = addPart('environment', 'Environment', null);
  const stop = Object.entries(data.stop).map(([key, value]) => `${key} ${value}`).join(', ');
  part.append(facts([['experiment', data.experiment], ['run', data.run], ['records', data.file],
    ['seeding', data.seeding], ['stop', stop], ['repeats', `${data.repeats}${data.until ? ' or more' : ''}`]]));
  data.machines.forEach((machine, index) => {
    part.append(h('h3', {}, data.machines.length > 1 ? `Machine ${index + 1}` : 'Machine'), facts(factsOf(machine)));
  });
  part.append(h('h3', {}, 'Backends'));
  part.append(facts(data.backends.map((backend) => [backend.label, [
    backend.version ? `version ${backend.version}` : 'not there',
    backend.accuracy ? `labels ${backend.accuracy}` : null,
    backend.reproducibility ? `repeats ${backend.reproducibility}` : null,
    backend.devices.length > 0 ? `on ${backend.devices.join(', ')}` : null,
    Object.entries(backend.parameters).map(([key, value]) => `${key}=${value}`).join(' '),
    backend.notes].filter((text) => text).join(' · ')])));
  if (data.ceilings) {
    const rate = (name) => `${format.number(data.ceilings[name].one_thread)} with one thread, ` +
      `${format.number(data.ceilings[name].all_threads)} with ${data.ceilings.threads}`;
    part.append(h('h3', {}, 'Ceilings'), facts([['processor', data.ceilings.cpu], ['instructions', data.ceilings.instruction_set],
      ['float32 GFLOP/s', rate('float32_gflops')], ['float64 GFLOP/s', rate('float64_gflops')], ['read GB/s', rate('read_gbs')]]));
  }
}

function facts(pairs) {
  return h('dl', {class: 'facts'}, pairs.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}

// All entries of a record's machine, flattened: the names of nested entries are prefixed.
function factsOf(object, prefix = '') {
  return Object.entries(object).flatMap(([key, value]) => {
    const name = prefix + key.replace(/_bytes$/, '').replace(/_/g, ' ');
    if (value === null || value === '') return [];
    if (Array.isArray(value)) {
      const inner = value.filter((item) => typeof item === 'object' && item !== null);
      if (inner.length > 0) return inner.flatMap((item, index) => factsOf(item, `${name} ${index + 1}: `));
      return value.length > 0 ? [[name, value.join(', ')]] : [];
    }
    if (typeof value === 'object') return factsOf(value, `${name}: `);
    return [[name, /_bytes$/.test(key) ? format.bytes(value) : String(value)]];
  });
}
