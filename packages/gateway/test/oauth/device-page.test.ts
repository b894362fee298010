import { describe, expect, test } from 'vitest';
import { clientId } from './open-server.ts';
import { openMemoryStore } from './open-store.ts';
import { openOverHttp as open } from './over-http.ts';
import { browser, setUp } from './visitor.ts';

describe('/device', () => {
  test('shows who asks for what, and logs the device in', async () => {
    await using opened = await open();
    const { visitor } = await setUp(opened);
    const started = await opened.server.deviceFlow.start(
      { client_id: clientId, scope: 'profile' },
      '192.0.2.7',
    );
    const form = await visitor.get('/device');
    expect(form.text).toContain('<form method="get" action="/device">');
    const page = await visitor.get(`/device?user_code=${started.user_code.toLowerCase()}`);
    for (const shown of ['Sallyport CLI', '192.0.2.7', started.user_code, 'Read your profile'])
      expect(page.text).toContain(shown);
    const answer = await visitor.submit(page, { decision: 'approve' });
    expect([answer.status, answer.text.includes('Approved')]).toEqual([200, true]);
    expect((await opened.poll(started.device_code)).scope).toBe('profile');
    const late = await visitor.submit(page, { decision: 'deny' });
    expect([late.status, late.text.includes('is logged in')]).toEqual([409, true]);
    const again = await visitor.get(`/device?user_code=${started.user_code}`);
    expect([
      again.status,
      again.text.includes('is logged in'),
      again.text.includes('Approve</button>'),
    ]).toEqual([200, true, false]);
  });

  test('tells what was decided in the last moment, though the code has expired by then', async () => {
    const store = openMemoryStore();
    let decided = () => {};
    const acts: typeof store.acts = {
      ...store.acts,
      decideDeviceGrant: (act) => store.acts.decideDeviceGrant(act).finally(() => decided()),
    };
    await using opened = await open({}, { store: { ...store, acts } });
    const { visitor } = await setUp(opened);
    const { user_code: code } = await opened.server.deviceFlow.start({ client_id: clientId }, '192.0.2.7');
    const page = await visitor.get(`/device?user_code=${code}`);
    opened.clock.jump(899_999);
    decided = () => opened.clock.jump(1);
    const answer = await visitor.submit(page, { decision: 'approve' });
    expect([answer.status, answer.text.includes('is logged in')]).toEqual([200, true]);
  });

  test('shows that it was denied, before and after', async () => {
    await using opened = await open();
    const { visitor } = await setUp(opened);
    const { user_code: code } = await opened.server.deviceFlow.start({ client_id: clientId }, '192.0.2.7');
    const page = await visitor.get(`/device?user_code=${code}`);
    const answer = await visitor.submit(page, { decision: 'deny' });
    const again = await visitor.get(`/device?user_code=${code}`);
    expect([answer.status, again.status, again.text]).toEqual([200, 200, answer.text]);
    expect(again.text).toContain('was refused: start again');
  });

  test('asks to sign in first, and comes back to the code', async () => {
    await using opened = await open();
    const answer = await browser(opened.url).get('/device?user_code=BBBB-BBBB');
    expect(answer.location).toBe(`/login?next=${encodeURIComponent('/device?user_code=BBBB-BBBB')}`);
  });

  test('a wrong code is asked for again, too many are not', async () => {
    await using opened = await open();
    const { visitor } = await setUp(opened);
    for (let count = 0; count < 5; count += 1) {
      const wrong = await visitor.get('/device?user_code=BBBB-BBBB');
      expect([wrong.status, wrong.text.includes('start again on the device')]).toEqual([404, true]);
    }
    const blocked = await visitor.get('/device?user_code=BBBB-BBBB');
    expect([blocked.status, blocked.headers.get('retry-after')]).toEqual([429, '600']);
  });
});
