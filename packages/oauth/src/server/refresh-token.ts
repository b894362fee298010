import { createHmac } from 'node:crypto';
import type { Family } from './records.ts';
import { sameSecret } from './secrets.ts';

const prefix = 'spr_';

/**
 * A refresh token is its family, its generation and a MAC of both: the store holds none, and any process that has the key
 * derives the same successor for a client that lost a reply.
 */
export function refreshToken(family: Pick<Family, 'id' | 'generation'>, key: string): string {
  return `${prefix}${family.id}.${family.generation}.${mac(family, key)}`;
}

/** Gives what a genuine refresh token is of; `undefined` for any other text. */
export function readRefreshToken(token: string, key: string): Pick<Family, 'id' | 'generation'> | undefined {
  const [, id, digits, sent] = /^spr_([0-9a-f-]{36})\.([1-9]\d{0,14})\.([\w-]{43})$/.exec(token) ?? [];
  if (id === undefined || sent === undefined) return undefined;
  const named = { id, generation: Number(digits) };
  return sameSecret(sent, mac(named, key)) ? named : undefined;
}

function mac({ id, generation }: Pick<Family, 'id' | 'generation'>, key: string): string {
  return createHmac('sha256', key).update(`refresh ${id} ${generation}`).digest('base64url');
}
