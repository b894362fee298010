import { ServiceError } from '@sallyport/core';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { balances, ledgerContents, openLedger, scratchDirectory } from '../../../test/store/scratch.ts';
import { openEmbeddedStore } from './store.ts';

const ten = Array.from({ length: 10 }, (_, index) => index);

test('acts asked for together share one commit, and are answered in order', async () => {
  const { writer } = await openLedger({ batch: { ms: 60_000 } });
  const { deposit } = writer.area('ledger');
  const answers = await Promise.all(ten.map(() => deposit({ account: 'a', amount: 1 })));
  expect(answers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(writer.stats()).toMatchObject({ acts: 10, batches: 1, waiting: 0, waitingBytes: 0 });
});

test('a batch ends at its limit, and the rest makes the next ones', async () => {
  const { writer } = await openLedger({ batch: { acts: 3 } });
  await Promise.all(ten.map(() => writer.area('ledger').deposit({ account: 'a', amount: 1 })));
  expect(writer.stats()).toMatchObject({ acts: 10, batches: 4 });
});

test('an act that fails undoes itself alone', async () => {
  const { writer, reader } = await openLedger({ batch: { ms: 60_000 } });
  const { deposit, withdraw, misbehave } = writer.area('ledger');
  const ends = await Promise.allSettled([
    deposit({ account: 'a', amount: 5 }),
    withdraw({ account: 'a', amount: 7 }),
    misbehave({ account: 'a', how: 'throw' }),
    misbehave({ account: 'b', how: 'constraint' }),
    withdraw({ account: 'a', amount: 2 }),
  ]);
  expect(ends.map((end) => end.status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'rejected',
    'fulfilled',
  ]);
  expect(writer.stats().batches).toBe(1);
  expect(balances(reader)).toEqual({ a: 3 });
  expect(reader.query('SELECT amount FROM entry LIMIT 9').all()).toEqual([{ amount: 5 }, { amount: -2 }]);
});

test('an answered act is seen by the next read', async () => {
  const { writer, reader } = await openLedger();
  for (const count of ten) {
    await writer.area('ledger').deposit({ account: 'a', amount: 1 });
    expect(balances(reader)).toEqual({ a: count + 1 });
  }
});

test('errors arrive as what they were', async () => {
  const { writer } = await openLedger();
  const { withdraw, misbehave } = writer.area('ledger');
  const refusal: unknown = await withdraw({ account: 'a', amount: 7 }).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ServiceError);
  expect(refusal).toMatchObject({
    code: 'conflict',
    status: 409,
    message: 'Not that much is there.',
    details: { balance: 0 },
    issues: [{ path: 'amount', message: 'too high' }],
    retryAfterMs: 1500,
  });
  const mistake: unknown = await misbehave({ account: 'a', how: 'throw' }).catch((error: unknown) => error);
  expect(mistake).toMatchObject({ name: 'RangeError', message: 'a mistake' });
  expect((mistake as Error).stack).toContain('ledger.ts');
  const constraint = misbehave({ account: 'a', how: 'constraint' });
  await expect(constraint).rejects.toMatchObject({ code: 'ERR_SQLITE_ERROR', errcode: 1555 });
});

