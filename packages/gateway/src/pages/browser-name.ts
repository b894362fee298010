import Bowser from 'bowser';

/** What a browser calls itself, for people: `Firefox on Windows`; `undefined` where it is no browser that is known. */
export function browserName(userAgent: string | null): string | undefined {
  // The parser throws at an empty one.
  if (userAgent === null || userAgent === '') return undefined;
  const { browser, os } = Bowser.parse(userAgent);
  if (browser.name === undefined) return undefined;
  return os.name === undefined ? browser.name : `${browser.name} on ${os.name}`;
}
