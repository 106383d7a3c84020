import { Expose } from 'class-transformer';
import { UserRecord, type SessionAuthOptions } from 'nestjs-session-auth';
import { z } from 'zod';
import { json, reply, type Script } from '../support/scripted-service.js';

/** How a session service answers, and the options by which the library understands it. */
export interface DeviatingService {
  readonly basePath?: string;
  readonly signedIn: (token: string) => Script;
  readonly details: (token: string) => Script;
  readonly wrongPassword?: Script;
  readonly unknownToken?: Script;
  readonly signedOut?: Script;
  readonly options: Partial<SessionAuthOptions>;
}

const created = (body: object): Script =>
  reply(201, JSON.stringify(body), { 'content-type': 'application/json' });
const ann = (token: string): object => ({ username: 'ann', role: 'admin', auth_token: token });

const user = z.object({
  username: z.string(),
  role: z.string().optional(),
  auth_token: z.string().optional(),
});
const renamed = z
  .object({ login: z.string(), roleName: z.string().optional(), access_token: z.string().optional() })
  .transform(({ login, roleName, access_token }) => ({
    username: login,
    role: roleName,
    auth_token: access_token,
  }));
const bothShapes = z.union([
  z
    .object({ session: z.object({ token: z.string() }), user: z.object({ username: z.string() }) })
    .transform(({ session, user: { username } }) => ({ username, role: 'admin', auth_token: session.token })),
  user,
]);

class RenamedRecord extends UserRecord {
  @Expose({ name: 'login' }) override readonly username?: string | undefined = undefined;
}
Expose({ name: 'token' })(RenamedRecord.prototype, 'auth_token');

export const DEVIATING_SERVICES: Readonly<Record<string, DeviatingService>> = {
  'wraps its records, and answers a sign-in with 201': {
    signedIn: (token) => created({ data: ann(token) }),
    details: (token) => json({ data: ann(token) }),
    options: { userRecord: z.object({ data: user }).transform(({ data }) => data) },
  },
  'wraps its records in a list, below a version in the path': {
    basePath: '/api/v2',
    signedIn: (token) => json({ result: [ann(token)] }),
    details: (token) => json({ result: [ann(token)] }),
    options: { userRecord: z.object({ result: z.tuple([user]) }).transform(({ result }) => result[0]) },
  },
  'names its fields and the token otherwise': {
    signedIn: (token) => json({ login: 'ann', roleName: 'admin', access_token: token }),
    details: () => json({ login: 'ann', roleName: 'admin' }),
    options: { userRecord: renamed },
  },
  'names its fields and the token otherwise, for a class': {
    signedIn: (token) => json({ login: 'ann', role: 'admin', token }),
    details: (token) => json({ login: 'ann', role: 'admin', token }),
    options: { userRecord: RenamedRecord },
  },
  'answers a sign-in in another shape than a check': {
    signedIn: (token) => created({ session: { token }, user: { username: 'ann' } }),
    details: (token) => json(ann(token)),
    options: { userRecord: bothShapes },
  },
  'identifies users by a number': {
    signedIn: (token) => json({ id: 7, role: 'admin', auth_token: token }),
    details: () => json({ id: 7, role: 'admin' }),
    options: {
      userRecord: z
        .object({ id: z.int(), role: z.string() })
        .transform(({ id, role }) => ({ username: id === 7 ? 'ann' : String(id), role })),
    },
  },
  'identifies users by a field of its own': {
    signedIn: (token) => json({ client_name: 'ann', role: 'admin', auth_token: token }),
    details: () => json({ client_name: 'ann', role: 'admin' }),
    options: { identityFields: ['client_name'] },
  },
  'renews the token in its records, and answers a sign-out with 204': {
    signedIn: (token) => json(ann(token)),
    details: () => json(ann('another')),
    signedOut: reply(204),
    options: { tokenEcho: 'ignore' },
  },
  'refuses ended sessions with 403, and a wrong password with 404': {
    signedIn: (token) => json(ann(token)),
    details: (token) => json(ann(token)),
    unknownToken: reply(403),
    wrongPassword: reply(404),
    options: { statusMap: { 403: 'unauthenticated' } },
  },
  'refuses a wrong password with 422, and ended sessions with 400': {
    signedIn: (token) => json(ann(token)),
    details: (token) => json(ann(token)),
    unknownToken: reply(400),
    wrongPassword: reply(422, '{"message":"These credentials do not match our records."}'),
    options: { statusMap: { signIn: { 422: 'rejected' } } },
  },
  'refuses ended sessions with a page and 404, below a path': {
    basePath: '/sessions',
    signedIn: (token) => json(ann(token)),
    details: (token) => json(ann(token)),
    unknownToken: reply(404, 'no such session'),
    options: { statusMap: { 404: 'unauthenticated' } },
  },
};
