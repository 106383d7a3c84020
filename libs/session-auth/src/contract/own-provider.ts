import { InvalidConfigurationError } from './errors.js';

/**
 * Rejects a class of the library that a module lists among its own providers: Nest then creates it without
 * its parts.
 * @throws InvalidConfigurationError always, naming the class
 */
export function rejectOwnProvider(name: string): never {
  throw new InvalidConfigurationError(
    `${name} is among the providers of a module. Remove it there: SessionAuthModule provides it. In a unit test, write { provide: ${name}, useValue: yourMock }.`,
  );
}
