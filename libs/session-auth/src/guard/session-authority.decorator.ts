import { AUTHORITY_NAME_FORM, isAuthorityName } from '../contract/authority-name.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import { checkedBy } from './declare-access.js';

/**
 * Names the registration of `SessionAuthModule` that checks the calls of a handler, or of all handlers of a
 * controller, resolver or gateway: the token comes from the sources of that registration, and no other
 * session service receives it. `'default'` is the registration without a name. A handler's name replaces its
 * controller's, and both replace the option `authority`. A name that is not registered stops the application
 * at bootstrap. Closes a handler of a `@Public()` controller. Applies `SessionAuthGuard`.
 * @throws InvalidConfigurationError if `name` can't be that of a registration
 */
export function SessionAuthority(name: string): ClassDecorator & MethodDecorator {
  if (isAuthorityName(name)) return checkedBy(name);
  throw new InvalidConfigurationError(
    `@SessionAuthority() needs the name of a registration of SessionAuthModule: ${AUTHORITY_NAME_FORM}.`,
  );
}
