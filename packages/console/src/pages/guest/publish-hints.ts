import { type ApiError, hasCode } from '../../api/api-error.ts';

/** What to do when a publish is refused, beside what the server says. */
export function publishHint(error: unknown): string | undefined {
  return hasCode(error, ...codes) ? publishHints[error.code as (typeof codes)[number]] : undefined;
}

/** By the code of the refusal. */
export const publishHints = {
  payload_too_large:
    'Leave debug information out (build for release, or wasm-strip), or make it smaller with wasm-opt.',
  invalid_module:
    'Build it again. If a tool rewrote the module after the compiler, leave that step out to see which of the two it is.',
  unsupported_feature: 'Turn the feature off in your compiler: most have a flag for each WebAssembly proposal.',
  module_too_complex: 'Split very large functions, or let the compiler optimise for size.',
  interface_mismatch: 'Further down this page stands what a plugin has to export here, and what it may import.',
  plugin_blocked: 'Only the team can take that back. Ask them.',
  component_not_supported: 'Build for a core target, such as wasm32-wasip1 or wasm32-unknown-unknown.',
  not_a_guest: 'The team may have ended it. Ask them to invite you again.',
  not_found: 'The extension point, or your place as a guest, may be gone. Reload the page to see.',
  limit_exceeded: 'Publish a further version of a plugin that you have, or ask the team.',
  storage_full: 'Tell whoever runs this server: only they can make room. Nothing of yours is lost.',
  unavailable: 'The server has much to do. Try again in a moment.',
} as const satisfies Partial<Record<ApiError['code'], string>>;

const codes = Object.keys(publishHints) as (keyof typeof publishHints)[];
