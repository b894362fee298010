import { previewEvents } from '@sallyport/telemetry';
import type { Context } from '../../context.ts';
import { printable } from '../../io/printable.ts';
import type { Output } from '../../io/terminal.ts';
import { telemetryOptions } from '../../telemetry-options.ts';
import { version } from '../../version.ts';
import { spoolOf } from './spool.ts';
import { describeState, telemetryState } from './state.ts';

/** Of `session run`, the command that has the most to say. */
const example = { name: 'session.created', attributes: { 'session.id': 'session_0' } };

export async function telemetryShow(context: Context): Promise<Output> {
  const { baseUrl, dialect } = context.settings;
  const state = telemetryState(context);
  const waiting = spoolOf(context).spool.peek();
  const headers = { 'user-agent': `sallyport/${version}` };
  const options = { ...telemetryOptions(context), baseUrl, dialect, headers, clock: context.clock };
  const preview = await previewEvents(options, [example]);
  if (!preview) throw new Error('the example makes no request');
  const { terminal } = context;
  if (!state.isOn) terminal.note(`${describeState(state)} Nothing is sent; it would be this.`);
  const request = [
    `POST ${preview.url}`,
    ...Object.entries(preview.headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return {
    json: {
      enabled: state.isOn,
      url: preview.url,
      headers: preview.headers,
      waiting: waiting.map((event) => JSON.parse(event) as unknown),
      example: preview.events.map((event) => JSON.parse(event) as unknown),
    },
    human: [
      ...request,
      '',
      waiting.length === 0 ? 'No events wait.' : `Waiting (${waiting.length}):`,
      ...waiting.map(printable),
      '',
      'An event as `sallyport session run` makes it:',
      ...preview.events,
    ].join('\n'),
  };
}
