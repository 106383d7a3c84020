import { Controller, Get, Module, UseGuards, type DynamicModule, type Type } from '@nestjs/common';
import {
  CurrentUser,
  fromHeader,
  Public,
  Roles,
  SessionAuthGuard,
  SessionAuthModule,
  type SessionAuthExtras,
  type SessionAuthOptions,
} from 'nestjs-session-auth';
import type { RunningApp } from '../support/platforms.js';
import type { ScriptedService } from '../support/scripted-service.js';
import type { Testbed } from '../support/testbed.js';

export const STAFF = 'x-staff-token';
export const PARTNER = 'x-partner-token';
const PATIENT = { timeoutMs: 30_000 };

type Options = Partial<SessionAuthOptions & SessionAuthExtras>;

/** Two session services, a registration of each, and a user of each. */
export interface TwoServices {
  readonly staff: ScriptedService;
  readonly partner: ScriptedService;
  readonly ann: string;
  readonly bob: string;
  /** Each reads its own header, so that a call may present both sessions. */
  readonly forStaff: (more?: Options) => DynamicModule;
  readonly forPartners: (more?: Options) => DynamicModule;
  /** The tokens that each service was asked about since the last call. */
  readonly asked: () => { staff: unknown[]; partner: unknown[] };
  /** Calls with the sessions of both users. */
  readonly get: (
    app: RunningApp,
    path: string,
    headers?: Record<string, string>,
  ) => Promise<readonly [number, string]>;
}

export async function twoServices(bed: Testbed): Promise<TwoServices> {
  const [staff, partner] = [await bed.service(), await bed.service()];
  const [ann, bob] = [
    staff.signInAs({ username: 'ann', role: 'clerk' }),
    partner.signInAs({ username: 'bob', role: 'clerk' }),
  ];
  const registering =
    ({ url }: ScriptedService, header: string, extras: Options) =>
    (more: Options = {}): DynamicModule =>
      SessionAuthModule.forRoot({
        baseUrl: url,
        apiKey: 'application-key',
        token: fromHeader(header),
        ...PATIENT,
        ...extras,
        ...more,
      });
  const asked = ({ requests }: ScriptedService): unknown[] =>
    requests.splice(0).map((request) => request.headers['x-auth-token']);
  return {
    staff,
    partner,
    ann,
    bob,
    forStaff: registering(staff, STAFF, { isGlobal: false }),
    forPartners: registering(partner, PARTNER, { isGlobal: false }),
    asked: () => ({ staff: asked(staff), partner: asked(partner) }),
    get: async (app, path, headers = { [STAFF]: ann, [PARTNER]: bob }) => {
      const response = await app.get(path, undefined, headers);
      return [response.status, response.ok ? await response.text() : ''] as const;
    },
  };
}

@Module({})
export class Root {}
@Module({})
export class Staff {}
@Module({})
export class Partners {}
@Module({})
export class Between {}

/** Handlers with a rule, with the guard, without either, and open ones. */
export function controllerAt(path: string): Type {
  @Controller(path)
  class SomeController {
    @Get('ruled') @Roles('clerk') ruled(@CurrentUser('username') name: string | undefined): string {
      return String(name);
    }

    @Get('guarded')
    @UseGuards(SessionAuthGuard)
    guarded(@CurrentUser('username') name: string | undefined): string {
      return String(name);
    }

    @Get('plain') plain(@CurrentUser('username') name: string | undefined): string {
      return String(name);
    }

    @Get('open') @Public() open(): string {
      return 'open';
    }
  }
  return SomeController;
}
