import { describe, expect, test } from 'vitest';
import { contract } from '../contract/index.ts';
import { Name } from './name.ts';

describe('a name that people read in lists', () => {
  test.each(['laptop', ' Büro-Rechner ', 'מחשב נייד', 'می‌خواهم', '👩‍💻 👍🏽', 'ノート　パソコン'])(
    'may be %j',
    (name) => {
      expect(Name.parse(name)).toBe(name.trim());
    },
  );

  test.each([
    ['an escape sequence', 'a\u001b[2Jb'],
    ['a C1 control character', 'a\u009bb'],
    ['another line', 'a\nb'],
    ['a line separator', 'a\u2028b'],
    ['a turn of the direction', 'a\u202eb'],
    ['an isolate', 'a\u2066b'],
    ['a mark of direction', 'a\u200fb'],
    ['a space of no width', 'a\u200bb'],
    ['half a character', 'a\ud800'],
    ['nothing', '  '],
    ['too much', 'a'.repeat(129)],
  ])('has not %s', (_, name) => {
    expect(Name.safeParse(name).error?.issues).toHaveLength(1);
  });

  test.each([
    ['oauth.createApiKey', contract.oauth.createApiKey.body, 'name', {}],
    ['devices.trust', contract.devices.trust.body, 'display_name', {}],
    [
      'admin.addClient',
      contract.admin.addClient.body,
      'client_name',
      { redirect_uris: ['https://x.example'] },
    ],
  ])('is what %s takes', (_, body, member, others) => {
    expect(body.safeParse({ ...others, [member]: 'a' }).success).toBe(true);
    const { error } = body.safeParse({ ...others, [member]: 'a\u202eb' });
    expect(error?.issues).toMatchObject([
      { path: [member], message: 'must not have control characters, or others that cannot be seen' },
    ]);
  });
});
