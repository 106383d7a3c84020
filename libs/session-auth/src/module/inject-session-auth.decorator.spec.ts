import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { PROPERTY_DEPS_METADATA } from '@nestjs/common/constants.js';
import { SessionAuthEvents } from './events/session-auth-events.js';
import { InjectSessionAuth } from './inject-session-auth.decorator.js';
import { SessionAuthService } from './service/session-auth.service.js';

class Consumer {
  @InjectSessionAuth('partners') readonly partners!: SessionAuthService;
  @InjectSessionAuth('default') readonly own!: SessionAuthService;
  @InjectSessionAuth('partners', SessionAuthEvents) readonly events!: SessionAuthEvents;
}

describe('@InjectSessionAuth()', () => {
  it('injects the service of an authority, or another class of it', () => {
    const injected = Reflect.getMetadata(PROPERTY_DEPS_METADATA, Consumer) as {
      key: string;
      type: unknown;
    }[];
    expect(Object.fromEntries(injected.map(({ key, type }) => [key, type]))).toEqual({
      partners: 'SessionAuthService@partners',
      own: SessionAuthService,
      events: 'SessionAuthEvents@partners',
    });
  });
});
