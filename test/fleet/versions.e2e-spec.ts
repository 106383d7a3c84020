import { expect, it } from '@jest/globals';
import { ValidateBy } from 'class-validator';
import { UserRecord } from 'nestjs-session-auth';
import { json } from 'nestjs-session-auth/testing';
import { PLATFORMS } from '../support/platforms.js';
import { describeWithRedis } from '../support/redis.js';
import { StoreBed } from './store-bed.js';

const READER = { username: 'ann', role: 'reader' };

/** Cannot read what it does not know. */
const Throwing = (): PropertyDecorator =>
  ValidateBy({
    name: 'throwing',
    validator: {
      validate: (value) => {
        if (value !== 'new') throw new Error('This version does not know such a record');
        return true;
      },
    },
  });

class NextRecord extends UserRecord {
  @Throwing() readonly shape?: string;
}

describeWithRedis('another version of an application', () => {
  it.each(PLATFORMS)('on %s has the service decide where it cannot read what was kept', (_name, platform) =>
    StoreBed.during(platform, async (bed) => {
      bed.service.on('user_details', json(READER));
      await bed.kept('token', await bed.connectedApp());
      bed.service.on('user_details', json({ ...READER, shape: 'new' }));
      const next = await bed.connectedApp({ options: { userRecord: NextRecord } });
      expect([(await next.get('/me', 'token')).status, (await next.get('/me', 'token')).status, bed.asked]).toEqual([200, 200, 2]);
    }),
  );
});
