import { type ApiError, hasCode } from '../../api/api-error.ts';

/** What to do after the server refused a publish. */
export function publishHint(error: unknown): string | undefined {
  return hasCode(error, ...codes) ? publishHints[error.code as (typeof codes)[number]] : undefined;
}

/** By error code. */
export const publishHints = {
  payload_too_large: 'Remove debug information (a release build, or wasm-strip), or shrink it with wasm-opt.',
  invalid_module: 'Build it again. If a tool rewrites the module after the compiler, try without that step.',
  unsupported_feature: 'Turn the feature off in your compiler: most have a flag for each WebAssembly proposal.',
  module_too_complex: 'Split very large functions, or let the compiler optimise for size.',
  interface_mismatch: 'The required exports and allowed imports are listed below.',
  plugin_blocked: 'Only the team can unblock it. Ask them.',
  component_not_supported: 'Build for a core target, such as wasm32-wasip1 or wasm32-unknown-unknown.',
  not_a_guest: 'Your guest access may have ended. Ask the team to invite you again.',
  not_found: 'The extension point was deleted, or your guest access ended. Reload the page.',
  limit_exceeded: 'Publish a new version of an existing plugin, or ask the team.',
  storage_full: 'Ask the operator of this server to free storage. Nothing is lost.',
  unavailable: 'The server is busy. Try again in a moment.',
} as const satisfies Partial<Record<ApiError['code'], string>>;

const codes = Object.keys(publishHints) as (keyof typeof publishHints)[];
