import { TransportError } from '@sallyport/core';
import { expect, test } from 'vitest';
import { runtimeEventJson } from './event-json.ts';

test('names are those of the wire, an error keeps its words', () => {
  const error = new TransportError('unreachable', 'http://127.0.0.1:1 cannot be reached');
  expect(JSON.parse(JSON.stringify(runtimeEventJson({ type: 'offline', error, retryInMs: 100 })))).toEqual({
    type: 'offline',
    error: { error: 'unreachable', error_description: 'http://127.0.0.1:1 cannot be reached' },
    retry_in_ms: 100,
  });
  const pid = 7;
  expect(runtimeEventJson({ type: 'session.started', sessionId: 's', workId: 'w', pid })).toEqual({
    type: 'session.started',
    session_id: 's',
    work_id: 'w',
    pid,
  });
});
