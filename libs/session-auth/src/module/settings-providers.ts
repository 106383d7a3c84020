import type { FactoryProvider, Provider } from '@nestjs/common';
import type { ReadUser } from '../client/user-details-verdict.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { MODULE_OPTIONS_TOKEN } from './module-definition.js';
import { REGISTRATION, type Registration } from './authorities/registration.js';
import { WarningLog } from './events/warning-log.js';
import type { SessionAuthOptions } from './options/options.js';
import { isPlainTextBeyondLoopback, namingRegistration } from './settings/option-checks.js';
import { readSettings, SETTINGS, type SessionAuthSettings } from './settings/settings.js';
import { readerFor, readUserWith, USER_READER } from './settings/user-reader.js';

const settings: FactoryProvider<SessionAuthSettings> = {
  provide: SETTINGS,
  useFactory: (options: SessionAuthOptions, { name, extras }: Registration) =>
    readSettings(options, name, extras),
  inject: [MODULE_OPTIONS_TOKEN, REGISTRATION],
};

const warningLog: FactoryProvider<WarningLog> = {
  provide: WarningLog,
  useFactory: ({ baseUrl, authority }: SessionAuthSettings) => {
    const log = new WarningLog(authority);
    if (process.env.NODE_ENV === 'production' && isPlainTextBeyondLoopback(baseUrl)) log.unencryptedBaseUrl();
    return log;
  },
  inject: [SETTINGS],
};

const userReader: FactoryProvider<ReadUser<UserRecord>> = {
  provide: USER_READER,
  useFactory: async (set: SessionAuthSettings, log: WarningLog) => {
    const prepare = await readerFor(set.userRecord);
    return namingRegistration(set.authority, () =>
      readUserWith(set, prepare, (field, requirement) => log.invalidRecord(field, requirement)),
    );
  },
  inject: [SETTINGS, WarningLog],
};

/** Providers of the validated options, and of the objects that depend on nothing else. */
export const SETTINGS_PROVIDERS: Provider[] = [settings, warningLog, userReader];
