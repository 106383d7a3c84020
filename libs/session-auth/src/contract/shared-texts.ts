/** Fields whose values many users have in common. */
export const SHARED_FIELDS = ['role', 'sub_role', 'preffered_language', 'client_name', 'display_label'] as const;

const MAX_TEXTS = 1_000;
const MAX_LENGTH = 128;

/** Keeps each text once, up to a limit, so that remembered records of one client share theirs. */
export function sharedTexts(): (value: unknown) => unknown {
  const texts = new Map<string, string>();
  return (value) => {
    if (typeof value !== 'string' || value.length > MAX_LENGTH) return value;
    const known = texts.get(value);
    if (known === undefined && texts.size < MAX_TEXTS) texts.set(value, value);
    return known ?? value;
  };
}
