import type { Context } from '../../context.ts';
import { pairs } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { spoolOf } from './spool.ts';
import { describeState, telemetryState } from './state.ts';

export async function telemetryStatus(context: Context): Promise<Output> {
  const state = telemetryState(context);
  const { spool, directory } = spoolOf(context);
  const waiting = spool.peek().length;
  const { baseUrl } = context.settings;
  return {
    json: { enabled: state.isOn, decided_by: state.decidedBy, base_url: baseUrl, spool: directory, waiting },
    human: [
      describeState(state),
      pairs([
        ['Sent to:', state.isOn ? baseUrl : 'nobody'],
        ['Waiting:', `${waiting} ${waiting === 1 ? 'event' : 'events'} in ${directory}`],
      ]),
    ].join('\n'),
  };
}
