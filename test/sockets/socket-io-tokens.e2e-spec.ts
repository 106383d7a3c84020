import { describe, expect, it } from '@jest/globals';
import { fromBearer } from 'nestjs-session-auth';
import { gatewayBed } from './gateway-bed.js';
import { SOCKET_IO, type Presented } from './peers.js';

describe('the handshake of socket.io', () => {
  const bed = gatewayBed(SOCKET_IO);

  async function ask(presented: Presented): Promise<readonly unknown[]> {
    await bed.start();
    return (await bed.connect(presented)).ask('me');
  }

  it.each([
    ['as the token of auth', { auth: { token: 'good' } }],
    ['in auth, by the name of the header', { auth: { 'X-AUTH-TOKEN': 'good' } }],
    ['in a header', { headers: { 'x-auth-token': 'good' } }],
    ['in auth, over one in a header', { auth: { 'x-auth-token': 'good' }, headers: { 'x-auth-token': 'bad' } }],
  ])('has the token %s', async (_place, presented) => {
    bed.service.signInAs({}, 'good');
    expect((await ask(presented))[1]).toMatchObject({ me: 'ann' });
  });

  it.each([
    ['two in auth', { 'x-auth-token': 'good', 'X-AUTH-TOKEN': 'good' }],
    ['one in auth that is no text', { token: { good: 'good' } }],
    ['one among very many fields', { ...Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`f${index}`, 'x'])), token: 'good' }],
    ['one in the prototype', JSON.parse('{ "__proto__": { "token": "good" } }') as Record<string, unknown>],
  ])('has no token when it has %s', async (_case, auth) => {
    bed.service.signInAs({}, 'good');
    expect((await ask({ auth }))[1]).toMatchObject({ statusCode: 401 });
  });

  it('has a bearer token in auth, with its scheme or as the token', async () => {
    bed.service.signInAs({}, 'good');
    await bed.start({ token: fromBearer() });
    const answerTo = async (auth: Record<string, unknown>): Promise<unknown> => (await (await bed.connect({ auth })).ask('me'))[1];

    expect(await answerTo({ token: 'good' })).toMatchObject({ me: 'ann' });
    expect(await answerTo({ Authorization: 'Bearer good' })).toMatchObject({ me: 'ann' });
    expect(await answerTo({ Authorization: 'Basic good', token: 'good' })).toMatchObject({ statusCode: 401 });
  });
});
