import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Sessions } from './sessions.js';

const PURGE_EVERY_MS = 10 * 60 * 1000;

/**
 * Deletes expired sessions at startup and every ten minutes. A session is refused from the moment it expires.
 */
@Injectable()
export class ExpiredSessionPurge implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(ExpiredSessionPurge.name);
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly sessions: Sessions) {}

  async onModuleInit(): Promise<void> {
    await this.sessions.purgeExpired();
    this.timer = setInterval(() => {
      this.sessions.purgeExpired().catch((error: unknown) => {
        this.logger.error(
          error instanceof Error
            ? error.message
            : 'Expired sessions could not be deleted; the next attempt is in ten minutes.',
        );
      });
    }, PURGE_EVERY_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }
}
