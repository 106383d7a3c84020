import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { openDatabase } from '../../apps/session-service/src/database/open-database.js';
import { seedDemoAccounts } from '../../apps/session-service/src/database/seed-demo-accounts.js';
import { configureApplication } from '../../apps/session-service/src/http/configure-application.js';
import { listen } from '../../apps/session-service/src/http/listen.js';
import { PasswordHashing } from '../../apps/session-service/src/passwords/password-hashing.js';
import { SessionServiceModule } from '../../apps/session-service/src/session-service.module.js';
import { SessionLimits } from '../../apps/session-service/src/sessions/session-limits.js';
import {
  SignInLimits,
  type SignInLimitOptions,
} from '../../apps/session-service/src/sign-in-limits/sign-in-limits.js';
import { HeldPasswordHashing } from './held-password-hashing.js';

/** The reference service, with parts that the test controls. */
export interface HeldReferenceService {
  readonly url: string;
  /** Hashes no password before it is released. */
  readonly hashing: HeldPasswordHashing;
  /** Closes the database. */
  loseDatabase(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the reference service in this process, with the demo accounts. */
export async function startHeldReferenceService(
  limits?: SignInLimitOptions,
  hashing = new HeldPasswordHashing(),
): Promise<HeldReferenceService> {
  const database = await openDatabase();
  await seedDemoAccounts(database, hashing);
  const root = SessionServiceModule.over(database, new SessionLimits(), new SignInLimits(limits));
  const testing = Test.createTestingModule({ imports: [root] });
  const module = await testing.overrideProvider(PasswordHashing).useValue(hashing).compile();
  const app = module.createNestApplication<NestExpressApplication>({ bodyParser: false, logger: false });
  configureApplication(app);
  await app.init();
  const { url } = await listen(app.getHttpServer(), 0, '127.0.0.1');
  return {
    url,
    hashing,
    loseDatabase: () => database.destroy(),
    close: async () => {
      hashing.letGo();
      await app.close();
      await database.destroy();
    },
  };
}
