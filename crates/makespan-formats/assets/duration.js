// Durations in words.

const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

/** A duration in its two largest units, or with three digits after the point below a minute. */
function duration(seconds) {
  const trimmed = (value, name) => `${String(Number(value.toFixed(3)))} ${name}`;
  if (seconds === 0) return "0 s";
  if (seconds < 0) return `\u2212${duration(-seconds)}`;
  if (seconds < 1e-3) return trimmed(seconds * 1e6, "\u00b5s");
  if (seconds < 1) return trimmed(seconds * 1e3, "ms");
  if (seconds < 60) return trimmed(seconds, "s");
  const rounded = (i) => Math.round(seconds / UNITS[i + 1][0]) * UNITS[i + 1][0];
  const large = [0, 1, 2].find((i) => rounded(i) >= UNITS[i][0]) ?? 2;
  const [[unit, name], [minor, minorName]] = [UNITS[large], UNITS[large + 1]];
  const minors = Math.round(seconds / minor);
  const rest = minors % (unit / minor);
  const whole = `${Math.floor(minors / (unit / minor))} ${name}`;
  return rest ? `${whole} ${rest} ${minorName}` : whole;
}
