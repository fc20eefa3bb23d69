import { hash } from 'node:crypto';
import type { Reply } from '../reply.ts';
import { Html, html } from './html.ts';

/** Mobile first, in the console's colours. Light or dark follows the system. */
const style = `
:root { color-scheme: light dark; --ink: light-dark(#1d2125, #e9e6e0); --soft: light-dark(#5a6068, #a6abb2);
  --paper: light-dark(#f7f5f0, #14171a); --card: light-dark(#fffefb, #1c2024); --line: light-dark(#dedad0, #333940);
  --oak-wash: light-dark(#f8eeda, #33291a); }
* { box-sizing: border-box; }
body { margin: 0; padding: 1.5rem 1rem; background: var(--paper); color: var(--ink); line-height: 1.55;
  font-family: system-ui, sans-serif; }
main { max-width: 30rem; margin: 8vh auto 0; padding: 1.75rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 1rem; }
main.wide { max-width: 44rem; margin-top: 0; }
h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.25; letter-spacing: -.015em; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
.soft { color: var(--soft); font-size: .925rem; }
code { font-family: ui-monospace, monospace; font-size: .92em; }
section { padding: 1rem 0; border-top: 1px solid var(--line); }
section:target { margin: 0 -1rem; padding: 1rem; background: var(--oak-wash); border-radius: .5rem; }
h2 { margin: 0 0 .35rem; font-size: 1.05rem; }
section p { margin: 0 0 .35rem; }
a { color: inherit; }
button { padding: .6rem 1.1rem; border: 0; border-radius: .5rem; background: var(--ink); color: var(--paper); font: inherit; }
nav ul { columns: 15rem; margin: 0 0 1.5rem; padding: 0; list-style: none; }
nav li { overflow-wrap: anywhere; padding: .2rem 0; }
`;

/** Forbids scripts, other origins, and frames. Allows only the style sheet above, by its hash. */
const contentSecurityPolicy = (formAction: "'self'" | "'none'") =>
  [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    `form-action ${formAction}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const styleHash = hash('sha256', style, 'base64');

/** Sends a page that browsers don't cache or frame, and whose URL they don't send as a referrer. */
export function sendPage(
  reply: Reply,
  status: number,
  page: { readonly title: string; readonly body: Html; readonly wide?: true; readonly hasForm?: true },
): Reply {
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
    .header('content-security-policy', contentSecurityPolicy(page.hasForm === true ? "'self'" : "'none'"))
    .header('referrer-policy', 'no-referrer')
    .header('x-frame-options', 'DENY')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cache-control', 'no-store')
    .send(text);
}
