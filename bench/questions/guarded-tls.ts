import { issueCertificate } from '../certificate.js';
import { compare } from '../compare.js';
import { race, type Contender, type LineUp } from '../race.js';
import type { Finding, Question } from '../question.js';
import type { Stage } from '../stage.js';
import { tokens } from '../users.js';

/** So many that no two requests in flight present the same one: no call is shared. */
const TOKENS = 2_000;

const OURS = 'nestjs-session-auth';
const LIMIT = 'limit: undici in a bare guard';
const UNGUARDED = 'unguarded';
const NAMES = { unguarded: UNGUARDED, ours: OURS, undiciDispatch: LIMIT } as const;

/** The price of asking the service over TLS on every request. */
export const guardedTls: Question = {
  name: 'guarded-tls',
  title: 'Requests per second when every request asks the service over TLS (cache off)',
  ask: async (stage) => {
    const findings: Finding[] = [];
    for (const platform of ['Fastify', 'Express'] as const) {
      const result = await race(stage, () => lineUp(stage, platform));
      for (const name of [OURS, LIMIT])
        findings.push(compare(result, { platform, name, against: UNGUARDED }));
      findings.push(compare(result, { platform, name: OURS, against: LIMIT, atLeastByCpu: 0.9 }));
    }
    return {
      findings,
      notes: [
        'TLS 1.3, one certificate of an elliptic curve, keep-alive. Every request brings another token, so that no two share a call.',
      ],
    };
  },
};

async function lineUp(stage: Stage, platform: 'Express' | 'Fastify'): Promise<LineUp> {
  const { certificate, path } = stage.keep(issueCertificate());
  const service = await stage.service({ certificate });
  const traffic = { path: '/openings', header: 'x-auth-token', values: tokens('user', TOKENS) };
  const contenders: Contender[] = [];
  for (const [variant, name] of Object.entries(NAMES) as [keyof typeof NAMES, string][]) {
    const app = await stage.app(
      { platform, variant, serviceUrl: service.url },
      { env: { NODE_EXTRA_CA_CERTS: path } },
    );
    contenders.push({
      name,
      app,
      traffic,
      expectedStatus: 200,
      callsPerRequest: variant === 'unguarded' ? 0 : 1,
    });
  }
  return { contenders, service };
}
