import { html, type Html } from './html.ts';

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** As people read it: `28 Nov 2026, 09:10 UTC`. */
export function momentText(at: number): string {
  return `${format.format(at)} UTC`;
}

export function moment(at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}">${momentText(at)}</time>`;
}
