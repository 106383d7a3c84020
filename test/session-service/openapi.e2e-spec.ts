import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { startReferenceService } from 'session-service';
import { DevService } from '../../libs/session-auth-cli/src/dev/dev-service.js';
import { inLongForm } from '../support/long-form.js';
import { operationsOf, readApiDocument, requestsOf, type DocumentedOperation } from './openapi-requests.js';
import { send, type WireReply } from './send.js';

const REQUESTS = inLongForm('9,700 of 10,000 requests') ? 10_000 : 300;
const API_KEY = 'demo-api-key';
const ACCOUNT = { username: 'manager', password: 'manager-demo' };

const document = readApiDocument(await readFile('libs/session-auth/openapi.yaml', 'utf8'));
const ajv = new Ajv2020({ strictSchema: true, formats: { password: true } });

/** Returns the part of a reply that a document does not describe, or `undefined`. */
function undocumented(
  { responses }: DocumentedOperation,
  { status, headers, body }: WireReply,
): string | undefined {
  const response = responses[status];
  if (!response) return `status ${status}`;
  const [[mediaType, content] = []] = Object.entries(response.content ?? {});
  if (mediaType === undefined || content === undefined)
    return body === '' ? undefined : `a body with ${status}`;
  if (!headers['content-type']?.startsWith(mediaType)) return `the content type with ${status}`;
  return ajv.validate(content.schema, JSON.parse(body))
    ? undefined
    : `the body with ${status}: ${ajv.errorsText()}`;
}

const unlimited = {
  maxFailures: 1_000_000,
  maxFailuresPerCaller: 1_000_000,
  maxFailuresPerAccount: 1_000_000,
};

describe.each<[name: string, open: () => Promise<{ url: string; close(): Promise<void> }>]>([
  ['the reference service', () => startReferenceService({ logger: false, signInLimits: unlimited })],
  [
    'the service of the command dev',
    async () => {
      const users = [{ password: ACCOUNT.password, record: { username: ACCOUNT.username } }];
      const service = new DevService({
        host: '127.0.0.1',
        apiKey: API_KEY,
        allowedHosts: [],
        users,
        onAnswer: () => undefined,
      });
      await service.open(0);
      return service;
    },
  ],
])('%s', (_name, open) => {
  let service: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    service = await open();
  });
  afterAll(() => service.close());

  async function token(): Promise<string> {
    const headers = { 'X-API-KEY': API_KEY, 'Content-Type': 'application/json' };
    const { body } = await send(service.url, {
      method: 'POST',
      path: '/authentication',
      headers,
      body: JSON.stringify(ACCOUNT),
    });
    return (JSON.parse(body) as { auth_token: string }).auth_token;
  }

  it.each(operationsOf(document).map((operation) => [operation.operationId, operation] as const))(
    'answers any request of %s as openapi.yaml documents',
    async (_id, operation) => {
      const statuses = new Set<number>();
      const known = { headers: { 'X-API-KEY': API_KEY, 'X-AUTH-TOKEN': await token() }, body: ACCOUNT };
      await fc.assert(
        fc.asyncProperty(requestsOf(document, operation, known), async (request) => {
          const reply = await send(service.url, request);
          statuses.add(reply.status);
          expect(undocumented(operation, reply)).toBeUndefined();
        }),
        { numRuns: REQUESTS },
      );
      // The requests reached the operations themselves, and not only their first check.
      expect([...statuses].sort()).toEqual(
        expect.arrayContaining(operation.requestBody ? [200, 400, 401, 403] : [200, 401, 403]),
      );
    },
    600_000,
  );
});
