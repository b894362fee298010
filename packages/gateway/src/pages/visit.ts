import { createHash, timingSafeEqual } from 'node:crypto';
import { randomSecret, ServiceError, type Random } from '@sallyport/core';
import type { AuthorizationServer, IssuedSession, SessionOrigin, SignedIn } from '@sallyport/oauth/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { queryOf } from '../http/paths.ts';
import { cookieHeader, readCookies } from './cookies.ts';
import { html, type Html } from './html.ts';

/** The fields of a form, or of a query. */
export type Fields = URLSearchParams;

/** One browser's request. */
export interface Visit {
  readonly signedIn: (SignedIn & { readonly email: string }) | undefined;
  readonly query: Fields;
  /** The address that it comes from, and what the browser calls itself. */
  readonly origin: SessionOrigin & { readonly address: string };
  /** A hidden field that proves, on its return, that the form was ours: `isOurs`. */
  readonly formProof: Html;
}

/** Cookies and forms of the pages. */
export interface Visits {
  /** The path that the public address puts before every other. */
  readonly base: string;
  visit(request: FastifyRequest, reply: FastifyReply): Promise<Visit>;
  /** Whether a form was sent from this site, and was made for this visitor. */
  isOurs(request: FastifyRequest, fields: Fields): boolean;
  signIn(reply: FastifyReply, session: IssuedSession): void;
  signOut(reply: FastifyReply): void;
}

export function createVisits(
  { issuer, sessions, accounts, config }: AuthorizationServer,
  random: Random,
): Visits {
  const { protocol, pathname, host, port } = new URL(issuer);
  const secure = protocol === 'https:';
  // `__Host-`: no other host of the domain can plant one (RFC 6265bis 4.1.3.2).
  const prefix = secure ? '__Host-' : '';
  // Browsers keep no port with a cookie (RFC 6265 8.5): another gateway of this host has cookies of its own.
  const suffix = port === '' ? '' : `_${port}`;
  const sessionCookie = `${prefix}sallyport_session${suffix}`;
  const formCookie = `${prefix}sallyport_form${suffix}`;

  /** The visitor's secret that proofs are made of: of who is signed in the session key, else a cookie for forms alone. */
  function visitorSecret(request: FastifyRequest): string | undefined {
    const sent = readCookies(request.headers.cookie);
    return sent.get(sessionCookie) ?? sent.get(formCookie);
  }

  function addCookie(reply: FastifyReply, name: string, value: string, maxAgeSeconds?: number): void {
    // Fastify appends `set-cookie` headers, and no other.
    reply.header('set-cookie', cookieHeader(name, value, { secure, maxAgeSeconds }));
  }

  return {
    base: pathname.replace(/\/$/, ''),

    async visit(request, reply) {
      const key = readCookies(request.headers.cookie).get(sessionCookie);
      const signedIn = key === undefined ? undefined : await sessions.authenticate(key).catch(nobody);
      const account = signedIn && (await accounts.get(signedIn.accountId));
      let secret = visitorSecret(request);
      if (secret === undefined) {
        secret = randomSecret(random);
        addCookie(reply, formCookie, secret);
      }
      return {
        signedIn: signedIn && account && { ...signedIn, email: account.email },
        query: new URLSearchParams(queryOf(request.url)),
        origin: { address: request.ip, userAgent: request.headers['user-agent'] ?? null },
        formProof: html`<input type="hidden" name="proof" value="${proofOf(secret)}" />`,
      };
    },

    isOurs(request, fields) {
      const { 'sec-fetch-site': site, origin } = request.headers;
      const secret = visitorSecret(request);
      return (
        (site === undefined || site === 'same-origin' || site === 'none') &&
        (origin === undefined || isOwnOrigin(origin, request)) &&
        secret !== undefined &&
        isSame(fields.get('proof') ?? '', proofOf(secret))
      );
    },

    signIn(reply, { sessionKey }) {
      addCookie(reply, sessionCookie, sessionKey, config.sessionSeconds);
      addCookie(reply, formCookie, '', 0);
    },

    signOut(reply) {
      addCookie(reply, sessionCookie, '', 0);
    },
  };

  /** A browser may know the gateway under another name (localhost) than its public address. */
  function isOwnOrigin(origin: string, request: FastifyRequest): boolean {
    if (!URL.canParse(origin)) return false;
    const sent = new URL(origin).host;
    return sent === host || sent === request.headers.host;
  }
}

function nobody(error: unknown): undefined {
  if (error instanceof ServiceError && error.code === 'invalid_token') return undefined;
  throw error;
}

function proofOf(secret: string): string {
  return createHash('sha256').update(`form ${secret}`).digest('base64url');
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A path on this site, to go on to after the sign-in; anything else is `undefined`. */
export function localPath(text: string | null): string | undefined {
  if (text === null || !/^\/[!-~]*$/.test(text) || /^\/[/\\]/.test(text) || text.includes('\\'))
    return undefined;
  const origin = 'http://here.invalid';
  if (!URL.canParse(text, origin)) return undefined;
  const { origin: reached, pathname, search } = new URL(text, origin);
  // Dot segments may make two slashes of one; what a browser would take for another host is no path.
  return reached === origin && !pathname.startsWith('//') ? pathname + search : undefined;
}
