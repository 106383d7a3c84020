import 'reflect-metadata';
import type { ModulesContainer } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../contract/authority-name.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import { authorityOf } from '../guard/access-metadata.js';
import type { GuardParts } from '../guard/guard-parts.js';
import { dependenciesOf } from '../guard/nest-container.js';

/** Nest's metadata key of `@WebSocketGateway()`. */
const GATEWAY = 'websockets:is_gateway';

/**
 * Rejects a gateway whose handshakes one authority would check, and whose messages another: the token of a
 * client would reach a session service that the gateway does not name.
 * @throws InvalidConfigurationError
 */
export function rejectForeignSockets(
  modules: ModulesContainer,
  sockets: { readonly authority: string },
  own: GuardParts,
): void {
  for (const gateway of [...modules.values()].flatMap(({ providers }) => [...providers.values()])) {
    const { metatype } = gateway;
    if (typeof metatype !== 'function' || !Reflect.hasMetadata(GATEWAY, metatype)) continue;
    const authority = authorityOf(metatype) ?? DEFAULT_AUTHORITY;
    const isNamed = authority !== DEFAULT_AUTHORITY;
    const checking = isNamed ? undefined : own.registrations?.partsOf(metatype);
    if (
      (authority === sockets.authority && (checking ?? own) === own) ||
      !dependenciesOf(gateway).some((dependency) => dependency?.instance === sockets)
    )
      continue;
    if (authority === sockets.authority)
      throw new InvalidConfigurationError(
        `${metatype.name} has SessionSockets of another registration of SessionAuthModule than that of its module, which checks its messages. Inject those of its module.`,
      );
    throw new InvalidConfigurationError(
      `${metatype.name} has SessionSockets of the authority '${sockets.authority}', and its messages are checked by '${authority}'. Inject those of one authority: @InjectSessionAuth('${authority}', SessionSockets), or put @SessionAuthority('${sockets.authority}') on the gateway.`,
    );
  }
}
