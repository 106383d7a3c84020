import 'reflect-metadata';
import { ApiProperty, type ApiPropertyOptions, type ApiResponseSchemaHost } from '@nestjs/swagger';
import { CclInfo, UserRecord, type UserRecordSchema } from '../contract/record/user-record.js';

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

/** A schema of OpenAPI, as `@ApiOkResponse({ schema })` accepts it. */
export type RecordSchema = Extract<
  ApiResponseSchemaHost['schema'],
  {
    /** Type of the value: a reference has none. */
    readonly type?: unknown;
  }
>;

interface JsonSchema extends Record<string, unknown> {
  properties?: Record<string, unknown>;
  required?: string[];
}

/**
 * Returns what handlers send of the records that a Standard Schema describes, for
 * `@ApiOkResponse({ schema: recordSchemaOf(userRecord) })`: without the token. The library of the schema must
 * give JSON Schema, as zod 4.2 and arktype do.
 * @throws TypeError if it gives none, and what it throws itself
 */
export function recordSchemaOf(userRecord: UserRecordSchema): RecordSchema {
  const { vendor, jsonSchema } = userRecord['~standard'] as UserRecordSchema['~standard'] & {
    readonly jsonSchema?: { output(options: { readonly target: string }): JsonSchema };
  };
  if (!jsonSchema)
    throw new TypeError(
      `recordSchemaOf: a schema of ${vendor} gives no JSON Schema. Use zod 4.2 or later, or write it yourself`,
    );
  const read = (): JsonSchema => {
    try {
      return jsonSchema.output({ target: 'openapi-3.0' });
    } catch {
      return jsonSchema.output({ target: 'draft-07' });
    }
  };
  const schema = { ...read() };
  schema.properties = { ...schema.properties };
  delete schema.$schema;
  delete schema.properties.auth_token;
  if (schema.required) schema.required = schema.required.filter((name) => name !== 'auth_token');
  return schema as RecordSchema;
}
