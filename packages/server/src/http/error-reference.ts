import { type ErrorCode, errorCodes } from '@tenon/protocol';

/** What the reference says of an error beside its code, status and title. */
interface ErrorGuide {
  /** Completes "Sent when …". */
  readonly when: string;
  /** What the client can do about it. */
  readonly remedy: string;
}

/** The reference's words on every code; `docs/reference/errors.md` is made of it. */
export const errorGuide: Readonly<Record<ErrorCode, ErrorGuide>> = {
  malformed_json: {
    when: 'a JSON body is empty, is not UTF-8, or stops being JSON at the position that `detail` names',
    remedy: 'Send a JSON object.',
  },
  malformed_multipart: {
    when: 'a form has no usable boundary, lacks its closing delimiter, has a part without a name, or the same field twice',
    remedy: 'Let a library write the form; if it did, the body was probably cut on its way.',
  },
  invalid_request: {
    when: 'the path, the query or the request itself is malformed: a bad escape, a guest key or a plugin name that can be none, a token in the URL',
    remedy: 'Mend what `detail` names. A guest key goes into a path percent-encoded as one segment.',
  },
  missing_credentials: {
    when: 'no `authorization: Bearer …` came with a request that needs it',
    remedy: 'Send an access token, or an API key to `/instrument`.',
  },
  invalid_token: {
    when: 'the token is unknown, mistyped, revoked or expired, or of the wrong kind: access tokens (`tnn_…`) open `/api/v1`, API keys (`tnk_…`) open `/instrument`',
    remedy: 'Get another token.',
  },
  invalid_credentials: {
    when: 'the e-mail address has no account here, or the password is not its',
    remedy: 'Check both. A password that was forgotten is set anew through a link that the operator makes.',
  },
  not_signed_in: {
    when: 'a route for the pages of a browser got no session cookie, or one whose session has ended',
    remedy: 'Sign in.',
  },
  insufficient_scope: {
    when: 'the token lacks the scope that `detail` names',
    remedy: 'Use a token with that scope: `read`, `publish` or `manage`.',
  },
  forbidden: {
    when: 'you see the thing but your role does not allow this, or the token is restricted to one application and this reaches beyond it',
    remedy: 'Ask an owner of the application for another role, or use a token without the restriction.',
  },
  cross_site_request: {
    when: 'a page of another origin sent a request that only our own pages may send, or a browser sent one to a host name that is not of this server',
    remedy: 'Open the page of this server and act there. Programs use an access token and `/api/v1`.',
  },
  sign_up_closed: {
    when: 'somebody signs up without a link that lets them, on a server whose accounts are not open to everybody',
    remedy: 'Open the invitation link first, or ask the operator for a set-up link.',
  },
  password_required: {
    when: 'something that reaches far is asked for, and the password was entered too long ago, or not at all',
    remedy: 'Enter the password again.',
  },
  plugin_blocked: {
    when: "the application's team has blocked the plugin: it takes no new version, its publisher can't delete it, and its bytes are published under no other name",
    remedy: "Read the team's reason in the plugin's `status`, and speak to them.",
  },
  not_a_guest: {
    when: 'you publish in an application in which you hold no guest, or not the one that `guest` names',
    remedy: 'Accept an invitation first.',
  },
  not_found: {
    when: 'there is nothing at the path, or it is not yours to see; the two are told apart by nothing',
    remedy: 'Check the id, and that the token is of the right user.',
  },
  method_not_allowed: {
    when: 'the path exists, the method there does not',
    remedy: 'Use one of those in `allow`.',
  },
  request_timeout: {
    when: 'the request, or a part of its body, did not come in time',
    remedy: 'Send it again over a better connection.',
  },
  plugin_name_taken: {
    when: 'another user of the same guest publishes a plugin of that name at the extension point, or deleted one within the last 90 days',
    remedy: 'Choose another name.',
  },
  email_taken: {
    when: 'somebody signs up with an e-mail address that has an account already',
    remedy: 'Sign in instead.',
  },
  conflict: {
    when: 'the thing is in a state that forbids this, such as an application that would lose its last owner, or somebody changed it at the same time',
    remedy: 'Look at its present state, then decide.',
  },
  invitation_used: { when: 'the invitation was accepted or declined before', remedy: 'Ask for another one.' },
  invitation_expired: { when: 'the invitation is too old', remedy: 'Ask for another one.' },
  invitation_revoked: { when: 'those who made the invitation took it back', remedy: 'Ask them.' },
  link_used: {
    when: 'a set-up or password link was used before',
    remedy: 'Sign in, or ask the operator for another link.',
  },
  link_expired: {
    when: 'a set-up or password link is too old, or was for the first account and there is one by now',
    remedy: 'Ask the operator for another link.',
  },
  precondition_failed: {
    when: '`if-match` names an entity tag that is not the present one',
    remedy: 'Read the present state, then try again.',
  },
  payload_too_large: {
    when: 'a body, or a part of it, is beyond the limit that `detail` names',
    remedy: 'Send less, or have the operator raise the limit.',
  },
  unsupported_media_type: {
    when: 'the content type is not one that the route reads',
    remedy: 'Use one of those in `accept`.',
  },
  range_not_satisfiable: {
    when: 'the range begins behind the end of the content',
    remedy: '`content-range` has the size.',
  },
  invalid_field: {
    when: 'a body has the right form but a field is missing or holds what it cannot hold; `errors` lists each',
    remedy: 'Mend the fields that `errors` points at.',
  },
  weak_password: {
    when: 'a new password is too short, too long, or among those that are commonly used or were leaked',
    remedy: 'Choose a longer one: four unrelated words, or what a password manager makes.',
  },
  unsupported_delivery_method: {
    when: '`deliveryMethod` is not one that is supported',
    remedy: 'Use one of those in `detail`.',
  },
  invalid_config: {
    when: 'the instrumentation configuration is not a JSON object with exactly one of `allowed` and `banned`, an array of strings; or `options` holds something',
    remedy: 'Mend what `detail` names.',
  },
  not_wasm: {
    when: 'the bytes do not begin as a WebAssembly module does',
    remedy: 'Send the binary format, not text.',
  },
  component_not_supported: {
    when: 'the bytes are a component, not a core module',
    remedy: 'Send the core module that the component was made from.',
  },
  invalid_module: {
    when: 'the module breaks the specification; `detail` has the reason and, where known, the offset in bytes',
    remedy: 'Build it again; it may have been cut on its way.',
  },
  unsupported_feature: {
    when: 'the module uses a feature that the instrumenter, or for a plugin the engine that validates it, does not know; or it passes a limit of engines',
    remedy: 'Build it without the feature that `detail` names.',
  },
  interface_mismatch: {
    when: "the module lacks an export of the extension point's schema, imports what is not offered, or passes a limit of the extension point",
    remedy: 'Mend what `errors` lists; `tenon extension-point check` tells the same without a server.',
  },
  already_instrumented: {
    when: 'the module is instrumented already: twice would count every call twice',
    remedy: 'Send the original.',
  },
  relocatable_object: {
    when: "the module is a compiler's object file, whose offsets a linker still needs",
    remedy: 'Link it first.',
  },
  module_too_complex: {
    when: 'the module takes more time than its size allows, or more memory than a worker may have; or `detail` names a limit that it passes',
    remedy: 'Instrument it offline, or have the operator raise the limits.',
  },
  limit_exceeded: {
    when: 'a number of things reaches its limit, which `detail` names',
    remedy: 'Remove some, or have the operator raise the limit.',
  },
  quota_exceeded: {
    when: 'an account or an application has as much of something as its quota allows; `detail` names the quota and its value',
    remedy: "Delete some, or ask the server's operator to raise the quota (`TENON_QUOTAS`).",
  },
  rate_limited: {
    when: 'an account has too many requests under way, a token makes too many changes, too many wrong passwords come for an account or from an address, or an address tries too many unknown codes',
    remedy: 'Wait as many seconds as `retry-after` says.',
  },
  headers_too_large: {
    when: 'the request line and header fields together are too large',
    remedy: 'Send less in them.',
  },
  internal: {
    when: 'something went wrong on the server',
    remedy: 'Try again later; give the operator the `x-request-id`.',
  },
  unavailable: {
    when: 'the server is too busy, or a store does not answer',
    remedy: 'Try again after as many seconds as `retry-after` says.',
  },
  content_damaged: {
    when: 'the stored bytes of a content are missing, cut, or not those of its address; they are never served',
    remedy:
      'Publish the same bytes again, which repairs them; or tell the operator, for whom `tenon admin verify` lists all that is damaged.',
  },
  storage_full: { when: 'the server has no room left', remedy: 'Tell the operator.' },
};

/** The reference's page on errors, as Markdown. */
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

\`code\` is stable: programs decide by it. \`detail\` is for people. \`errors\` is there where a body's fields are at fault; each
\`pointer\` is a JSON Pointer into the body. \`type\` leads to this table on the server itself. Every answer has an \`x-request-id\`, by
which the server's log has the details.

Checks are made in this order: credentials (401), rate (429), whether you may see it (404), whether you may do it (403), the
request's form (400, 413, 415, 422), conditions (304, 412, 416). A request that is refused by one of them is told nothing about
those after it.

| code | status | title | sent when | what to do |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}
