import { createHash } from 'node:crypto';

/** The page that the browser shows after the approval, without scripts and external resources. */

const style = `
:root { color-scheme: light dark; font: 17px/1.5 system-ui, sans-serif; background: #f6f7f9; color: #1c2430 }
body { margin: 0; min-height: 100vh; display: grid; place-items: center }
main { max-width: 26rem; padding: 2rem; text-align: center }
h1 { font-size: 1.4rem; margin: 0 0 .5rem }
p { margin: 0 }
@media (prefers-color-scheme: dark) { :root { background: #14181f; color: #e6eaf0 } }
`;

/** A page's words, which are ours: nothing that came with the request is shown. */
export interface CallbackWords {
  readonly title: string;
  readonly text: string;
}

export const callbackWords = {
  approved: { title: 'Approved', text: 'Continue in your terminal. You can close this window.' },
  denied: { title: 'Denied', text: 'The login was denied. You can close this window.' },
  failed: { title: 'That did not work', text: 'Your terminal says why. You can close this window.' },
  refused: { title: 'Nothing to do here', text: 'This does not belong to a login that is waiting.' },
} as const satisfies Record<string, CallbackWords>;

export function callbackPage({ title, text }: CallbackWords): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Tenon</title>
<style>${style}</style>
</head>
<body><main><h1>${title}</h1><p>${text}</p></main></body>
</html>
`;
}

const styleHash = createHash('sha256').update(style).digest('base64');

/** Header fields of these pages. The code in their address goes nowhere: not into a cache, nor a referrer. */
export const callbackHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  connection: 'close',
};
