// Formats durations.

const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

/** Formats a duration with its two largest units. A duration below a minute has three decimal places. */
function duration(seconds) {
  const digits = (value, name) => `${value.toFixed(Math.abs(value - Math.round(value)) < 1e-6 ? 0 : 3)} ${name}`;
  if (seconds === 0) return "0 s";
  if (seconds < 0) return `\u2212${duration(-seconds)}`;
  if (seconds < 1e-3) return digits(seconds * 1e6, "\u00b5s");
  if (seconds < 1) return digits(seconds * 1e3, "ms");
  if (seconds < 60) return digits(seconds, "s");
  const rounded = (i) => Math.round(seconds / UNITS[i + 1][0]) * UNITS[i + 1][0];
  const large = [0, 1, 2].find((i) => rounded(i) >= UNITS[i][0]) ?? 2;
  const [[unit, name], [minor, minorName]] = [UNITS[large], UNITS[large + 1]];
  const minors = Math.round(seconds / minor);
  const rest = minors % (unit / minor);
  const whole = `${Math.floor(minors / (unit / minor))} ${name}`;
  return rest ? `${whole} ${rest} ${minorName}` : whole;
}
const STEPS = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10800, 14400, 21600, 43200,
  86400, 172800, 432000, 604800, 864000];

function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= value * 0.999999) ?? value;
}

/** Returns the distance between ticks, such that at most `count` distances cover `span`. */
function stepOf(span, count) {
  const least = span / Math.max(1, count);
  if (least > 864000) return roundUp(least / 86400) * 86400;
  return least <= 0.5 ? roundUp(Math.max(least, 1e-9)) : STEPS.find((step) => step >= least);
}

function tickText(seconds, step) {
  if (Math.abs(seconds) < step / 2) return "0";
  let left = Math.round(seconds / step) * step;
  const parts = [];
  for (const [unit, name] of UNITS) {
    const whole = Math.floor(left / unit + 1e-6);
    // Below a second, the last part contains the fraction.
    if (name === "s" && step < 1 && left > 1e-12) return [...parts, fraction(left, step)].join(" ");
    if (whole > 0) parts.push(`${whole} ${name}`);
    left -= whole * unit;
  }
  return parts.join(" ");
}

function fraction(seconds, step) {
  const [unit, name] = step >= 0.01 || seconds >= 1 ? [1, "s"] : step >= 1e-5 ? [1e-3, "ms"] : [1e-6, "\u00b5s"];
  return `${(seconds / unit).toFixed(Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)))} ${name}`;
}

/** Formats a time to the millisecond, with all its units, for tooltips and tables. A time below a second is more precise. */
function exact(seconds) {
  if (Math.abs(seconds) < 60) return duration(seconds);
  if (seconds < 0) return `\u2212${exact(-seconds)}`;
  let left = Math.round(seconds * 1000);
  const parts = [];
  for (const [unit, name] of UNITS) {
    const whole = name === "s" ? left / 1000 : Math.floor(left / (unit * 1000));
    if (whole > 0) parts.push(`${whole} ${name}`);
    left -= whole * unit * 1000;
  }
  return parts.join(" ");
}

/** Formats a time with days, hours, minutes and seconds, like a clock. `digits` is the number of decimal places. */
function clock(seconds, digits) {
  const sign = seconds < 0 ? "\u2212" : "";
  const scale = 10 ** digits;
  const whole = Math.round(Math.abs(seconds) * scale);
  const rest = Math.floor(whole / scale);
  const two = (value) => String(value).padStart(2, "0");
  const fraction = digits ? `.${String(whole % scale).padStart(digits, "0")}` : "";
  const days = Math.floor(rest / 86400);
  const day = days ? `${days} d ` : "";
  return `${sign}${day}${days ? two(Math.floor((rest % 86400) / 3600)) : Math.floor(rest / 3600)}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}${fraction}`;
}

/** Chooses one unit for a whole column of times. Returns its heading and a function that formats times such that digits are
 * aligned. */
function columnFormat(largest, finest) {
  if (largest >= 60) {
    // If a column shows days, fractions of a second would only make it wider. The tooltip shows them.
    const digits = finest >= 1 || largest >= 86400 ? 0 : Math.min(3, Math.ceil(-Math.log10(finest) - 1e-9));
    return { unit: largest >= 86400 ? "d h:min:s" : "h:min:s", text: (seconds) => clock(seconds, digits) };
  }
  const [scale, unit] = largest >= 0.1 ? [1, "s"] : largest >= 1e-4 ? [1e-3, "ms"] : [1e-6, "\u00b5s"];
  const digits = Math.max(0, Math.min(scale === 1 ? 6 : 3, Math.ceil(-Math.log10(finest / scale) - 1e-9)));
  return { unit, text: (seconds) => (seconds / scale).toFixed(digits).replace("-", "\u2212") };
}

/** Formats a number with separated thousands. */
const grouped = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
