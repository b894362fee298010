import { expect, test } from 'vitest';
import { organizationsMeant, type NamedOrganization } from './organization.ts';

const all: readonly NamedOrganization[] = [
  { id: '0b6f7a52-8d5e-4b5e-9d3f-00000000000a', name: 'Team' },
  { id: 'b', name: 'team' },
  { id: 'c', name: 'Other' },
  { id: 'd', name: 'b' },
  { id: 'e' },
];
const meant = (given: string) => organizationsMeant(all, given, (each) => each).map(({ id }) => id);

test.each([
  ['its id, in either case', '0B6F7A52-8D5E-4B5E-9D3F-00000000000A', [all[0]?.id]],
  ['its id, though another one is called so', 'b', ['b']],
  ['its name, though another one differs by case alone', 'team', ['b']],
  ['its name in another case', ' OTHER ', ['c']],
  ['a name that two have but for the case', 'TEAM', [all[0]?.id, 'b']],
  ['a name that none has', 'undefined', []],
])('an organization is meant by %s', (_, given, ids) => {
  expect(meant(given)).toEqual(ids);
});
