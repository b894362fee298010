import type { Context } from '../../context.ts';
import type { Output } from '../../io/terminal.ts';
import { setSetting } from '../config/change.ts';
import { spoolOf } from './spool.ts';
import { describeState, telemetryState } from './state.ts';

export async function telemetryOn(context: Context): Promise<Output> {
  return change(context, 'on');
}

export async function telemetryOff(context: Context): Promise<Output> {
  const output = await change(context, 'off');
  spoolOf(context).spool.clear();
  return output;
}

/** Keeps the switch with the person's settings; whatever wins over it is told. */
async function change(context: Context, value: 'on' | 'off'): Promise<Output> {
  const path = await setSetting(context, 'telemetry', value);
  const state = telemetryState(context);
  if (state.isOn !== (value === 'on'))
    context.terminal.note(
      `Here telemetry is ${state.isOn ? 'on' : 'off'} all the same: ${state.decidedBy} wins.`,
    );
  return {
    json: { telemetry: value, path, enabled: state.isOn, decided_by: state.decidedBy },
    human: state.isOn === (value === 'on') ? describeState(state) : `telemetry is ${value} in ${path}.`,
  };
}
