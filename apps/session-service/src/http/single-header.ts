import { type IncomingMessage } from 'node:http';

/** The value of a header that was sent exactly once and is not empty. Node would join repeated ones with a comma. */
export function findSingleHeader(request: IncomingMessage, name: string): string | undefined {
  const values = request.headersDistinct[name];
  return values?.length === 1 && values[0] !== '' ? values[0] : undefined;
}
