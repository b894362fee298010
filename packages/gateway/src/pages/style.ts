import { createHash } from 'node:crypto';

/** The pages' one stylesheet. Text has a contrast of 4.5 or more to its ground, the edges of controls 3 (WCAG 1.4.3, 1.4.11). */
const style = `
:root { color-scheme: light dark; --ink: #1b1f24; --dim: #57616c; --ground: #f3f4f6; --card: #fff; --line: #d9dde2; --edge: #828b95; --accent: #1f5fbf; --hover: #184c99; --on-accent: #fff; --alarm: #a4161a; --alarm-ground: #fdf1f1; --done: #1c6b38; --done-ground: #eef7f1; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --dim: #a6afb9; --ground: #14171b; --card: #1d2127; --line: #343b43; --edge: #757f8a; --accent: #7fb0ff; --hover: #a5c8ff; --on-accent: #0d1420; --alarm: #ff9c94; --alarm-ground: #2c1d1f; --done: #85d8a2; --done-ground: #18271f; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; padding: clamp(1rem, 8vh, 5rem) 1rem 2rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
header, main { width: 100%; margin: 0 auto; }
header { display: flex; align-items: center; justify-content: center; gap: .5rem; margin-bottom: 1rem; color: var(--dim); font-weight: 600; letter-spacing: .02em; }
main { padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere; }
.narrow { max-width: 26rem; }
.wide { max-width: 46rem; }
h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; }
h2 { margin: 0 0 .5rem; font-size: 1.125rem; line-height: 1.4; }
h3 { margin: 1.25rem 0 .25rem; font-size: 1rem; }
p { margin: 0 0 1rem; }
label { display: block; margin-bottom: .25rem; font-weight: 600; }
input, select { width: 100%; margin-bottom: 1rem; padding: .625rem .75rem; border: 1px solid var(--edge); border-radius: .5rem; background: var(--card); color: inherit; font: inherit; }
input[aria-invalid] { border-color: var(--alarm); box-shadow: inset 0 0 0 1px var(--alarm); }
input.code { font: 600 1.5rem/1.3 ui-monospace, monospace; letter-spacing: .1em; text-align: center; text-transform: uppercase; }
button { width: 100%; min-height: 2.75rem; margin-top: .25rem; padding: .5rem 1rem; border: 1px solid var(--accent); border-radius: .5rem; background: var(--accent); color: var(--on-accent); font: 600 1rem/1.5 system-ui, sans-serif; cursor: pointer; }
button:hover { background: var(--hover); border-color: var(--hover); }
button.quiet, button.small { background: none; border-color: var(--edge); color: inherit; }
button.quiet { margin-top: .75rem; }
button.small { flex: none; width: auto; min-height: 2.25rem; margin: 0; padding: .25rem .75rem; font-size: .875rem; }
button.quiet:hover, button.small:hover { background: var(--ground); border-color: var(--ink); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
dl { margin: 0 0 1.25rem; padding: .875rem 1rem .375rem; background: var(--ground); border-radius: .5rem; }
dt { color: var(--dim); font-size: .875rem; }
dd { margin: 0 0 .5rem; }
ul { margin: 0; padding-left: 1.125rem; }
time { white-space: nowrap; }
code { font-family: ui-monospace, monospace; font-size: .9375em; }
dd code { font-size: 1.25rem; font-weight: 600; letter-spacing: .08em; }
a { color: var(--accent); text-underline-offset: .15em; }
.alert, .notice { padding: .625rem .75rem; border: 1px solid; border-radius: .5rem; }
.alert { color: var(--alarm); background: var(--alarm-ground); }
.notice { color: var(--done); background: var(--done-ground); }
.notice:focus { outline: none; }
.dim, .hint { color: var(--dim); font-size: .875rem; }
.hint { margin: 0 0 .375rem; }
form + .dim { margin: 1.25rem 0 0; }
.bar { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1rem; margin-bottom: .75rem; }
.bar p { margin: 0; }
section > .dim { margin: 0; }
main form > section { margin-top: 1.5rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
.items { margin: 0; padding: 0; list-style: none; }
.items li { display: flex; align-items: center; justify-content: space-between; gap: 1rem; padding: .75rem 0; border-top: 1px solid var(--line); }
.items li:first-child { border-top: 0; }
.items p { margin: .125rem 0 0; }
.badge { display: inline-block; padding: 0 .5rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--ground); color: var(--dim); font-size: .8125rem; font-weight: 600; }
@media (max-width: 30rem) { main { padding: 1.25rem; } .items li { flex-wrap: wrap; } time { white-space: normal; } }
`;

/** The stylesheet is inline, and the only thing that the policy lets in. */
export const styleSource = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

/** One piece, since a space more between the tags is another hash, and an unstyled page. */
export const styleElement = `<style>${style}</style>`;
