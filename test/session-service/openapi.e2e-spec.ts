import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { startReferenceService } from 'session-service';
import { DevService } from '../../libs/session-auth-cli/src/dev/dev-service.js';
import { parse } from 'yaml';
import { send, type WireReply } from './send.js';

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

/** The used part of an OpenAPI document, without references. */
interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** An operation of the document with its path and method. */
interface DocumentedOperation extends Operation {
  readonly path: string;
  readonly method: string;
}

/** Returns a part of a document without its references. */
function withoutReferences(node: unknown, document: unknown): unknown {
  return JSON.parse(
    JSON.stringify(node, (_name, part: unknown) =>
      typeof part === 'object' && part !== null && '$ref' in part
        ? withoutReferences(targetOf(String(part.$ref), document), document)
        : part,
    ),
  ) as unknown;
}

function targetOf(reference: string, document: unknown): unknown {
  const [, ...names] = reference.split('/');
  return names.reduce((node, name) => (node as Readonly<Record<string, unknown>>)[name], document);
}

function operationsOf({ paths }: ApiDocument): DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      path,
      method: method.toUpperCase(),
    })),
  );
}

const API_KEY = 'demo-api-key';
const ACCOUNT = { username: 'manager', password: 'manager-demo' };

const yaml: unknown = parse(await readFile('libs/session-auth/openapi.yaml', 'utf8'));
const document = withoutReferences(yaml, yaml) as ApiDocument;
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
    'answers requests of %s as openapi.yaml documents',
    async (_id, operation) => {
      const good = {
        'X-API-KEY': API_KEY,
        'X-AUTH-TOKEN': await token(),
        'Content-Type': 'application/json',
      };
      const isSignIn = operation.method === 'POST';
      const body = JSON.stringify(ACCOUNT);
      const statuses: number[] = [];
      for (const [headers, sent] of [
        [{ ...good, 'X-API-KEY': 'another' }, body],
        [{ ...good, 'X-AUTH-TOKEN': 'of-nobody' }, body.replace('demo', 'other')],
        [{ ...good, 'X-AUTH-IV': 'any' }, body],
        ...(isSignIn
          ? ([
              [good, '{'],
              [{ ...good, 'Content-Type': 'text/plain' }, body],
            ] as const)
          : []),
      ] as const) {
        const request = { method: operation.method, path: operation.path, headers };
        const reply = await send(service.url, isSignIn ? { ...request, body: sent } : request);
        statuses.push(reply.status);
        expect(undocumented(operation, reply)).toBeUndefined();
      }
      expect(statuses).toEqual(isSignIn ? [403, 401, 200, 400, 400] : [403, 401, 200]);
    },
  );
});
