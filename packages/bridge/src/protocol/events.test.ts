import { expect, test } from 'vitest';
import { isReservedEventType, isReservedForClients, isReservedForProcesses } from './events.ts';

test.each([
  // type, and whether it is reserved for all, clients, processes
  ['session.updated', true, true, true],
  ['ack', true, true, true],
  ['worker.exited', false, true, true],
  ['worker.anything', false, true, true],
  ['control.stop', false, true, true],
  ['control.input', false, false, true],
  ['control.interrupt', false, false, true],
  ['session.message', false, false, false],
  ['note', false, false, false],
])('who may not send %s', (type, all, clients, processes) => {
  expect([isReservedEventType(type), isReservedForClients(type), isReservedForProcesses(type)]).toEqual([
    all,
    clients,
    processes,
  ]);
});
