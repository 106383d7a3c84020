import { describe, expect } from '@jest/globals';
import { SessionAuthEvents } from 'nestjs-session-auth';
import { json } from 'nestjs-session-auth/testing';
import { StoreBed } from './store-bed.js';
import { PLATFORMS } from '../support/platforms.js';
import { describeWithRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { plainRow } from '../support/trial/row.js';

const ANN = { username: 'ann' };

describeWithRedis('an application with a store', () => {
  describe.each(PLATFORMS)('on %s', (_name, platform) => {
    plainRow('lets users in from the store where its client pipelines by itself and gives numbers as strings [Q03]', () =>
      StoreBed.during(platform, async (bed) => {
        bed.service.on('user_details', json(ANN));
        const redis = { enableAutoPipelining: true, stringNumbers: true } as const;
        await bed.kept('token', await bed.connectedApp({ redis }));
        const other = await bed.connectedApp({ redis });
        expect([(await other.get('/me', 'token')).status, (await other.get('/me', 'token')).status, bed.asked]).toEqual([200, 200, 1]);
      }),
    );

    plainRow('that may not subscribe says so in one line of the log and is degraded, until it may [Q05]', () =>
      StoreBed.during(platform, async (bed) => {
        await bed.redis.call('ACL', 'SETUSER', 'deaf', 'on', '>password', '~*', '+@all', 'resetchannels');
        const { app, log } = await bed.app({ redis: { username: 'deaf', password: 'password' } });
        const events = app.get(SessionAuthEvents);
        await until('it is degraded', () => events.serviceStatus.revocationBus === 'interrupted');
        expect(events.serviceStatus.state).toBe('degraded');
        const lines = log.lines.filter((line) => line.includes('revocation bus interrupted'));
        expect(lines).toHaveLength(1);
        expect(lines[0]).not.toContain('password');
        await bed.redis.call('ACL', 'SETUSER', 'deaf', 'allchannels');
        await until('it is up', () => events.serviceStatus.state === 'up' && events.serviceStatus.revocationBus === 'connected');
      }),
    );
  });
});
