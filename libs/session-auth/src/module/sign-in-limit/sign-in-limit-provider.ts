import type { FactoryProvider } from '@nestjs/common';
import { TOO_MANY_ATTEMPTS } from '../../contract/denials.js';
import { reportDenial } from '../../guard/denial.js';
import { SETTINGS } from '../settings/settings-providers.js';
import type { SessionAuthSettings } from '../settings/settings.js';
import { WarningLog } from '../events/warning-log.js';
import { SignInLimit } from './sign-in-limit.js';

/** The limit of a registration. Logs and publishes each sign-in that it denies. */
export const SIGN_IN_LIMIT: FactoryProvider<SignInLimit> = {
  provide: SignInLimit,
  useFactory: ({ signInLimit, authority }: SessionAuthSettings, log: WarningLog) =>
    new SignInLimit(signInLimit, (network) => {
      log.signInsLimited(network);
      reportDenial(TOO_MANY_ATTEMPTS, authority);
    }),
  inject: [SETTINGS, WarningLog],
};
