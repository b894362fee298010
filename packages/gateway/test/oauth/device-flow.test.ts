import { randomBytes } from 'node:crypto';
import { systemRandom, type Random } from '@sallyport/core';
import { describe, expect, test } from 'vitest';
import { clientId, issuer, openServer, refusal } from './open-server.ts';

const here = '127.0.0.1';

describe('the start of a device flow', () => {
  test('gives both codes and where to go', async () => {
    const { server } = await openServer();
    const started = await server.deviceFlow.start({ client_id: clientId }, here);
    expect(started).toMatchObject({
      verification_uri: `${issuer}/device`,
      verification_uri_complete: `${issuer}/device?user_code=${started.user_code}`,
      expires_in: 900,
      interval: 5,
    });
    expect(started.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(started.device_code).toMatch(/^spd_[\w-]{43}$/);
  });

  test.each([
    ['no client', {}, 'invalid_request', 400],
    ['an unknown client', { client_id: 'nobody' }, 'invalid_client', 400],
    ['a scope beyond the client', { client_id: clientId, scope: 'root' }, 'invalid_scope', 400],
  ])('refuses %s', async (_case, body, code, status) => {
    const { server } = await openServer();
    await expect(server.deviceFlow.start(body, here)).rejects.toMatchObject({ code, status });
  });

  test('draws another user code where a live one has it', async () => {
    const bytes = [new Uint8Array(8).fill(1), new Uint8Array(8).fill(1), new Uint8Array(8).fill(2)];
    const random: Random = {
      ...systemRandom,
      bytes: (count) => (count === 8 ? (bytes.shift() ?? randomBytes(8)) : randomBytes(count)),
    };
    const { server, clock } = await openServer({}, { random });
    const start = async () =>
      (await server.deviceFlow.start({ client_id: clientId }, here)).user_code.slice(0, 2);
    expect([await start(), await start()]).toEqual(['CC', 'DD']);
    bytes.push(new Uint8Array(8).fill(1));
    clock.jump(900_000);
    expect(await start()).toBe('CC');
  });

  test('too many pending ones are refused, and none is thrown out for them', async () => {
    const { server, poll } = await openServer({ maxPendingDeviceCodes: 3 });
    const first = await server.deviceFlow.start({ client_id: clientId }, here);
    await server.deviceFlow.start({ client_id: clientId }, here);
    await server.deviceFlow.start({ client_id: clientId }, here);
    await expect(server.deviceFlow.start({ client_id: clientId }, here)).rejects.toMatchObject({
      status: 429,
    });
    await server.deviceFlow.start({ client_id: clientId }, '10.0.0.9');
    expect(await refusal(poll(first.device_code))).toBe('authorization_pending');
  });

  test('pending ones count by the network of an IPv6 address, and the person is shown the address itself', async () => {
    const { server, owner } = await openServer({ maxPendingDeviceCodes: 2 });
    const start = (address: string) => server.deviceFlow.start({ client_id: clientId }, address);
    await start('2001:db8::1');
    const { user_code: code } = await start('2001:DB8:0:0:ffff::2');
    await expect(start('2001:db8::3%eth0')).rejects.toMatchObject({ status: 429 });
    await start('2001:db8:0:1::1');
    await start('203.0.113.1');
    // The same as an IPv4 address that a socket for both kinds has taken.
    await start('::ffff:203.0.113.1');
    await expect(start('203.0.113.1')).rejects.toMatchObject({ status: 429 });
    await start('203.0.113.2');
    expect(await server.deviceFlow.find(code, owner, here)).toMatchObject({
      address: '2001:DB8:0:0:ffff::2',
    });
  });
});

describe('a poll', () => {
  test('on time is pending; early slows down for good, and does not move the clock', async () => {
    const { server, clock, poll } = await openServer();
    const { device_code: code } = await server.deviceFlow.start({ client_id: clientId }, here);
    expect(await refusal(poll(code))).toBe('authorization_pending');
    clock.jump(4000);
    expect(await refusal(poll(code))).toBe('authorization_pending');
    clock.jump(3999);
    await expect(poll(code)).rejects.toMatchObject({
      code: 'slow_down',
      status: 400,
      details: { interval: 10 },
      retryAfterMs: 10_000,
    });
    clock.jump(5001);
    expect(await refusal(poll(code))).toBe('authorization_pending');
    clock.jump(8999);
    await expect(poll(code)).rejects.toMatchObject({ code: 'slow_down', details: { interval: 15 } });
  });

  test('is on time where the clock was set back since the last one', async () => {
    const { server, clock, poll } = await openServer();
    const { device_code: code } = await server.deviceFlow.start({ client_id: clientId }, here);
    expect(await refusal(poll(code))).toBe('authorization_pending');
    clock.jump(-3600_000);
    expect(await refusal(poll(code))).toBe('authorization_pending');
    clock.jump(3999);
    expect(await refusal(poll(code))).toBe('slow_down');
  });

  test('slows down to 30 seconds at most', async () => {
    const { server, poll } = await openServer();
    const { device_code: code } = await server.deviceFlow.start({ client_id: clientId }, here);
    await refusal(poll(code));
    for (let count = 0; count < 9; count += 1) await refusal(poll(code));
    await expect(poll(code)).rejects.toMatchObject({ details: { interval: 30 } });
  });

  test('an approved one gives tokens once, at whatever pace', async () => {
    const { server, owner, organizationId, poll } = await openServer();
    const started = await server.deviceFlow.start({ client_id: clientId, scope: 'profile vendor_api' }, here);
    await refusal(poll(started.device_code));
    const typed = ` ${started.user_code.toLowerCase().replace('-', ' ')} `;
    const decision = { approve: true, organizationId };
    await server.deviceFlow.decide(typed, owner, here, decision);
    const tokens = await poll(started.device_code);
    expect(tokens.scope).toBe('profile vendor_api');
    expect((await server.accessTokens.verify(tokens.access_token)).organizationId).toBe(organizationId);
    expect(await refusal(poll(started.device_code))).toBe('invalid_grant');
    expect(await refusal(server.deviceFlow.decide(typed, owner, here, decision))).toBe('conflict');
  });

  test('many at once after the approval: one gets tokens', async () => {
    const { server, owner, organizationId, poll } = await openServer();
    const started = await server.deviceFlow.start({ client_id: clientId }, here);
    await server.deviceFlow.decide(started.user_code, owner, here, { approve: true, organizationId });
    const answers = await Promise.allSettled(Array.from({ length: 6 }, () => poll(started.device_code)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('one that was approved by who has left the organization since gives nothing, though they come back', async () => {
    const { server, organizationId, poll } = await openServer();
    const ann = await server.accounts.add({ email: 'ann@example.com' });
    const { accountId, sessionId } = await server.sessions.issue(ann.id);
    const { device_code: code, user_code: typed } = await server.deviceFlow.start(
      { client_id: clientId },
      here,
    );
    const decision = { approve: true, organizationId };
    await server.deviceFlow.decide(typed, { accountId, sessionId }, here, decision);
    await server.members.leave(ann.id, organizationId);
    expect(await refusal(poll(code))).toBe('invalid_grant');
    await server.members.setRole(ann.id, organizationId, 'member');
    expect(await refusal(poll(code))).toBe('invalid_grant');
    expect(await server.logins.list({ accountId, organizationId })).toEqual([]);
  });

  test('one that was approved by who is being erased since gives nothing, during the erasure and after it', async () => {
    const { server, organizationId, poll } = await openServer();
    const ann = await server.accounts.add({ email: 'ann@example.com' });
    const { accountId, sessionId } = await server.sessions.issue(ann.id);
    const { device_code: code, user_code: typed } = await server.deviceFlow.start(
      { client_id: clientId },
      here,
    );
    const { user_code: another } = await server.deviceFlow.start({ client_id: clientId }, here);
    const decide = (userCode: string) =>
      server.deviceFlow.decide(userCode, { accountId, sessionId }, here, { approve: true, organizationId });
    await decide(typed);
    await server.accountData.close(ann.id);
    expect(await refusal(poll(code))).toBe('invalid_grant');
    expect(await refusal(decide(another))).toBe('forbidden');
    await server.accountData.erase(ann.id);
    expect(await refusal(poll(code))).toBe('invalid_grant');
  });

  test('a denied one stays denied', async () => {
    const { server, clock, owner, organizationId, poll } = await openServer();
    const started = await server.deviceFlow.start({ client_id: clientId }, here);
    await server.deviceFlow.decide(started.user_code, owner, here, { approve: false, organizationId });
    expect(await refusal(poll(started.device_code))).toBe('access_denied');
    clock.jump(1000);
    expect(await refusal(poll(started.device_code))).toBe('access_denied');
  });

  test('expires after 900 seconds and says so for an hour; an approval in the last second can be fetched', async () => {
    const { server, clock, owner, organizationId, poll } = await openServer();
    const [slow, quick, never] = [
      await server.deviceFlow.start({ client_id: clientId }, here),
      await server.deviceFlow.start({ client_id: clientId }, here),
      await server.deviceFlow.start({ client_id: clientId }, here),
    ];
    clock.jump(899_999);
    const decision = { approve: true, organizationId };
    await server.deviceFlow.decide(quick.user_code, owner, here, decision);
    await server.deviceFlow.decide(slow.user_code, owner, here, decision);
    clock.jump(10_000);
    expect(await refusal(poll(quick.device_code))).toBe(undefined);
    clock.jump(1);
    expect(await refusal(poll(slow.device_code))).toBe('expired_token');
    expect(await refusal(server.deviceFlow.decide(never.user_code, owner, here, decision))).toBe('not_found');
    clock.jump(3500_000);
    await server.sweep();
    expect(await refusal(poll(never.device_code))).toBe('expired_token');
    clock.jump(100_000);
    await server.sweep();
    expect(await refusal(poll(never.device_code))).toBe('invalid_grant');
  });

  test("another client's code is not known to it, and stays good", async () => {
    const { server, poll } = await openServer();
    const other = await server.clients.add({ name: 'Other', redirectUris: [] });
    const { device_code: code } = await server.deviceFlow.start({ client_id: clientId }, here);
    expect(await refusal(poll(code, { client_id: other.id }))).toBe('invalid_grant');
    expect(await refusal(poll(code))).toBe('authorization_pending');
  });

  test('after too many refusals a poll is told to slow down, which clients survive', async () => {
    const { server, poll, code, exchange } = await openServer({
      failures: {
        windowSeconds: 60,
        passwords: 1,
        passwordsPerAddress: 1,
        userCodes: 1,
        userCodesPerAddress: 1,
        tokens: 2,
      },
    });
    const { device_code: pending } = await server.deviceFlow.start({ client_id: clientId }, here);
    await refusal(poll('spd_wrong'));
    await refusal(poll('spd_wrong'));
    await expect(poll('spd_wrong')).rejects.toMatchObject({
      code: 'slow_down',
      status: 429,
      retryAfterMs: 60_000,
    });
    // Only what fails is refused: behind one address there may be many honest processes.
    expect(await refusal(poll(pending))).toBe('authorization_pending');
    expect(await refusal(exchange(await code()))).toBe(undefined);
  });
});

describe('a typed user code', () => {
  test('five wrong ones end a session, twenty an address; both come back after ten minutes', async () => {
    const { server, clock, owner, organizationId } = await openServer();
    const right = (await server.deviceFlow.start({ client_id: clientId }, here)).user_code;
    const find = (code: string, sessionId: string, address: string) =>
      refusal(server.deviceFlow.find(code, { ...owner, sessionId }, address));
    for (let count = 0; count < 5; count += 1) expect(await find('BBBB-BBBB', 'one', here)).toBe('not_found');
    expect(await find(right, 'one', here)).toBe('rate_limited');
    expect(await find(right, 'two', here)).toBe(undefined);
    for (let count = 0; count < 15; count += 1) await find('BBBB-BBBB', `more${count}`, here);
    await expect(server.deviceFlow.find(right, owner, here)).rejects.toMatchObject({
      status: 429,
      retryAfterMs: 600_000,
    });
    expect(await find(right, 'two', '10.0.0.9')).toBe(undefined);
    await clock.advance(600_000);
    const decision = { approve: true, organizationId };
    expect(await refusal(server.deviceFlow.decide(right, owner, here, decision))).toBe(undefined);
  });

  test('from any address of one IPv6 network is one guesser’s', async () => {
    const { server, owner } = await openServer();
    const right = (await server.deviceFlow.start({ client_id: clientId }, here)).user_code;
    const find = (code: string, address: string) =>
      refusal(server.deviceFlow.find(code, { ...owner, sessionId: address }, address));
    for (let count = 0; count < 20; count += 1) await find('BBBB-BBBB', `2001:db8::${count}`);
    expect(await find(right, '2001:db8::ffff')).toBe('rate_limited');
    expect(await find(right, '2001:db8:0:1::1')).toBe(undefined);
  });

  test('nobody approves for an organization that is not theirs', async () => {
    const { server, owner } = await openServer();
    const other = await server.organizations.add({ name: 'Other' });
    const { user_code: code } = await server.deviceFlow.start({ client_id: clientId }, here);
    const decision = { approve: true, organizationId: other.id };
    expect(await refusal(server.deviceFlow.decide(code, owner, here, decision))).toBe('forbidden');
  });
});
