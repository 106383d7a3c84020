import { parseArgs } from 'node:util';
import { StartError } from '../start-error.js';
import { type UserProfile } from '../users/user-record.js';

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;

/**
 * Parses the arguments of `add-user`: `USERNAME --role hiring_manager --sub-role approver --client-id 12
 * --ats-enabled`.
 */
export function parseUserArguments(args: string[]): {
  readonly profile: UserProfile;
  readonly pending: boolean;
} {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      'first-name': TEXT,
      'last-name': TEXT,
      email: TEXT,
      role: TEXT,
      'sub-role': TEXT,
      'preffered-language': TEXT,
      'client-name': TEXT,
      'display-label': TEXT,
      'client-id': TEXT,
      'company-id': TEXT,
      'location-id': TEXT,
      'help-checkbox': FLAG,
      'benestream-enabled': FLAG,
      'ats-enabled': FLAG,
      'obs-enabled': FLAG,
      pending: FLAG,
    },
  });
  const { pending = false, ...given } = values;
  const [username] = positionals;
  if (positionals.length !== 1 || !username)
    throw new StartError('add-user needs exactly one USERNAME; run admin.js without arguments for help');
  const fields = Object.entries(given).map(([name, value]) => [name.replaceAll('-', '_'), value] as const);
  const identifiers = fields
    .filter(([name]) => name.endsWith('_id'))
    .map(([name, value]) => [name, identifierFrom(name, value)] as const);
  const others = fields.filter(([name]) => !name.endsWith('_id'));
  const cclInfo = identifiers.length > 0 ? { ccl_info: Object.fromEntries(identifiers) } : {};
  return { profile: { ...FLAGS_OFF, ...Object.fromEntries(others), ...cclInfo, username }, pending };
}

const FLAGS_OFF = {
  help_checkbox: false,
  benestream_enabled: false,
  ats_enabled: false,
  obs_enabled: false,
} as const;

function identifierFrom(name: string, value: string | boolean): number {
  const identifier = Number(value);
  if (value === '' || !Number.isSafeInteger(identifier))
    throw new StartError(`${name} must be a whole number`);
  return identifier;
}
