import { type ErrorCode, errorCodes } from '@tenon/protocol';
import { errorGuide } from '../http/error-reference.ts';
import { type Html, html } from '../http/pages/html.ts';

const codes = Object.keys(errorCodes) as ErrorCode[];

/** The page to which the `type` of an error links. */
export const errorPage = {
  path: 'reference/errors',
  title: 'Errors',
  headings: [], // the page has its own list
  body: html`<h1>Errors</h1>
<nav aria-label="Error codes"><ul>${codes.map((code) => html`<li><a href="#${code}"><code>${code}</code></a></li>`)}</ul></nav>
${codes.map(section)}`,
};

function section(code: ErrorCode): Html {
  const { status, title } = errorCodes[code];
  const { when, remedy } = errorGuide[code];
  return html`<section id="${code}">
<h2><code>${code}</code> <span class="soft">${String(status)}</span></h2>
<p>${title}: sent when ${plain(when)}.</p>
<p class="soft">${plain(remedy)}</p>
</section>
`;
}

/** Removes Markdown's backticks. */
function plain(text: string): string {
  return text.replaceAll('`', '');
}
