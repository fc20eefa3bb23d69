import type { ErrorCode } from '@tenon/protocol';

/** The documentation of an error code. Its status and title are in `errorCodes`. */
interface ErrorGuide {
  /** Completes "Sent when …". */
  readonly when: string;
  /** What the client can do about it. */
  readonly remedy: string;
}

/** The documentation of all error codes, from which `docs/reference/errors.md` is generated. */
export const errorGuide: Readonly<Record<ErrorCode, ErrorGuide>> = {
  malformed_json: {
    when: 'a JSON body is empty, is not UTF-8, or has a syntax error',
    remedy: 'Send a JSON object.',
  },
  malformed_multipart: {
    when: 'a form has no valid boundary, no closing delimiter, a part without a name, or a repeated field',
    remedy: 'Use a library to encode the form. If you do, check whether the body was truncated on its way.',
  },
  invalid_request: {
    when: 'the path, the query, or the request itself is malformed: an invalid escape, guest key, or plugin name, or a token in the URL',
    remedy: 'Correct what `detail` names. In a path, percent-encode a guest key as one segment.',
  },
  missing_credentials: {
    when: 'a request that needs it has no `authorization: Bearer …`',
    remedy: 'Send an access token, or an API key to `/instrument`.',
  },
  invalid_token: {
    when: 'the token is unknown, mistyped, revoked, expired, or of the wrong kind: `/api/v1` takes access tokens (`tnn_…`), `/instrument` takes API keys (`tnk_…`)',
    remedy: 'Get another token.',
  },
  invalid_credentials: {
    when: 'no account has the e-mail address, or the password or recovery code is wrong',
    remedy: 'Check them. To reset a forgotten password, ask the operator for a link.',
  },
  invalid_passkey: {
    when: 'no account has the passkey, its response is wrong, or the challenge expired or was answered',
    remedy: 'Try again, or sign in with the password.',
  },
  not_signed_in: {
    when: 'a request of a browser page has no session cookie, or its session has ended',
    remedy: 'Sign in.',
  },
  insufficient_scope: {
    when: 'the token lacks the scope that `detail` names',
    remedy: 'Use a token with that scope: `read`, `publish`, or `manage`.',
  },
  forbidden: {
    when: 'you can see the resource but your role does not allow this, you are not an operator of the server, or the token is restricted to one application and the request goes beyond it',
    remedy: 'Ask an owner of the application for another role, or use an unrestricted token.',
  },
  account_suspended: {
    when: 'an operator of the server has suspended the account',
    remedy: 'Ask an operator of the server. When the suspension ends, sign in, and create other tokens.',
  },
  cross_site_request: {
    when: "a page of another origin sent a request that only the server's own pages may send, or a browser used a host name that is not the server's",
    remedy: "Use the server's own page. Programs use an access token and `/api/v1`.",
  },
  password_sign_in_off: {
    when: 'you sign in, sign up, or reset a password on a server that has turned password sign-in off',
    remedy: 'Sign in with a provider on the sign-in page. Operators use `tenon admin` on the machine.',
  },
  sign_up_closed: {
    when: 'you sign up without a link on a server whose sign-up is not open',
    remedy: 'Open the invitation link first, or ask the operator for a set-up link.',
  },
  passkey_required: {
    when: 'the application requires passkeys of its members, and the session has not used one, or the account of the token has none',
    remedy: 'Register a passkey, and confirm the session or sign in with it.',
  },
  step_up_required: {
    when: 'a sensitive action needs a passkey or password that was used within the last 5 minutes, and the session has none',
    remedy: 'Confirm the session with the passkey or the password.',
  },
  plugin_blocked: {
    when: "the application's team has blocked the plugin: it takes no new version, its publisher can't delete it, and its bytes can't be published under another name",
    remedy: "Read the team's reason in the plugin's `status`, and contact the team.",
  },
  publisher_blocked: {
    when: "the application's team has blocked the publisher: none of their plugins takes a new version, and they can't delete them",
    remedy: "Read the team's reason in the `status` of a plugin, and contact the team.",
  },
  mirror_read_only: {
    when: 'you change something on a mirror, which follows another server',
    remedy: 'Send the request to the source, which the detail names.',
  },
  not_a_guest: {
    when: 'you publish in an application of which you are not a guest, or for a guest in `guest` that you do not hold',
    remedy: 'Accept an invitation first.',
  },
  not_found: {
    when: 'the path has no resource, or you may not see it; the response is the same for both',
    remedy: 'Check the id, and that the token belongs to the right user.',
  },
  method_not_allowed: {
    when: 'the path exists, but not with this method',
    remedy: 'Use one of the methods in `allow`.',
  },
  request_timeout: {
    when: 'the request, or a part of its body, did not arrive in time',
    remedy: 'Send it again over a better connection.',
  },
  plugin_name_taken: {
    when: 'another user of the same guest publishes a plugin of that name at the extension point, or deleted one within the last 90 days',
    remedy: 'Choose another name.',
  },
  email_taken: {
    when: 'you sign up with an e-mail address that already has an account',
    remedy: 'Sign in instead.',
  },
  conflict: {
    when: 'the current state forbids this, for instance because an application would lose its last owner, or because of a concurrent change',
    remedy: 'Read the current state, then decide.',
  },
  invitation_used: { when: 'the invitation was already accepted or declined', remedy: 'Ask for another one.' },
  invitation_expired: { when: 'the invitation is too old', remedy: 'Ask for another one.' },
  invitation_revoked: { when: 'the application revoked the invitation', remedy: 'Ask its team.' },
  link_used: {
    when: 'a set-up or password link was already used',
    remedy: 'Sign in, or ask the operator for another link.',
  },
  link_expired: {
    when: 'a set-up or password link is too old, or was for the first account and an account exists',
    remedy: 'Ask the operator for another link.',
  },
  precondition_failed: {
    when: '`if-match` does not match the current entity tag',
    remedy: 'Read the current state, then try again.',
  },
  payload_too_large: {
    when: 'a body, or a part of it, exceeds the limit that `detail` names',
    remedy: 'Send less, or ask the operator to raise the limit.',
  },
  unsupported_media_type: {
    when: 'the route does not accept the content type',
    remedy: 'Use one of the types in the `accept` header of the response.',
  },
  range_not_satisfiable: {
    when: 'the range begins after the end of the content',
    remedy: 'Get the size from `content-range`.',
  },
  invalid_field: {
    when: 'a body is well-formed, but a field is missing or has an invalid value; `errors` lists each',
    remedy: 'Correct the fields in `errors`.',
  },
  weak_password: {
    when: 'a new password is too short, too long, commonly used, or leaked',
    remedy: 'Choose a longer one: four unrelated words, or one from a password manager.',
  },
  unsupported_delivery_method: {
    when: '`deliveryMethod` is not supported',
    remedy: 'Use a method that `detail` names.',
  },
  invalid_config: {
    when: 'the instrumentation configuration is not a JSON object with exactly one of `allowed` and `banned`, an array of strings; or `options` is invalid',
    remedy: 'Correct what `detail` names.',
  },
  not_wasm: {
    when: 'the bytes do not begin like a WebAssembly module',
    remedy: 'Send the binary format, not the text format.',
  },
  component_not_supported: {
    when: 'the bytes are a component, not a core module',
    remedy: 'Send the core module from which the component was built.',
  },
  invalid_module: {
    when: 'the module violates the specification; `detail` has the reason and, where known, the byte offset',
    remedy: 'Build it again. It may have been truncated on its way.',
  },
  unsupported_feature: {
    when: "the module uses a feature that the instrumenter, or the server's WebAssembly engine, does not support, or exceeds a limit of engines",
    remedy: 'Build it without the feature that `detail` names.',
  },
  interface_mismatch: {
    when: "the module lacks an export of the extension point's schema, has an import that hosts don't provide, or exceeds a limit of the extension point",
    remedy: 'Correct what `errors` lists. `tenon extension-point check` runs the same check without publishing.',
  },
  already_instrumented: {
    when: 'the module is already instrumented; a second time would count every call twice',
    remedy: 'Send the original module.',
  },
  relocatable_object: {
    when: "the module is a compiler's object file, which is not linked yet",
    remedy: 'Link it first.',
  },
  provenance_required: {
    when: "you publish without provenance that the extension point's policy accepts: none is attached, its signature is not valid, or it comes from another source",
    remedy: 'Publish from a repository and workflow of the policy, and attach the provenance.',
  },
  module_too_complex: {
    when: 'processing the module takes more time than its size allows, or more memory than a worker may use; or the module exceeds a limit that `detail` names',
    remedy: 'Instrument it offline, or ask the operator to raise the limits.',
  },
  limit_exceeded: {
    when: 'a count has reached its limit, which `detail` names',
    remedy: 'Delete some of the objects that count, or ask the operator to raise the limit.',
  },
  quota_exceeded: {
    when: 'an account or an application has used up a quota; `detail` names the quota and its value',
    remedy: "Delete some of the objects that count, or ask the server's operator to raise the quota (`TENON_QUOTAS`).",
  },
  rate_limited: {
    when: 'an account has too many concurrent requests, a token makes too many changes, an account or an address has too many failed sign-ins, or an address tries too many unknown codes',
    remedy: 'Wait for the number of seconds in `retry-after`.',
  },
  headers_too_large: {
    when: 'the request line and header fields together are too large',
    remedy: 'Send fewer or smaller header fields.',
  },
  internal: {
    when: 'the server failed unexpectedly',
    remedy: 'Try again later. Report the `x-request-id` to the operator.',
  },
  unavailable: {
    when: 'the server is too busy, or a store does not respond',
    remedy: 'Try again after the number of seconds in `retry-after`.',
  },
  content_damaged: {
    when: 'the stored bytes of a content are missing, truncated, or do not match its address; the server never sends them',
    remedy:
      'Publish the same bytes again to repair them, or inform the operator, for whom `tenon admin verify` lists all damaged contents.',
  },
  storage_full: { when: "the server's storage is full", remedy: 'Inform the operator.' },
};
