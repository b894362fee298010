import { ServiceError } from '@sallyport/core';
import { contract } from '@sallyport/core/contract';
import type { FastifyReply } from 'fastify';
import { html, type Html } from './html.ts';
import { styleElement, styleSource } from './style.ts';

/** What a page's route answers with. */
export type Answer = Page | { readonly location: string };

export interface Page {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  /** Why a form came back: gives the status, unless there is one. */
  readonly error?: ServiceError | undefined;
  /** For lists. */
  readonly isWide?: boolean;
  /**
   * Where a form's redirect leads, beyond this origin. A browser holds `form-action` against every step of the way, and a program
   * may send it on from there, to a page that thanks the person, say: so its scheme is let through (`http:` is https too, CSP 3
   * 6.7.2.8).
   */
  readonly formTarget?: string | undefined;
}

/**
 * The way of a browser's login. An app may have opened it in a window of its own, and hear its end by `window.opener`: any policy
 * but none, on any page of the way, would cut the two apart for good.
 */
const loginRoutes: readonly (string | undefined)[] = [
  contract.oauth.authorizePage.path,
  '/login',
  '/consent',
];

/** Sets status and headers of an answer; gives the document, `undefined` for a redirect. */
export function toDocument(reply: FastifyReply, answer: Answer): string | undefined {
  reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'same-origin' });
  if ('location' in answer) {
    // 303: the browser follows with GET, and never sends the form on.
    reply.code(303).header('location', answer.location);
    return undefined;
  }
  const { title, body, error, status = error?.status ?? 200, formTarget, isWide = false } = answer;
  const retryAfterMs = error?.retryAfterMs;
  const formAction = formTarget === undefined ? "'self'" : `'self' ${new URL(formTarget).protocol}`;
  reply.code(status).type('text/html; charset=utf-8');
  reply.headers({
    'content-security-policy': `default-src 'none'; style-src ${styleSource}; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`,
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': loginRoutes.includes(reply.request.routeOptions.url)
      ? 'unsafe-none'
      : 'same-origin',
    ...(retryAfterMs !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }),
  });
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${error && 'Error: '}${title} - Sallyport</title>
        ${{ markup: styleElement }}
      </head>
      <body>
        <header>${mark} Sallyport</header>
        <main class="${isWide ? 'wide' : 'narrow'}">
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html> `.markup;
}

/** A gate in a wall. */
const mark = html`<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">
  <path fill="currentColor" d="M3 22V11a9 9 0 0 1 18 0v11h-5v-9a4 4 0 0 0-8 0v9z" />
</svg>`;

/** The page of a refusal; `next` is what to do about it. */
export function errorPage(error: ServiceError, next: Html): Page {
  const [title, text] =
    error.status >= 500 && error.code !== 'overloaded'
      ? ['Something went wrong', 'The gateway could not answer. Its log knows more.']
      : [titles[error.code] ?? 'This did not work', error.message];
  return {
    title,
    body: html`<p role="alert">${text}</p>
      ${next}`,
    error,
  };
}

const titles: Readonly<Record<string, string>> = {
  not_found: 'Not found',
  method_not_allowed: 'No page',
  rate_limited: 'Too many tries',
  overloaded: 'Too busy',
  conflict: 'Already decided',
  forbidden: 'Not allowed',
};
