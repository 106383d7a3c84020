/** Parses the JSON object in a text that another version of this package may have sealed. Returns `undefined` for anything else. */
export function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
