import { ValidateBy } from 'class-validator';

/**
 * Accepts integers that a JavaScript number holds exactly. An id beyond that would silently become another id (our decision).
 */
export function IsSafeInteger(): PropertyDecorator {
  return ValidateBy({
    name: 'isSafeInteger',
    validator: {
      validate: (value: unknown) => Number.isSafeInteger(value),
      defaultMessage: () => '$property must be a safe integer',
    },
  });
}
