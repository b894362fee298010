import { html, type Html } from './html.ts';

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** As people read it: `28 Nov 2026, 09:10 UTC`. */
export function momentText(at: number): string {
  return `${format.format(at)} UTC`;
}

/** How long there is to wait, in words, and never too short: `10 minutes`. */
export function waitText(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  if (seconds < 120) return inUnits(seconds, 'second');
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? inUnits(minutes, 'minute') : inUnits(Math.ceil(minutes / 60), 'hour');
}

function inUnits(count: number, unit: 'second' | 'minute' | 'hour'): string {
  return count.toLocaleString('en', { style: 'unit', unit, unitDisplay: 'long' });
}

export function moment(at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}">${momentText(at)}</time>`;
}
