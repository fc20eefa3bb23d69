import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { Html, html } from './html.ts';

/** For a phone first; colours follow the system's light or dark. */
const style = `
:root { color-scheme: light dark; --ink: light-dark(#1c1e21, #e8e6e3); --soft: light-dark(#5b6068, #a3a7ad);
  --paper: light-dark(#f6f5f2, #16181b); --card: light-dark(#fff, #1f2226); --line: light-dark(#dcd9d2, #34383e);
  --accent: light-dark(#2b5fc4, #86aef5); --on-accent: light-dark(#fff, #10131a); }
* { box-sizing: border-box; }
body { margin: 0; padding: 1.5rem 1rem; background: var(--paper); color: var(--ink); line-height: 1.55;
  font-family: system-ui, sans-serif; }
main { max-width: 30rem; margin: 8vh auto 0; padding: 1.75rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .75rem; }
main.wide { max-width: 44rem; margin-top: 0; }
h1 { margin: 0 0 .75rem; font-size: 1.35rem; line-height: 1.3; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
.soft { color: var(--soft); font-size: .925rem; }
label { display: block; margin-bottom: .35rem; font-weight: 600; }
input { width: 100%; padding: .65rem .75rem; font: inherit; color: inherit; background: transparent;
  border: 1px solid var(--line); border-radius: .5rem; }
.actions { display: flex; gap: .75rem; margin-top: 1.25rem; flex-wrap: wrap; }
button { flex: 1 1 8rem; padding: .65rem 1rem; font: inherit; font-weight: 600; cursor: pointer; border-radius: .5rem;
  border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); }
button.quiet { background: transparent; color: var(--accent); }
input:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
[role=alert] { margin-bottom: 1rem; padding: .65rem .75rem; border-left: 4px solid light-dark(#b3261e, #f2857d);
  background: light-dark(#fbeceb, #33211f); border-radius: .25rem; }
code { font-size: .92em; }
.actions + .soft { margin: 1.25rem 0 0; }
form .soft { margin: .35rem 0 0; }
section { padding: 1rem 0; border-top: 1px solid var(--line); }
section:target { margin: 0 -1rem; padding: 1rem; background: light-dark(#fff4cf, #3a3420); border-radius: .5rem; }
h2 { margin: 0 0 .35rem; font-size: 1.05rem; }
section p { margin: 0 0 .35rem; }
`;

/** No script, no other origin, no frame; only the one style sheet above, by its hash. */
const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Answers a page that no one keeps, frames, or learns the address of. */
export function sendPage(
  reply: FastifyReply,
  status: number,
  page: { readonly title: string; readonly body: Html; readonly wide?: true },
): FastifyReply {
  const sheet = new Html(`<style>${style}</style>`);
  const main = page.wide === true ? html`<main class="wide">${page.body}</main>` : html`<main>${page.body}</main>`;
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${page.title}</title>
${sheet}
</head>
<body>
${main}
</body>
</html>
`;
  return reply
    .code(status)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', contentSecurityPolicy)
    .header('referrer-policy', 'no-referrer')
    .header('x-frame-options', 'DENY')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cache-control', 'no-store')
    .send(text);
}
