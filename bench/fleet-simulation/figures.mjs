/** A figure with three digits that count, and thousands set apart. */
export function figure(value) {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 3 });
}

export function percent(part) {
  return `${(part * 100).toFixed(1)} %`;
}
