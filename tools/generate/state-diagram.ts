import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultBridgeConfig, workTerms } from '@sallyport/bridge/server';
import {
  conditions,
  finalStates,
  happenings,
  sessionStatus,
  workStates,
  type Condition,
  type Move,
} from '@sallyport/bridge/storage';
import { finalStatuses, type SessionStatus, type WorkState } from '@sallyport/core/contract';
import { markdownTable } from './markdown-table.ts';

/** `docs/states.md` from the bridge's table of states; run this file to write it. A test compares the two. */
export function renderStates(): string {
  return `${[intro, workSection, sessionSection].join('\n\n')}\n`;
}

export const statesPath = join(import.meta.dirname, '../../docs/states.md');

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

const names = Object.keys(workStates) as WorkState[];
const moves = names.flatMap((from) => workStates[from].moves.map((move) => ({ from, move })));
const terms = workTerms(defaultBridgeConfig);

const intro = `# States

What a work item and its session can be, and what moves them on. Generated from the table in
\`packages/bridge/src/server/states.ts\`, which the service itself decides by (\`node -C @sallyport/source tools/generate/state-diagram.ts\`).`;

const workSection = `## Work items

${diagram(
  'queued',
  moves.map(({ from, move }) => ({ from, to: move.to, label: labelOf(move) })),
  finalStates,
)}

The first row that fits is taken; what no row names leaves the item as it is. Times are the defaults of \`bridge.*\` in the configuration.
A raised epoch fences the present worker: whatever it still sends is refused.

${markdownTable(
  ['From', 'What happens', 'To', 'And'],
  moves.map(({ from, move }) => [from, labelOf(move), move.to, effectsOf(move)]),
)}`;

const sessionSection = `## Sessions

A session is what its work is; with running work it is also \`disconnected\` while its environment is silent.

${diagram('queued', sessionEdges(), finalStatuses)}

${markdownTable(
  ['Work', 'Session', 'While its environment is silent'],
  names.map((name) => [name, sessionStatus(name), sessionStatus(name, false)]),
)}`;

function sessionEdges(): Edge[] {
  const byWork = moves.map(({ from, move }) => ({
    from: sessionStatus(from),
    to: sessionStatus(move.to),
    label: labelOf(move),
  }));
  const bySilence = names.flatMap((name) => [
    { from: sessionStatus(name), to: sessionStatus(name, false), label: 'its environment goes silent' },
    { from: sessionStatus(name, false), to: sessionStatus(name), label: 'its environment is back' },
  ]);
  return [...byWork, ...bySilence].filter(({ from, to }) => from !== to);
}

/** A mermaid state diagram, one arrow for each pair of states. */
function diagram(
  first: string,
  edges: readonly Edge[],
  final: readonly (WorkState | SessionStatus)[],
): string {
  const arrows = Map.groupBy(edges, ({ from, to }) => `${from} --> ${to}`);
  const lines = [
    `[*] --> ${first}`,
    ...[...arrows].map(
      ([arrow, same]) => `${arrow} : ${[...new Set(same.map(({ label }) => label))].join('<br/>')}`,
    ),
    ...final.map((state) => `${state} --> [*]`),
  ];
  return ['```mermaid', 'stateDiagram-v2', ...lines.map((line) => `  ${line}`), '```'].join('\n');
}

function labelOf({ on, when }: Move): string {
  const condition: Condition | undefined = when && conditions[when];
  return condition === undefined ? happenings[on] : `${happenings[on]} ${condition.text}`;
}

function reasonOf({ reason }: Move): string | undefined {
  if (reason === 'given') return 'takes the reason that is given';
  if (reason === 'kept') return 'keeps its reason';
  return reason && `reason \`${reason}\``;
}

function effectsOf(move: Move): string {
  return [
    move.deadline && `lapses after ${terms[move.deadline] / 1000} s`,
    move.deliveries === 1 && `counts a delivery, of ${terms.maxDeliveries} at most`,
    move.deliveries === -1 && 'the delivery does not count',
    move.newAttempt && `a new attempt, of ${terms.maxAttempts} at most`,
    move.raisesEpoch && 'raises the epoch',
    move.asksWorker && 'sends `control.stop`',
    reasonOf(move),
  ]
    .filter(Boolean)
    .join('; ');
}

if (import.meta.main) writeFileSync(statesPath, renderStates());
