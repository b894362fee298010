import { z } from 'zod';
import { endpoints, type Endpoint } from '../contract/index.ts';
import { CurrentUserAccess, Bootstrap, ManagedSettings } from '../schemas/account.ts';
import { OrganizationEnvironment, OrganizationEnvironments } from '../schemas/bridge.ts';
import { Deleted } from '../schemas/common.ts';
import { ManagedEnvironment } from '../schemas/environments.ts';
import { ErrorResponse } from '../schemas/error.ts';
import { AuthorizationServerMetadata, JsonWebKeySet, Profile, TokenResponse } from '../schemas/oauth.ts';
import { Session, SessionEvent } from '../schemas/sessions.ts';
import { AnyValue, EventBatch, KeyValue, LogRecord } from '../schemas/telemetry.ts';

/** A JSON Schema (draft 2020-12) as OpenAPI 3.1 takes it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Components {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** Where a schema of a row stands in the document. */
  reference(schema: z.ZodType): JsonSchema;
}

/** Schemas with a name of their own; the others are called after their row. */
const named: Readonly<Record<string, z.ZodType>> = {
  AnyValue,
  AuthorizationServerMetadata,
  Bootstrap,
  CurrentUserAccess,
  Deleted,
  Error: ErrorResponse,
  JsonWebKeySet,
  KeyValue,
  LogRecord,
  ManagedEnvironment,
  ManagedSettings,
  OrganizationEnvironment,
  OrganizationEnvironments,
  Profile,
  Session,
  SessionEvent,
  TokenResponse,
};

const prefix = '#/components/schemas/';

/** Members that a row takes unseen, because an engine judges them one by one: what they must be. */
const judgedByEngine = new Map<unknown, string>([[EventBatch.shape.events.element, 'LogRecord']]);

/** Every body of the contract as a component: requests as a client writes them, answers as it reads them. */
export function createComponents(): Components {
  const requests = z.registry<{ id: string }>();
  const answers = z.registry<{ id: string }>();
  const names = new Map<z.ZodType, string>();
  const add = (registry: typeof answers, schema: z.ZodType, name: string) => {
    if (names.has(schema) || isPlain(schema)) return;
    names.set(schema, name);
    registry.add(schema, { id: name });
  };
  for (const [name, schema] of Object.entries(named)) add(answers, schema, name);
  for (const endpoint of endpoints) {
    if (endpoint.body) add(requests, endpoint.body, `${pascalId(endpoint)}Request`);
    for (const schema of Object.values(endpoint.responses))
      if (schema) add(answers, schema, `${pascalId(endpoint)}Response`);
  }
  const uri = (name: string) => prefix + name;
  const convert = (registry: typeof answers, io: 'input' | 'output') =>
    z.toJSONSchema(registry, {
      uri,
      io,
      target: 'draft-2020-12',
      override({ zodSchema, jsonSchema }) {
        const name = judgedByEngine.get(zodSchema);
        if (name !== undefined) jsonSchema.$ref = uri(name);
      },
    }).schemas;
  const schemas = Object.entries({ ...convert(answers, 'output'), ...convert(requests, 'input') });
  return {
    schemas: Object.fromEntries(
      schemas.sort(([a], [b]) => a.localeCompare(b)).map(([name, schema]) => [name, withoutIds(schema)]),
    ),
    reference(schema) {
      const name = names.get(schema);
      return name === undefined ? inlineSchema(schema) : { $ref: prefix + name };
    },
  };
}

/** A schema in place: a parameter, a header, a body without members. */
export function inlineSchema(schema: z.ZodType): JsonSchema {
  return withoutIds(z.toJSONSchema(schema, { io: 'output', target: 'draft-2020-12' }));
}

function isPlain(schema: z.ZodType): boolean {
  return schema instanceof z.ZodString;
}

function withoutIds({ $schema: _schema, $id: _id, ...rest }: Readonly<Record<string, unknown>>): JsonSchema {
  return rest;
}

/** `sessions.create` as `SessionsCreate`. */
function pascalId({ id }: Endpoint): string {
  return id.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
