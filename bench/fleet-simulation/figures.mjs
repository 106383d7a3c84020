/** Formats a figure with three significant digits and thousands separators. */
export function figure(value) {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 3 });
}

export function percent(part) {
  return `${(part * 100).toFixed(1)} %`;
}
