import { createHash } from 'node:crypto';

/** The pages' one stylesheet. */
const style = `
:root { color-scheme: light dark; --ink: #1b1f24; --dim: #5b6570; --ground: #f3f4f6; --card: #fff; --line: #d3d8de; --accent: #1f5fbf; --on-accent: #fff; --alarm: #a4161a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --dim: #a2abb5; --ground: #14171b; --card: #1d2127; --line: #3a4149; --accent: #7fb0ff; --on-accent: #0d1420; --alarm: #ff9c94; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 26rem; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere; }
header { margin-bottom: 1.25rem; color: var(--dim); font-size: .875rem; font-weight: 600; letter-spacing: .06em; text-transform: uppercase; }
h1 { margin: 0 0 .75rem; font-size: 1.375rem; line-height: 1.3; }
p { margin: 0 0 1rem; }
label { display: block; margin-bottom: .25rem; font-weight: 600; }
input, select { width: 100%; margin-bottom: 1rem; padding: .625rem .75rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--ground); color: inherit; font: inherit; }
input.code { font: 600 1.5rem/1.3 ui-monospace, monospace; letter-spacing: .1em; text-align: center; text-transform: uppercase; }
button { width: 100%; margin-top: .25rem; padding: .625rem .75rem; border: 1px solid var(--accent); border-radius: .5rem; background: var(--accent); color: var(--on-accent); font: 600 1rem/1.5 system-ui, sans-serif; cursor: pointer; }
button.quiet { margin-top: .75rem; background: none; border-color: var(--line); color: inherit; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
dl { margin: 0 0 1.25rem; padding: .875rem 1rem .375rem; border: 1px solid var(--line); border-radius: .5rem; }
dt { color: var(--dim); font-size: .875rem; }
dd { margin: 0 0 .5rem; }
ul { margin: 0; padding-left: 1.125rem; }
code { font-family: ui-monospace, monospace; }
a { color: var(--accent); }
.alert { padding: .625rem .75rem; border: 1px solid var(--alarm); border-radius: .5rem; color: var(--alarm); }
.dim { margin: 1rem 0 0; color: var(--dim); font-size: .875rem; }
`;

/** The stylesheet is inline, and the only thing that the policy lets in. */
export const styleSource = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

/** One piece, since a space more between the tags is another hash, and an unstyled page. */
export const styleElement = `<style>${style}</style>`;
