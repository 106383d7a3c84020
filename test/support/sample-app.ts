import {
  Controller,
  Get,
  Module,
  UseGuards,
  type DynamicModule,
  type INestApplicationContext,
  type Provider,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  CurrentUser,
  Public,
  SessionAuthGuard,
  SessionAuthModule,
  UserRecord,
  type SessionAuthExtras,
  type SessionAuthOptions,
} from 'nestjs-session-auth';

/** `GET /me`: guarded, answers with the user. */
@Controller()
@UseGuards(SessionAuthGuard)
export class MeController {
  @Get('me')
  me(@CurrentUser() user: UserRecord): UserRecord {
    return user;
  }

  @Public()
  @Get('open')
  open(): string {
    return 'open';
  }
}

/** The parts of an application under test. */
export interface SampleApp {
  readonly baseUrl: string | URL;
  /** Options and extras beside `baseUrl`. */
  readonly options?: Partial<SessionAuthOptions & SessionAuthExtras>;
  readonly controllers?: Type[];
  readonly providers?: Provider[];
  readonly imports?: DynamicModule[];
}

/** More than any machine takes: a test that is about time sets its own. */
const PATIENT = { timeoutMs: 30_000, signInTimeoutMs: 30_000, signOutTimeoutMs: 30_000 };

@Module({})
class SampleRoot {}

/** A root module with the session check and, unless others are named, {@link MeController}. */
export function sampleApp({
  baseUrl,
  options = {},
  controllers = [MeController],
  providers = [],
  imports = [],
}: SampleApp): DynamicModule {
  return {
    module: SampleRoot,
    imports: [
      SessionAuthModule.forRoot({ baseUrl, apiKey: 'application-key', ...PATIENT, ...options }),
      ...imports,
    ],
    controllers,
    providers,
  };
}

/** The error that stops an application of this root module at its bootstrap. */
export async function bootstrapError(root: Type | DynamicModule): Promise<Error> {
  const started = await NestFactory.createApplicationContext(root, {
    logger: false,
    abortOnError: false,
  }).catch((error: unknown) => error);
  if (started instanceof Error) return started;
  await (started as INestApplicationContext).close();
  throw new Error('The application started');
}
