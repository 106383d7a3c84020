import { createSign, generateKeyPairSync } from 'node:crypto';
import { REALM } from './keycloak.js';

/**
 * The realm of the Keycloak variant: its public key, and access tokens that it has signed, as an
 * Authorization header has them.
 */
export interface KeycloakRealm {
  readonly publicKey: string;
  readonly bearers: readonly string[];
}

/** Creates a realm with a number of access tokens. */
export function keycloakRealm(serviceUrl: string, count: number): KeycloakRealm {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const now = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: `${serviceUrl}/realms/${REALM}`,
    typ: 'Bearer',
    azp: 'application',
    iat: now,
    exp: now + 3_600,
  };
  const bearers = Array.from({ length: count }, (_, number) => {
    const signed = [
      { alg: 'RS256', typ: 'JWT' },
      { ...claims, jti: String(number), preferred_username: `user-${number}` },
    ]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `Bearer ${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}`;
  });
  return { publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'), bearers };
}
