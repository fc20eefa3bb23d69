import { type ErrorCode, errorCodes } from '@tenon/protocol';
import { errorGuide } from './error-reference.ts';
import { html } from './pages/html.ts';
import { sendPage } from './pages/layout.ts';
import { errorReferencePath } from './problem.ts';
import { type Route, routeTagged } from './route.ts';

const route = routeTagged('Operation');

export const referenceRoutes: readonly Route[] = [
  route('GET', '/openapi.json', {
    access: { kind: 'public' },
    area: 'both',
    id: 'readOpenApi',
    summary: 'Read this OpenAPI description',
    responses: { 200: { description: 'an OpenAPI 3.1 document', schema: { type: 'object' } } },
    handle: ({ openApi }, _call, reply) => reply.json(openApi()),
  }),
  route('GET', errorReferencePath, {
    access: { kind: 'public' },
    area: 'both',
    page: true,
    id: 'readErrorReference',
    summary: "The reference page on errors, to which an error's `type` links",
    responses: { 200: { description: 'a page', contentType: 'text/html' } },
    handle: (_services, _call, reply) => sendPage(reply, 200, errorPage()),
  }),
];

function errorPage() {
  const codes = Object.keys(errorCodes) as ErrorCode[];
  const sections = codes.map((code) => {
    const { status, title } = errorCodes[code];
    const { when, remedy } = errorGuide[code];
    return html`<section id="${code}">
<h2><code>${code}</code> <span class="soft">${String(status)}</span></h2>
<p>${title}: sent when ${plain(when)}.</p>
<p class="soft">${plain(remedy)}</p>
</section>
`;
  });
  return {
    title: 'Errors',
    wide: true as const,
    body: html`<p><a href="../">Tenon</a></p>
<h1>Errors</h1>
<nav aria-label="Error codes"><ul>${codes.map((code) => html`<li><a href="#${code}"><code>${code}</code></a></li>`)}</ul></nav>
${sections}`,
  };
}

/** Removes Markdown's backticks. */
function plain(text: string): string {
  return text.replaceAll('`', '');
}
