/**
 * Every error that the service answers with: its stable `code`, the HTTP status it travels under and its title. This table is
 * the only list; `docs/reference/errors.md` holds the same codes, and a test keeps the two equal.
 */
export const errorCodes = {
  malformed_json: { status: 400, title: 'The body is not valid JSON' },
  malformed_multipart: { status: 400, title: 'The body is not valid multipart/form-data' },
  invalid_request: { status: 400, title: 'The request is malformed' },
  missing_credentials: { status: 401, title: 'Credentials are missing' },
  invalid_token: { status: 401, title: 'The token is not valid here' },
  insufficient_scope: { status: 403, title: 'The token lacks a scope' },
  forbidden: { status: 403, title: 'Not allowed' },
  not_a_guest: { status: 403, title: 'Only a guest can publish' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  request_timeout: { status: 408, title: 'The request did not come in time' },
  plugin_name_taken: { status: 409, title: 'The plugin name is taken' },
  conflict: { status: 409, title: 'Conflict with the present state' },
  invitation_used: { status: 410, title: 'The invitation has been used' },
  invitation_expired: { status: 410, title: 'The invitation has expired' },
  invitation_revoked: { status: 410, title: 'The invitation has been revoked' },
  precondition_failed: { status: 412, title: 'A precondition does not hold' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported' },
  range_not_satisfiable: { status: 416, title: 'The range cannot be satisfied' },
  invalid_field: { status: 422, title: 'A field is not valid' },
  unsupported_delivery_method: { status: 422, title: 'The delivery method is not supported' },
  invalid_config: { status: 422, title: 'The instrumentation configuration is not valid' },
  not_wasm: { status: 422, title: 'Not a WebAssembly module' },
  component_not_supported: { status: 422, title: 'Components are not supported' },
  invalid_module: { status: 422, title: 'The module is not valid' },
  unsupported_feature: { status: 422, title: 'The module uses a feature that is not supported' },
  already_instrumented: { status: 422, title: 'The module is already instrumented' },
  relocatable_object: { status: 422, title: 'The module is a relocatable object' },
  module_too_complex: { status: 422, title: 'The module takes too much time or memory' },
  limit_exceeded: { status: 422, title: 'A limit is reached' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The header fields are too large' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
  storage_full: { status: 507, title: 'The storage is full' },
} as const satisfies Record<string, { status: number; title: string }>;

/** A stable error code, as the `code` member of a problem document carries it. */
export type ErrorCode = keyof typeof errorCodes;
