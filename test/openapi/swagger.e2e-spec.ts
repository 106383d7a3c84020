import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { ApiOkResponse, DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { type } from 'arktype';
import { CurrentUser, Public, SessionAuthGuard, UserRecord } from 'nestjs-session-auth';
import { addSessionAuth, ApiSessionAuth, recordSchemaOf } from 'nestjs-session-auth/swagger';
import * as v from 'valibot';
import { z } from 'zod';
import { platforms } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

const TEXT: unknown = expect.stringMatching(/^[A-Z]\w/);

@Controller()
class DocumentedController {
  @Get('me')
  @UseGuards(SessionAuthGuard)
  @ApiSessionAuth()
  @ApiOkResponse({ type: UserRecord })
  me(@CurrentUser() user: UserRecord): UserRecord {
    return user;
  }

  @Get('open')
  @Public()
  open(): string {
    return 'open';
  }
}

describe.each(platforms('Express'))('an OpenAPI document on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function documented(): Promise<{ document: OpenAPIObject; reply: Record<string, unknown> }> {
    const service = await bed.service();
    const token = service.signInAs({ role: 'recruiter', ccl_info: { client_id: 7 } });
    const app = await bed.sample(
      { baseUrl: service.url, controllers: [DocumentedController] },
      {
        configure: (one) => {
          const config = addSessionAuth(new DocumentBuilder()).build();
          SwaggerModule.setup('docs', one, () => SwaggerModule.createDocument(one, config), { ui: false });
        },
      },
    );
    const document = (await (await app.get('/docs-json')).json()) as OpenAPIObject;
    return { document, reply: (await (await app.get('/me', token)).json()) as Record<string, unknown> };
  }

  it('names the scheme, and the routes that it is for', async () => {
    const { document } = await documented();
    expect(document.components?.securitySchemes).toMatchObject({
      session: { type: 'apiKey', in: 'header', name: 'X-AUTH-TOKEN', description: TEXT },
    });
    expect(document.paths['/me']?.get?.security).toEqual([{ session: [] }]);
    expect(document.paths['/open']?.get?.security).toBeUndefined();
  });

  it('names the scheme of another token source', () => {
    const config = addSessionAuth(new DocumentBuilder(), { type: 'http', scheme: 'bearer' }).build();
    expect(config.components?.securitySchemes).toEqual({
      session: { type: 'http', scheme: 'bearer', description: TEXT },
    });
  });

  it('has the replies of the guard, with their headers', async () => {
    const { document } = await documented();
    const replies = document.paths['/me']?.get?.responses;
    expect(replies).toHaveProperty('200');
    expect(replies).toMatchObject({
      401: { headers: { 'WWW-Authenticate': {} } },
      503: { headers: { 'Retry-After': {} } },
    });
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/SessionAuthDenial' } } };
    const denial = { content, description: TEXT };
    expect(replies).toMatchObject({ 401: denial, 403: denial, 503: denial });
    expect(document.components?.schemas).toHaveProperty('SessionAuthDenial');
  });

  it('describes each field of the record that a handler sends, by its type and a text', async () => {
    const { document, reply } = await documented();
    const { UserRecord: schema, CclInfo } = (document.components?.schemas ?? {}) as Record<string, object>;
    const { properties = {} } = schema as { readonly properties?: Record<string, object> };
    expect(Object.keys(properties)).toHaveLength(14);
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(reply)));
    expect(properties).not.toHaveProperty('auth_token');
    expect(schema).not.toHaveProperty('required');
    for (const [name, property] of Object.entries(properties)) {
      const type = /_(?:checkbox|enabled)$/.test(name) ? 'boolean' : 'string';
      expect([name, property]).toMatchObject([
        name,
        { description: TEXT, ...(name !== 'ccl_info' && { type }) },
      ]);
    }
    const id = { type: 'integer', description: TEXT };
    expect(CclInfo).toMatchObject({ properties: { client_id: id, company_id: id, location_id: id } });
  });
});

describe('the OpenAPI schema of records that a Standard Schema describes', () => {
  const shift = { enum: ['day', 'night'] };
  const username = { type: 'string' };

  it('is that of what handlers send, by zod and by arktype', () => {
    const byZod = z.object({
      username: z.string().optional(),
      auth_token: z.string(),
      shift: z.enum(['day', 'night']),
      level: z.number().default(1),
      badge: z.string().nullable(),
    });
    const byArktype = type({ 'username?': 'string', auth_token: 'string', shift: "'day' | 'night'" });

    expect(recordSchemaOf(byZod)).toEqual({
      type: 'object',
      properties: {
        username,
        shift: { type: 'string', ...shift },
        level: { type: 'number', default: 1 },
        badge: { type: 'string', nullable: true },
      },
      required: ['shift', 'level', 'badge'],
      additionalProperties: false,
    });
    expect(recordSchemaOf(byArktype)).toEqual({
      type: 'object',
      properties: { username, shift },
      required: ['shift'],
    });
    expect(recordSchemaOf(type({ 'username?': 'string' }))).not.toHaveProperty('required');
  });

  it('is absent where its library gives none, or can not say it', () => {
    expect(() => recordSchemaOf(v.object({ username: v.optional(v.string()) }))).toThrow(
      'recordSchemaOf: a schema of valibot gives no JSON Schema',
    );
    expect(() => recordSchemaOf(z.object({ username: z.string().transform((name) => name.trim()) }))).toThrow(
      'Transforms cannot be represented',
    );
  });
});
