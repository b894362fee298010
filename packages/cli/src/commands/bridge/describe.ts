import type { RuntimeEvent } from '@sallyport/bridge';
import type { SettingsFlags } from '../../config/settings.ts';
import { loginAgain } from '../../io/login-again.ts';
import { printable } from '../../io/printable.ts';
import { size } from '../../io/size.ts';

/** One line for the person who watches a bridge; `undefined`: nothing worth a line. */
export function describeRuntimeEvent(event: RuntimeEvent, flags: SettingsFlags = {}): string | undefined {
  const line = lineFor(event, flags);
  return line === undefined ? undefined : printable(line);
}

function lineFor(event: RuntimeEvent, flags: SettingsFlags): string | undefined {
  switch (event.type) {
    case 'registered':
      if (event.resumed) return `Environment ${event.environmentId} is taken up again.`;
      return event.instead === undefined
        ? `Registered as environment ${event.environmentId}.`
        : `The service does not have ${event.instead}, as which this directory was registered: it was deleted or archived, or is not this account's. Registered as environment ${event.environmentId}, a new one.`;
    case 'polling':
      return 'Waiting for work; Ctrl-C ends.';
    case 'occupied':
      return 'Another bridge holds this environment; trying again until it lets go.';
    case 'duplicated':
      return `Another process is the bridge of environment ${event.environmentId} as well: its files were copied, perhaps with the whole machine. Work goes to either of the two. End one, or start it with a --name of its own.`;
    case 'offline':
      return `${words(event.error)}; trying again until it answers.`;
    case 'login_required':
      return `${loginEnd(event.error, flags)} Running sessions go on.`;
    case 'refused':
      return `${words(event.error)}; trying again each ${seconds(event.retryInMs)}.`;
    case 'work.skipped':
      return `Work ${event.workId} is not run here: ${event.reason}.`;
    case 'session.started':
      return `Session ${event.sessionId} started${event.pid === undefined ? '' : ` (pid ${event.pid})`}.`;
    case 'session.workspace':
      return `Session ${event.sessionId} works in ${event.directory}.`;
    case 'session.hook_ended': {
      if (event.exitCode === 0) return undefined;
      const how = event.signal === null ? `exit code ${event.exitCode}` : `ended by ${event.signal}`;
      return `--on-end failed for session ${event.sessionId} (${how})${event.output === '' ? '' : `: ${event.output}`}`;
    }
    case 'session.disconnected':
      return `Session ${event.sessionId} lost its stream (${words(event.error)}); its process goes on.`;
    case 'session.connected':
      return `Session ${event.sessionId} has its stream again.`;
    case 'session.ended':
      return `Session ${event.sessionId} ended: ${endOf(event)}.${event.kept === undefined ? '' : ` It left ${event.kept}.`}`;
    case 'stopping':
      return event.sessions === 0
        ? 'Stopping; press Ctrl-C again to end at once.'
        : 'Stopping: sessions end gracefully; press Ctrl-C again to kill them.';
    case 'session.workspace_removed':
      return `The worktree of session ${event.sessionId} is removed: all of it is elsewhere, too.`;
    case 'workspaces_full':
      return `Sessions that are over left ${event.sessions} worktrees with work that is nowhere else (${size(event.bytes)} with what was fetched): see \`sallyport bridge clean\`.`;
    case 'removed':
      return `Environment ${event.environmentId} is removed.`;
    case 'not_removed':
      return `Environment ${event.environmentId} could not be removed (${words(event.error)}): run \`sallyport bridge unregister\` there.`;
    case 'session.output':
    case 'session.event':
    case 'environment_deleted':
    case 'device_revoked':
      return undefined;
  }
}

function loginEnd(error: Error, flags: SettingsFlags): string {
  const code = 'code' in error ? error.code : undefined;
  // What was given in the environment is not renewed by a login.
  if (code === 'token_refused') return error.message;
  if (code === 'other_organization') return `${error.message} The bridge goes on by itself then.`;
  return `The login has ended: run \`${loginAgain(flags)}\`, and the bridge goes on by itself.`;
}

/** Some of these are sentences, some are not; here they are part of one. */
function words({ message }: Error): string {
  return message.replace(/\.\s*$/, '');
}

function endOf(event: Extract<RuntimeEvent, { type: 'session.ended' }>): string {
  if (event.signal !== null) return `${event.reason}, by ${event.signal}`;
  return event.exitCode === null ? event.reason : `${event.reason}, exit code ${event.exitCode}`;
}

function seconds(ms: number): string {
  return `${Math.max(1, Math.round(ms / 1000))} s`;
}
