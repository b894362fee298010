import { z } from 'zod';
import { integerParam, Timestamp } from './common.ts';
import { Name } from './name.ts';

/** What the audit log tells of; an entry's `action`. */
export const auditActions = [
  'account.add',
  'account.close',
  'account.erase',
  'account.export',
  'account.lock',
  'account.remove',
  'account.unlock',
  'access_token.revoke',
  'api_key.add',
  'api_key.revoke',
  'client.add',
  'client.remove',
  'device_code.approve',
  'device_code.deny',
  'login.begin',
  'login.revoke',
  'membership.end',
  'membership.set',
  'network.lock',
  'organization.add',
  'organization.change',
  'organization.close',
  'organization.erase',
  'password.set',
  'session.delete',
  'setting.set',
  'setting.unset',
  'setup_link.make',
  'sign_in',
  'sign_out',
  'signing_key.rotate',
  'trusted_device.add',
  'trusted_device.revoke',
] as const;
export type AuditAction = (typeof auditActions)[number];

const RoleName = z.enum(['admin', 'member', 'viewer']);

/** An account, as others are told of it. */
const AccountReference = z.looseObject({ id: z.string(), email: z.string() });

export const PageQuery = z.object({
  limit: z.exactOptional(integerParam(1, Number.MAX_SAFE_INTEGER)),
  offset: z.exactOptional(z.string()).describe('opaque, from the `Link` of the page before'),
});

export const Person = z.looseObject({
  id: z.string(),
  email: z.string(),
  role: RoleName,
  has_password: z.boolean(),
  created_at: Timestamp,
});

/** No more than what no address can be without; nor what is not to be seen, and would make two addresses look alike. */
export const emailForm = /^[^\s\p{C}@]{1,64}@[^\s\p{C}@]{1,190}$/u;
export const Email = z.string().regex(emailForm, 'must be an e-mail address');

export const AddPersonRequest = z.looseObject({
  email: Email,
  role: RoleName.default('member'),
});

export const AddedPerson = Person.extend({
  setup_link: z
    .exactOptional(z.string())
    .describe('sets the password, once; only where the account is no use to anybody yet'),
  setup_link_expires_at: z.exactOptional(Timestamp).describe('where there is a link'),
});

export const UnlockedPerson = z.looseObject({
  id: z.string(),
  email: z.string(),
  was_locked: z
    .boolean()
    .describe('whether wrong passwords had locked it; those so far count no more, be it or not'),
});

export const ChangeRoleRequest = z.looseObject({ role: RoleName });

/** In the words of RFC 7591. */
export const OAuthClient = z.looseObject({
  client_id: z.string(),
  client_name: z.string(),
  redirect_uris: z.array(z.string()),
  grant_types: z.array(z.string()),
  scope: z.string(),
  created_at: Timestamp,
});

export const AddClientRequest = z.looseObject({
  client_name: Name,
  redirect_uris: z.array(z.string()).min(1).max(100),
  scope: z.exactOptional(z.string()).describe('the most that it may ask for; default: all'),
});

export const OrganizationApiKey = z.looseObject({
  id: z.string(),
  account: AccountReference,
  name: z.string().nullable(),
  scope: z.string(),
  created_at: Timestamp,
  expires_at: Timestamp.nullable().describe('`null`: never'),
  last_used_at: Timestamp.nullable().describe('to the minute; `null`: never'),
});

export const OrganizationDevice = z.looseObject({
  id: z.string(),
  account: AccountReference,
  display_name: z.string(),
  created_at: Timestamp,
  last_used_at: Timestamp.nullable().describe('to the minute; `null`: never'),
});

export const OrganizationLogin = z.looseObject({
  id: z.string(),
  account: AccountReference,
  client_id: z.string(),
  client_name: z.string().nullable().describe('`null`: the client was removed'),
  scope: z.string(),
  address: z.string().nullable().describe('where the program logged in from; `null`: not known'),
  created_at: Timestamp,
  refreshed_at: Timestamp.nullable().describe('`null`: never'),
  expires_at: Timestamp,
});

export const OrganizationSignIn = z.looseObject({
  id: z.string(),
  account: AccountReference,
  address: z.string().nullable().describe('where the person signed in from; `null`: not known'),
  user_agent: z.string().nullable().describe('what the browser calls itself; `null`: not known'),
  created_at: Timestamp,
  expires_at: Timestamp,
});

export const SetSettingRequest = z.looseObject({
  value: z
    .unknown()
    .refine((value) => value !== undefined, 'is required')
    .describe('any JSON'),
});

export const AuditQuery = PageQuery.extend({
  actor: z.exactOptional(z.string().min(1).max(256)).describe('an e-mail address, or the id of an actor'),
  action: z.exactOptional(z.enum(auditActions)),
  since: z.exactOptional(Timestamp).describe('from then on'),
  until: z.exactOptional(Timestamp).describe('before then'),
});

export const AuditEntry = z.looseObject({
  id: z.string(),
  at: Timestamp,
  action: z.string().describe('such as `sign_in`'),
  outcome: z.enum(['done', 'failed']),
  actor: z
    .looseObject({
      type: z.enum(['account', 'operator', 'unknown']),
      id: z.string().nullable().describe('an account, or the user of the machine that ran the command'),
      email: z.string().nullable().describe('`null`: no account, or it is there no more'),
    })
    .describe('who did it'),
  account: z
    .looseObject({ id: z.string(), email: z.string().nullable() })
    .nullable()
    .describe('whose account, login, key or device it was done to'),
  organization_id: z.string().nullable(),
  subject: z.string().nullable().describe('the id or name of what was acted on'),
  details: z.record(z.string(), z.unknown()),
  address: z.string().nullable().describe('where the call came from'),
  request_id: z.string().nullable(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;
