import 'reflect-metadata';
import { ApiProperty, type ApiResponseSchemaHost } from '@nestjs/swagger';
import { CCL_FIELDS, USER_FIELDS } from '../contract/record/record-fields.js';
import { CclInfo, UserRecord, type UserRecordSchema } from '../contract/record/user-record.js';

type Descriptions<Target> = { readonly [Field in keyof Target]-?: string };

/** Fields of a returned user. The token is not among them, because it is not enumerable. */
const USER: Descriptions<Omit<UserRecord, 'auth_token'>> = {
  username: 'Login name',
  first_name: 'First name',
  last_name: 'Last name',
  email: 'Email',
  role: 'Role',
  sub_role: 'Sub role; meaningful for a hiring manager',
  preffered_language: 'Language that the user selected',
  help_checkbox: 'Whether the help check box is enabled',
  benestream_enabled: 'Whether the benestream feature is enabled',
  client_name: 'Name of the client',
  ccl_info: 'Client, company and location ids',
  ats_enabled: 'Whether ATS mode is enabled',
  obs_enabled: 'Whether OBS is enabled',
  display_label: 'Display label of the client',
};

const CCL: Descriptions<CclInfo> = {
  client_id: 'Client id',
  company_id: 'Company id',
  location_id: 'Location id',
};

const TYPES = { string: String, boolean: Boolean, id: 'integer', object: CclInfo } as const;

/**
 * Describes a class for OpenAPI, so that `@ApiOkResponse({ type: UserRecord })` works. Every field is
 * optional.
 */
function describe(
  { prototype }: { readonly prototype: object },
  fields: typeof USER_FIELDS,
  descriptions: Readonly<Record<string, string>>,
): void {
  for (const [name, type] of fields)
    ApiProperty({ type: TYPES[type], description: descriptions[name] ?? '', required: false })(
      prototype,
      name,
    );
}

describe(CclInfo, CCL_FIELDS, CCL);
describe(UserRecord, USER_FIELDS, USER);

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
 * Returns the schema of a record as handlers send it, without the token. Pass it to
 * `@ApiOkResponse({ schema: recordSchemaOf(userRecord) })`. The library of the Standard Schema must produce
 * JSON Schema, as zod 4.2 and arktype do.
 * @throws TypeError if it can't; errors of that library are passed on
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
