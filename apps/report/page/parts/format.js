// Numbers formatted for people.
const format = {
  // Three significant digits, as the printed tables have them.
  number(value) {
    if (value === null || value === undefined) return '–';
    const size = Math.abs(value);
    if (size === 0) return '0';
    if (size < 1e-3 || size >= 1e6) return value.toExponential(2);
    if (size >= 99.95) return format.count(Math.round(value));
    if (size >= 9.995) return value.toFixed(1);
    return size >= 0.9995 ? value.toFixed(2) : value.toPrecision(3);
  },
  inertia(value) {
    return value === null ? '–' : value.toPrecision(5).replace(/e\+?/, 'e');
  },
  count(value) {
    return value.toLocaleString('en-US', {maximumFractionDigits: 6});
  },
  // For axes; abbreviated if that is exact: 0.01, 5, 20k, 3M, 1,024.
  tick(value) {
    const size = Math.abs(value);
    if (size >= 1e15 || (size > 0 && size < 1e-4)) return Number(value.toPrecision(3)).toExponential();
    for (const [unit, suffix] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
      const scaled = Number((value / unit).toPrecision(3));
      if (size >= unit && scaled * unit === value) return `${scaled}${suffix}`;
    }
    return format.count(Number(value.toPrecision(6)));
  },
  bytes(value) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
    let at = 0;
    for (; value >= 1023.95 && at + 1 < units.length; ++at) value /= 1024;
    return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`;
  },
  plural(count, what) {
    return `${format.count(count)} ${what}${count === 1 ? '' : 's'}`;
  },
};
