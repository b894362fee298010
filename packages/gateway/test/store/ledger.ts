// A small store's contents, as a domain would write them, for the tests of the protocol.
import { ServiceError } from '@sallyport/core';
import type { DatabaseSync } from 'node:sqlite';
import type { Areas, Sync } from '../../src/store/embedded/acts.ts';
import type { Migration } from '../../src/store/embedded/migrate.ts';

/** The port, as an engine declares it. */
export interface LedgerActs {
  deposit(input: {
    readonly account: string;
    readonly amount: number;
    readonly memo?: string;
  }): Promise<number>;
  /** Writes first, judges afterwards: the refusal must undo what was written. */
  withdraw(input: { readonly account: string; readonly amount: number }): Promise<number>;
  /** Every way of going wrong that is not a refusal. */
  misbehave(input: {
    readonly how: 'throw' | 'constraint' | 'uncloneable' | 'exit';
    readonly account: string;
  }): Promise<unknown>;
}

export const migrations: readonly Migration[] = [
  {
    name: 'accounts',
    sql: 'CREATE TABLE account (name TEXT PRIMARY KEY, balance INTEGER NOT NULL) STRICT;',
  },
  {
    name: 'entries',
    sql: `CREATE TABLE entry (id INTEGER PRIMARY KEY, account TEXT NOT NULL, amount INTEGER NOT NULL, memo TEXT) STRICT;`,
  },
];

export const areas = { ledger: ledgerActs } satisfies Areas;

function ledgerActs(db: DatabaseSync): Sync<LedgerActs> {
  const change = db.prepare(
    `INSERT INTO account (name, balance) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET balance = balance + excluded.balance RETURNING balance`,
  );
  const enter = db.prepare('INSERT INTO entry (account, amount, memo) VALUES (?, ?, ?)');

  function book(account: string, amount: number, memo: string | null): number {
    enter.run(account, amount, memo);
    return Number(change.get(account, amount)?.['balance']);
  }

  return {
    deposit: ({ account, amount, memo }) => book(account, amount, memo ?? null),
    withdraw({ account, amount }) {
      const balance = book(account, -amount, null);
      if (balance >= 0) return balance;
      throw new ServiceError('conflict', 'Not that much is there.', {
        details: { balance: balance + amount },
        issues: [{ path: 'amount', message: 'too high' }],
        retryAfterMs: 1500,
      });
    },
    misbehave({ how, account }) {
      book(account, 1, null);
      if (how === 'throw') throw new RangeError('a mistake');
      if (how === 'constraint') db.exec('INSERT INTO account SELECT * FROM account');
      if (how === 'uncloneable') return () => 'functions stay where they are';
      return process.exit(3);
    },
  };
}
