import type { CauseReports } from '../contract/causes.js';
import type { ReadUser, UserRecord, UserRecordSchema } from '../contract/record/user-record.js';
import type { LocalUser } from '../contract/session-auth-types.js';
import type { CurrentUserRecord } from '../guard/current-user.decorator.js';
import { readerFor, readUserWith } from '../module/settings/record-reader.js';
import { CLIENT_FACTORY, type ClientSetup } from '../module/wiring.js';
import { aUserRecord, type UserRecordFields } from './a-user-record.js';
import { SessionControls, type SessionHeaders, TOKEN_HEADER } from './session-controls.js';
import { TestSessionClient } from './test-session-client.js';

/** The registration that {@link TestSessions} uses. */
interface Connection<User> extends Pick<ClientSetup, 'settings'> {
  readonly readUser: ReadUser<User>;
  readonly causes: Pick<CauseReports, 'occurred'>;
}

const REMEDY = 'Its user gets 503. Correct the fields in the test, or userRecord.';

/** The part of Nest's `TestingModule` that {@link TestSessions} uses. */
interface Closeable {
  /** Closes the module. */
  close(): Promise<void>;
}

/** The part of Nest's `TestingModuleBuilder` that {@link TestSessions} uses. */
export interface OverridableModule {
  /** Selects a provider to replace. */
  overrideProvider(token: unknown): {
    /** Replaces the provider with the result of a factory. */
    useFactory(options: { factory: (...injected: never[]) => unknown; inject: unknown[] }): unknown;
  };
  /** Creates the module under test. */
  compile(...options: never[]): Promise<Closeable>;
}

/**
 * Sessions for the tests of an application, with the real guard, rules and session cache, and without a
 * network. `User` is your own record class, if you have one. Install them in several modules to test several
 * instances with the same sessions. All registrations of `SessionAuthModule` in a module accept them: to keep
 * two session services apart in a test, give each a scripted one.
 *
 * @example
 * ```ts
 * const sessions = new TestSessions();
 * const moduleRef = await sessions.install(Test.createTestingModule({ imports: [AppModule] })).compile();
 * const headers = sessions.signInAs({ role: 'hiring_manager' });
 * ```
 */
export class TestSessions<User extends UserRecord = CurrentUserRecord> extends SessionControls<User> {
  /** One for each registration that uses these sessions. */
  readonly #readers: ReadUser<User>[] = [];

  /**
   * Replaces every session service with these sessions. Call it before `compile()`, which then rejects if the
   * module under test does not have `SessionAuthModule`. Returns the builder.
   */
  install<Builder extends OverridableModule>(builder: Builder): Builder {
    let isInUse = false;
    const newClient = async ({
      settings,
      readUser,
      causes,
    }: Connection<User>): Promise<TestSessionClient<User>> => {
      isInUse = true;
      const isMapped = '~standard' in settings.userRecord;
      const read = isMapped
        ? (readUserWith(settings, await readerFor(UNMAPPED)) as ReadUser<User>)
        : readUser;
      this.#readers.push(read);
      return new TestSessionClient(this.book, (json) =>
        read(json, (field, requirement) =>
          causes.occurred('invalid user record', field, 'TestSessions has a record', requirement, REMEDY),
        ),
      );
    };
    builder.overrideProvider(CLIENT_FACTORY).useFactory({ factory: () => newClient, inject: [] });
    const compile = builder.compile.bind(builder);
    return Object.assign(builder, {
      compile: async (...options: never[]) => {
        const moduleRef = await compile(...options);
        if (isInUse) return moduleRef;
        await moduleRef.close();
        throw new Error(NOT_IN_USE);
      },
    });
  }

  /**
   * Opens a new session, and returns the headers to send. `fields` replace fields of {@link aUserRecord}, whose
   * user is a `hiring_manager` and `approver`. If `userRecord` is a schema, they are the record that it would
   * return: the schema does not run. `localUser` is the application's own user: `loadUser` is then not called.
   * @throws Error that names the field, if no application that uses these sessions can read the record
   */
  signInAs(fields: UserRecordFields<User> = {}, ...localUser: [user?: LocalUser]): SessionHeaders {
    const record = this.recordOf(fields);
    this.#rejectUnreadable(record);
    const token = this.book.open(record);
    if (localUser.length > 0) this.book.localUsers.set(token, localUser[0]);
    return { [TOKEN_HEADER]: token };
  }

  #rejectUnreadable(record: object): void {
    const faults: string[] = [];
    const isRead = (read: ReadUser<User>): boolean =>
      read(record, (field, requirement) => faults.push(`${field}: ${requirement}`)) !== undefined;
    if (this.#readers.length > 0 && !this.#readers.some(isRead))
      throw new Error(`TestSessions has an invalid user record (${faults.join('; ')}). ${REMEDY}`);
  }

  /** @internal */
  protected override recordOf(fields: UserRecordFields<User>): object {
    return aUserRecord<User>(fields);
  }
}

/** Replaces the schema of an application, which may map bodies that a test would have to know. */
const UNMAPPED: UserRecordSchema = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as UserRecord }) },
};

const NOT_IN_USE =
  'TestSessions: the module under test does not have SessionAuthModule. Import the module that registers it, such as AppModule. ' +
  'If it is imported, the test and the application load two copies of nestjs-session-auth.';
