import type { Answer } from './answer.ts';
import { html, type Html } from './html.ts';
import type { Fields } from './visit.ts';

/** What a page tells after a redirect. The address carries a name, never a text: others can write addresses, too. */
const notices = {
  'signed-out': 'You are signed out.',
  'session-ended': 'The session has ended.',
  'others-ended': 'You are signed out everywhere else.',
  'login-revoked': 'The program is logged out.',
  'device-revoked': 'The device is no longer trusted.',
  'key-revoked': 'The API key no longer works.',
  'password-changed': 'Your password is changed, and all other sessions have ended.',
} as const;

export type Notice = keyof typeof notices;

export function goTo(path: string, notice: Notice): Answer {
  return { location: `${path}?notice=${notice}` };
}

/** It has the focus, so that it is read out, and so that Tab goes on from there. */
export function noticeOf(query: Fields): Html | undefined {
  const name = query.get('notice') ?? '';
  if (!isNotice(name)) return undefined;
  return html`<p class="notice" role="status" tabindex="-1" autofocus>${notices[name]}</p>`;
}

function isNotice(name: string): name is Notice {
  return Object.hasOwn(notices, name);
}
