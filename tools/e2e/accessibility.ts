import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** WCAG 2.2 A and AA, and what axe holds to be good practice beyond. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** How the page is looked at: once by all rules, then by those that depend on colours, or on the room. */
const looks = [
  { scheme: 'light', width: 1280, runOnly: tags },
  { scheme: 'dark', width: 1280, runOnly: ['color-contrast', 'link-in-text-block'] },
  { scheme: 'dark', width: 360, runOnly: ['color-contrast', 'target-size', 'scrollable-region-focusable'] },
] as const;

/** What axe finds, and what does not fit on a phone, each as one line; nothing for a page as it should be. */
export async function findings(page: Page): Promise<string[]> {
  const found: string[] = [];
  // The protocol evaluates past the page's policy, which stays in force for the page itself.
  await page.evaluate(axe.source);
  for (const { scheme, width, runOnly } of looks) {
    const look = `${scheme}, ${width}px`;
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 800 });
    const { violations, passes } = await page.evaluate<AxeResults>(
      `axe.run({ runOnly: ${JSON.stringify(runOnly)}, preload: false, resultTypes: ['violations'] })`,
    );
    for (const { id, nodes } of violations)
      for (const { html, failureSummary = '' } of nodes)
        found.push(`${id} (${look}): ${html}\n${failureSummary}`);
    // A check that did not run finds nothing, too.
    if (!passes.some(({ id }) => id === 'color-contrast')) found.push(`axe did not run (${look})`);
    const overhang = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    if (Number(overhang) > 0) found.push(`scrolls sideways by ${String(overhang)} px (${look})`);
  }
  return found;
}

export interface Focused {
  readonly name: string;
  readonly isSeen: boolean;
}

/** What has the focus: how it is called, and whether one sees that it has it. */
export function focused(page: Page): Promise<Focused> {
  return page.evaluate<Focused>(`(() => {
    const element = document.activeElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent;
    return { name: name.trim().replace(/\\s+/g, ' '), isSeen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 };
  })()`);
}

/** Goes on with Tab until that has the focus; fails where one stop on the way is not seen, or where it never comes. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const stops: string[] = [];
  for (let count = 0; count < 40; count += 1) {
    const now = await focused(page);
    if (typeof name === 'string' ? now.name === name : name.test(now.name)) {
      if (!now.isSeen) throw new Error(`The focus on "${now.name}" is not seen.`);
      return;
    }
    stops.push(now.name.slice(0, 40));
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${String(name)}; it stops at: ${stops.join(' | ')}`);
}
