import { reasonOf } from '@sallyport/core';

/** How a login in the browser ended, for the person who looks at the browser. */
export interface LoginOutcome {
  readonly status: number;
  readonly title: string;
  readonly text: string;
}

export const loggedIn: LoginOutcome = {
  status: 200,
  title: 'You are logged in',
  text: 'You can close this window and go back to the terminal.',
};

export const notHere: LoginOutcome = {
  status: 404,
  title: 'Nothing here',
  text: 'This address waits for one login only.',
};

export const alreadyUsed: LoginOutcome = {
  status: 410,
  title: 'This login was answered already',
  text: 'Go back to the terminal to see how it ended.',
};

export function failed(error: unknown): LoginOutcome {
  const text = reasonOf(error);
  return { status: 400, title: 'The login failed', text };
}

/** A page that loads nothing, leaks no address (it holds the code) and works in the dark. */
export function resultPage({ title, text }: LoginOutcome): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>body{font:1.125rem/1.5 system-ui,sans-serif;max-width:34rem;margin:20vh auto;padding:0 1.5rem}h1{font-size:1.5rem}</style>
<main><h1>${escaped(title)}</h1><p>${escaped(text)}</p></main>
</html>
`;
}

export const resultPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  connection: 'close',
};

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
