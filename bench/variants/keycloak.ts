import { AuthGuard, KeycloakConnectModule, TokenValidation } from 'nest-keycloak-connect';
import type { VariantParts, VariantSetup } from './variant.js';

/** Name of the realm in the tokens' issuer. */
export const REALM = 'bench';

/** nest-keycloak-connect, which asks the realm about every token (online validation). */
export function variant({ serviceUrl, realmPublicKey = '' }: VariantSetup): VariantParts {
  const keycloak = KeycloakConnectModule.register({
    authServerUrl: serviceUrl,
    realm: REALM,
    clientId: 'application',
    secret: 'application-secret',
    bearerOnly: true,
    realmPublicKey,
    tokenValidation: TokenValidation.ONLINE,
  });
  return { imports: [keycloak], guard: AuthGuard };
}
