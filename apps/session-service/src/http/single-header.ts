import { type IncomingMessage } from 'node:http';

/**
 * Returns the value of a header that is present exactly once and not empty. Node.js would join repeated
 * headers with commas.
 */
export function findSingleHeader(request: IncomingMessage, name: string): string | undefined {
  const values = request.headersDistinct[name];
  return values?.length === 1 && values[0] !== '' ? values[0] : undefined;
}
