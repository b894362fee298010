import { reach } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { exitCodes } from '../../io/exit.ts';
import { printable } from '../../io/printable.ts';
import { failed, type Finding, type NamedFinding } from './finding.ts';
import { account, login } from './login.ts';
import { configuration, stateFolder, versions, writable } from './machine.ts';
import {
  clockSkew,
  discovery,
  hear,
  name,
  readiness,
  unreachable,
  type Heard,
  type Reached,
} from './service.ts';
import { upgrade } from './upgrade.ts';

/** Looks at one thing after the other, from the machine outwards; what hangs on a failure is left out. */
export async function doctor(context: Context): Promise<number> {
  const { terminal } = context;
  const findings: NamedFinding[] = [];
  const look = async <V extends Finding>(check: string, act: () => V | Promise<V>) => {
    const finding = await settle(act);
    const { status, says, fix } = finding;
    findings.push({ check, status, says, ...(fix !== undefined && { fix }) });
    if (!terminal.json) terminal.out(`${line(context, check, finding)}\n`);
    return finding;
  };
  await look('versions', versions);
  const configured = await look('configuration', () => configuration(context));
  if (configured.status !== 'fail') {
    await look('config folder', () => writable(context.settings.configDir));
    await look('state folder', () => stateFolder(context));
    await network(context, look);
  }
  const isWell = findings.every(({ status }) => status !== 'fail');
  if (terminal.json) terminal.result({ json: { ok: isWell, findings }, human: '' });
  return isWell ? exitCodes.done : exitCodes.failed;
}

type Look = <V extends Finding>(check: string, act: () => V | Promise<V>) => Promise<V | Finding>;

async function network(context: Context, look: Look): Promise<void> {
  const reached = reach(context);
  const named = await look('name', () => name(context));
  const heard = named.status === 'fail' ? undefined : await listen(context, look, reached);
  if (heard === undefined) {
    await look('login', () => login(context, false));
    return;
  }
  await look('clock', () => clockSkew(heard));
  const ready = await look('readiness', () => readiness(heard));
  const isGateway = 'isGateway' in ready && ready.isGateway;
  const discovered = await look('discovery', () => discovery(context, reached, isGateway));
  // Where nobody can log in, nobody is told to.
  const loggedIn = await look('login', () => login(context, discovered.status !== 'fail'));
  if (loggedIn.status === 'ok') await look('account', () => account(context, reached));
  // Where nothing is a gateway's, a WebSocket is not what is wrong.
  if (isGateway || discovered.status !== 'fail')
    await look('WebSocket', () => upgrade(context, reached, isGateway));
}

async function listen(context: Context, look: Look, reached: Reached): Promise<Heard | undefined> {
  let heard: Heard | undefined;
  await look('address', async () => {
    try {
      heard = await hear(context, reached);
    } catch (error) {
      return unreachable(error);
    }
    return { status: 'ok', says: `${reached.baseUrl} answers within ${heard.heardAt - heard.sentAt} ms` };
  });
  return heard;
}

async function settle<V extends Finding>(act: () => V | Promise<V>): Promise<V | Finding> {
  try {
    return await act();
  } catch (error) {
    return failed(error);
  }
}

function line({ terminal }: Context, check: string, { status, says, fix }: Finding): string {
  const colour = { ok: 'green', warn: 'yellow', fail: 'red' } as const;
  const mark = terminal.style(colour[status], status.padEnd(4));
  return `${mark}  ${check}: ${printable(says)}${fix === undefined ? '' : `\n      ${printable(fix)}`}`;
}
