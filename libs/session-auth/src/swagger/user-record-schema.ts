import 'reflect-metadata';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { CclInfo, UserRecord } from '../contract/record/user-record.js';

type Fields<Target> = { readonly [Field in keyof Target]-?: ApiPropertyOptions };

/** Fields of a returned user. The token is not among them, because it is not enumerable. */
const USER: Fields<Omit<UserRecord, 'auth_token'>> = {
  username: { type: String, description: 'Login name' },
  first_name: { type: String, description: 'First name' },
  last_name: { type: String, description: 'Last name' },
  email: { type: String, description: 'Email' },
  role: { type: String, description: 'Role' },
  sub_role: { type: String, description: 'Sub role; meaningful for a hiring manager' },
  preffered_language: { type: String, description: 'Language that the user selected' },
  help_checkbox: { type: Boolean, description: 'Whether the help check box is enabled' },
  benestream_enabled: { type: Boolean, description: 'Whether the benestream feature is enabled' },
  client_name: { type: String, description: 'Name of the client' },
  ccl_info: { type: CclInfo, description: 'Client, company and location ids' },
  ats_enabled: { type: Boolean, description: 'Whether ATS mode is enabled' },
  obs_enabled: { type: Boolean, description: 'Whether OBS is enabled' },
  display_label: { type: String, description: 'Display label of the client' },
};

const CCL: Fields<CclInfo> = {
  client_id: { type: 'integer', description: 'Client id' },
  company_id: { type: 'integer', description: 'Company id' },
  location_id: { type: 'integer', description: 'Location id' },
};

/**
 * Describes a class for OpenAPI, so that `@ApiOkResponse({ type: UserRecord })` works. Every field is
 * optional.
 */
function describe(
  { prototype }: { readonly prototype: object },
  fields: Readonly<Record<string, ApiPropertyOptions>>,
): void {
  for (const [name, options] of Object.entries(fields))
    ApiProperty({ ...options, required: false } as ApiPropertyOptions)(prototype, name);
}

describe(CclInfo, CCL);
describe(UserRecord, USER);
