import { type ErrorCode, errorCodes } from '@tenon/protocol';
import { errorGuide } from '../../src/http/error-reference.ts';

/** Generates `docs/reference/errors.md`. */
export function errorReferenceMarkdown(): string {
  const rows = Object.entries(errorCodes).map(([code, { status, title }]) => {
    const { when, remedy } = errorGuide[code as ErrorCode];
    return `| <a id="${code}"></a>\`${code}\` | ${status} | ${title} | ${when} | ${remedy} |`;
  });
  return `# Errors

Every error is a problem document (\`application/problem+json\`, [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)):

\`\`\`json
{
  "type": "http://localhost:8366/reference/errors#invalid_field",
  "title": "A field is not valid",
  "status": 422,
  "detail": "/name: is required",
  "code": "invalid_field",
  "errors": [{ "pointer": "/name", "detail": "is required" }]
}
\`\`\`

\`code\` is stable; use it in programs. \`detail\` is for people. \`errors\` is present if fields of the body are invalid; each
\`pointer\` is a JSON Pointer into the body. \`type\` is a link to this table on the server. Every response has an \`x-request-id\`, with
which the operator finds the details in the server's log.

Checks run in this order: credentials (401; 403 \`account_suspended\`), rate (429), visibility (404), permission (403), the form of the request (400, 413, 415,
422), conditions (304, 412, 416). A response reveals nothing about the checks after the one that failed.

| code | status | title | sent when | what to do |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}
