import type { Endpoint } from './endpoint.ts';

/** A resource that the specification names by path alone: everything under `prefix`, whatever the method. */
export interface Family extends Pick<Endpoint, 'auth' | 'scope' | 'permission'> {
  readonly name: string;
  readonly prefix: string;
  /** All of it is WebSockets. */
  readonly transport?: 'websocket';
}

const credential = { auth: 'access_token', scope: 'vendor_api', permission: 'read' } as const;

/** How long one may take to answer: a model may think for long before it says the first word. */
export const familyTimeoutMs = 600_000;

/** What only an upstream can serve. */
export const families = [
  { name: 'models', prefix: '/v1/models', ...credential },
  { name: 'messages', prefix: '/v1/messages', ...credential },
  { name: 'agents', prefix: '/v1/agents', ...credential },
  { name: 'vaults', prefix: '/v1/vaults', ...credential },
  { name: 'memory_stores', prefix: '/v1/memory_stores', ...credential },
  { name: 'files', prefix: '/v1/files', ...credential },
  { name: 'skills', prefix: '/v1/skills', ...credential },
  { name: 'user_profiles', prefix: '/v1/user_profiles', ...credential },
  { name: 'voice', prefix: '/api/ws/voice', transport: 'websocket', ...credential },
] as const satisfies readonly Family[];
