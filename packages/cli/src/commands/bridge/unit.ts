import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { systemdCommand, systemdWord } from '@sallyport/core/systemd';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes, lastingExitCodes } from '../../io/exit.ts';

/** A systemd user unit (systemd.unit(5)) for the bridge of a directory. */
export interface Unit {
  readonly name: string;
  readonly file: string;
}

export function unitOf({ env }: Pick<Context, 'env'>, directory: string): Unit {
  const slug = basename(directory).replace(/[^A-Za-z0-9_-]+/g, '-') || 'root';
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 6);
  const name = `sallyport-bridge-${slug}-${hash}.service`;
  const config = env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? '', '.config');
  return { name, file: join(config, 'systemd/user', name) };
}

/** Variables that say where the command finds its files and the network; no secret is among them. */
const handedOn = [
  'PATH',
  'SALLYPORT_CONFIG_DIR',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  'SALLYPORT_ORG',
  'NODE_EXTRA_CA_CERTS',
  ...['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy'],
];
/** A proxy's address may have a password. */
const credentials = /:\/\/[^/]*@/;

/** The unit's text: it runs `words` in `directory`, again after a failure, and ends it as Ctrl-C does. */
export function unitText(
  { env }: Pick<Context, 'env'>,
  { directory, words }: { readonly directory: string; readonly words: readonly string[] },
): string {
  const variables = handedOn.flatMap((name) => {
    const value = env[name];
    return value && !credentials.test(value)
      ? [`Environment=${systemdWord(oneLine(`${name}=${value}`))}`]
      : [];
  });
  // These settings know no quotes: with a slash at its end, none of its own can join the next line, and no space is lost.
  const place = `${oneLine(directory).replaceAll('%', '%%').replace(/\/$/, '')}/`;
  return [
    '[Unit]',
    `Description=Sallyport bridge in ${place}`,
    '',
    '[Service]',
    `ExecStart=${systemdCommand(words.map(oneLine))}`,
    `WorkingDirectory=${place}`,
    ...variables,
    'Restart=on-failure',
    'RestartSec=5',
    `RestartPreventExitStatus=${lastingExitCodes.join(' ')}`,
    // The bridge ends its sessions itself: it alone is asked.
    'KillMode=mixed',
    'TimeoutStopSec=30',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
}

function oneLine(text: string): string {
  if (/[\n\r\0]/.test(text))
    throw new CommandError(
      'usage',
      'A unit cannot hold a line break.',
      exitCodes.usage,
      'Put the command into a script, and name that with --exec.',
    );
  return text;
}
