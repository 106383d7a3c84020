import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import { InvalidConfigurationError } from '../../contract/errors.js';
import { authorityOf } from '../../guard/access/access-metadata.js';
import { classesOf, handlersIn } from '../handlers/handlers.js';
import { nameIn } from './registration.js';

/** Rejects `@SessionAuthority()` with a name that no registration has. @throws InvalidConfigurationError */
export function rejectUnknownAuthorities(modules: ModulesContainer): void {
  const names = new Set([...modules.values()].map(nameIn)).add(DEFAULT_AUTHORITY);
  for (const owner of new Set([...modules.values()].flatMap(classesOf))) {
    for (const [place, name] of authoritiesOf(owner)) {
      if (names.has(name)) continue;
      throw new InvalidConfigurationError(
        `${place} has @SessionAuthority('${name}'), which is not registered. Import SessionAuthModule.forRoot({ name: '${name}', baseUrl, apiKey }), or correct the name.`,
      );
    }
  }
}

function authoritiesOf(owner: Type): [place: string, name: string][] {
  const all = [
    [owner.name, authorityOf(owner)] as const,
    ...handlersIn(owner).map(({ name, method }) => [`${owner.name}.${name}`, authorityOf(method)] as const),
  ];
  return all.flatMap(([place, name]) => (name === undefined ? [] : [[place, name] as [string, string]]));
}