test('what cannot be cloned costs only the act it belongs to', async () => {
  const { writer, reader } = await openLedger();
  const { deposit, misbehave } = writer.area('ledger');
  const odd = { account: 'a', amount: 1, memo: () => 'no' } as unknown as { account: string; amount: number };
  const [before, argument, after] = await Promise.allSettled([
    deposit({ account: 'a', amount: 1 }),
    deposit(odd),
    deposit({ account: 'a', amount: 1 }),
  ]);
  expect([before.status, argument.status, after.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  const [answer, other] = await Promise.allSettled([
    misbehave({ account: 'b', how: 'uncloneable' }),
    deposit({ account: 'a', amount: 1 }),
  ]);
  expect([answer.status, other.status]).toEqual(['rejected', 'fulfilled']);
  expect(balances(reader)).toEqual({ a: 3, b: 1 });
  expect(writer.stats()).toMatchObject({ waiting: 0, waitingBytes: 0 });
});

test('too many waiting acts, or too large ones, are refused at once', async () => {
  const { writer, reader } = await openLedger({ maxWaiting: 4, maxWaitingBytes: 10_000 });
  const { deposit } = writer.area('ledger');
  const many = await Promise.allSettled(ten.map(() => deposit({ account: 'a', amount: 1 })));
  expect(many.filter((end) => end.status === 'fulfilled')).toHaveLength(4);
  expect(many[9]).toMatchObject({ reason: { code: 'overloaded', status: 503, retryAfterMs: 1000 } });
  const memo = 'x'.repeat(6000);
  const large = await Promise.allSettled([1, 2].map(() => deposit({ account: 'b', amount: 1, memo })));
  expect(large.map((end) => end.status)).toEqual(['fulfilled', 'rejected']);
  expect(balances(reader)).toEqual({ a: 4, b: 1 });
});

test('close answers what waits, refuses what comes, and folds the log in', async () => {
  const { writer, reader, path } = await openLedger();
  const { deposit } = writer.area('ledger');
  const waiting = Promise.all(ten.map(() => deposit({ account: 'a', amount: 1 })));
  const closed = writer.close();
  await expect(deposit({ account: 'a', amount: 1 })).rejects.toMatchObject({ code: 'store_unavailable' });
  await Promise.all([closed, writer.close()]);
  expect((await waiting).at(-1)).toBe(10);
  expect(balances(reader)).toEqual({ a: 10 });
  reader.close();
  expect(existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0).toBe(false);
});

test('when the thread dies every waiting and later act is told, and so is the owner', async () => {
  const fatal: Error[] = [];
  const { writer } = await openLedger({ onFatal: (error) => fatal.push(error) });
  const { deposit, misbehave } = writer.area('ledger');
  const ends = await Promise.allSettled([
    misbehave({ account: 'a', how: 'exit' }),
    deposit({ account: 'a', amount: 1 }),
  ]);
  for (const end of ends) expect(end).toMatchObject({ reason: { code: 'store_unavailable', status: 503 } });
  await expect(deposit({ account: 'a', amount: 1 })).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(fatal.map((error) => error.message)).toEqual(["The store's writer ended with code 3."]);
  await writer.close();
});

test('another process may write meanwhile, and its writes are read', async () => {
  const { writer, reader, path } = await openLedger();
  const admin = await openLedger({ path });
  await Promise.all([
    ...ten.map(() => writer.area('ledger').deposit({ account: 'a', amount: 1 })),
    ...ten.map(() => admin.writer.area('ledger').deposit({ account: 'a', amount: 1 })),
  ]);
  expect(balances(reader)).toEqual({ a: 20 });
});

test('the file is its owner’s alone', async () => {
  const { path } = await openLedger();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
});

test('a reader cannot write', async () => {
  const { reader } = await openLedger();
  expect(() => reader.query("INSERT INTO account VALUES ('a', 1)").all()).toThrow('readonly');
});

test('an answer that cannot be read ends the thread, so that a close does not wait for it', async () => {
  const post = vi.spyOn(Worker.prototype, 'postMessage');
  onTestFinished(() => post.mockRestore());
  const fatal: Error[] = [];
  const { writer } = await openLedger({ onFatal: (error) => fatal.push(error) });
  await writer.area('ledger').deposit({ account: 'a', amount: 1 });
  (post.mock.contexts.at(-1) as Worker).emit('messageerror', new Error('unreadable'));
  await expect(writer.area('ledger').deposit({ account: 'a', amount: 1 })).rejects.toMatchObject({
    code: 'store_unavailable',
  });
  await writer.close();
  expect(fatal).toEqual([new Error('unreadable')]);
});

test('a store whose reads cannot be opened leaves no writer behind', async () => {
  const path = join(scratchDirectory(), 'store.db');
  // The ledger's tables are not the gateway's.
  await expect(openEmbeddedStore({ path, contents: ledgerContents })).rejects.toThrow('no such table');
  // The writer folded its log in.
  expect(existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0).toBe(false);
});
